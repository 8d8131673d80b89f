// Embedding and PositionEmbedding: rows of a table by index, or by place.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/KeyValueCache.h"
#include "frontend/Promotion.h"
#include "frontend/layers/Fields.h"
#include "frontend/layers/ProductKernel.h"
#include "frontend/layers/QuantizedModes.h"
#include "frontend/layers/SpatialAxes.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class EmbeddingBody final : public BodyOf<EmbeddingOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override {
    config_ = quantizationOf(context.layer().resolvedPolicy(), options_.quantization_config);
    if (config_.defined())
      return buildQuantized(context);
    embeddings_ = context.add_weight({.shape = {options_.inputDim, options_.outputDim},
                                      .initializer = options_.embeddings_initializer,
                                      .regularizer = options_.embeddings_regularizer,
                                      .constraint = options_.embeddings_constraint,
                                      .name = "embeddings"});
    if (options_.weights.defined())
      embeddings_.assign(options_.weights);
  }
  bool quantizes(std::string_view mode) const override { return classQuantizes("Embedding", mode); }
  void quantize(BuildContext &context, const QuantizationConfig &config) override {
    const bool isGrouped = config.mode == "int4" && config.block_size > 0;
    const Tensor floats = embeddings_.value();
    MatrixView view = MatrixView::of(floats.shape(), {1}, {0});
    view.hasGroupsLast = true;
    const int64_t least = config.mode == "int8" ? -127 : -8, most = config.mode == "int8" ? 127 : 7;
    const QuantizedWeights weights =
        isGrouped ? groupQuantized(floats, view, config.block_size) : absMaxQuantized(floats, view, least, most);
    const Variable rows =
        replacedWeight(context, embeddings_, config.mode == "int4" ? packedInt4(weights.values) : weights.values);
    addScales(context, config, weights);
    embeddings_ = rows;
    config_ = options_.quantization_config = config;
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value indices = inputs[0];
    if (indices.dtype() != DType::int64)
      indices = asDtype(indices, DType::int32, "index");
    if (config_.defined())
      return quantizedRows(indices, context.compute_dtype());
    return asDtype(ops::take(embeddings_, indices), context.compute_dtype(), "embedding");
  }
  Value mask(const Values &inputs, const std::vector<Value> &) override {
    return options_.mask_zero ? ops::not_equal(inputs[0], ops::zeros_like(inputs[0])) : Value();
  }

private:
  void buildQuantized(BuildContext &context) {
    const int64_t width = config_.mode == "int4" ? (options_.outputDim + 1) / 2 : options_.outputDim;
    embeddings_ = fixedWeight(context, "embeddings", Tensor::zeros({options_.inputDim, width}, DType::int8));
    const bool isGrouped = config_.mode == "int4" && config_.block_size > 0;
    const Shape scale = isGrouped ? Shape{options_.inputDim, groupCount(config_)} : Shape{options_.inputDim};
    addScales(context, config_,
              {.values = {},
               .scale = Tensor::ones(scale, context.variable_dtype()),
               .zero = isGrouped ? Tensor::zeros(scale, DType::int8) : Tensor()});
  }
  void addScales(BuildContext &context, const QuantizationConfig &config, const QuantizedWeights &weights) {
    scale_ = fixedWeight(context, "embeddings_scale", weights.scale);
    if (!weights.zero.defined())
      return;
    zero_ = fixedWeight(context, "embeddings_zero", weights.zero);
    groups_ = fixedWeight(context, "g_idx", groupNumbers(options_.outputDim, config.block_size));
  }
  int64_t groupCount(const QuantizationConfig &config) const {
    return (options_.outputDim + config.block_size - 1) / config.block_size;
  }
  Value quantizedRows(const Value &indices, DType compute) const {
    const Value scale = ops::take(scale_, indices);
    if (config_.mode == "int8")
      return asDtype(ops::take(embeddings_, indices), compute) / ops::expand_dims(scale, -1);
    const Value rows = ops::take(unpackedInt4(embeddings_, options_.outputDim), indices);
    if (!zero_.defined())
      return asDtype(rows, compute) / ops::expand_dims(scale, -1);
    return dequantizedGroups(rows, scale, ops::take(zero_, indices), groups_, -1);
  }

  QuantizationConfig config_;
  Variable embeddings_, scale_, zero_, groups_;
};

class PositionEmbeddingBody final : public BodyOf<PositionEmbeddingOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    requireSteps(shapes.at(0));
    table_ = context.add_weight({.shape = {options_.sequenceLength, shapes[0][-1]},
                                 .initializer = options_.initializer,
                                 .name = "position_embeddings"});
  }
  Values call(const Values &inputs, const CallContext &context) override {
    const Shape shape = inputs[0].shape();
    if (standsForNone(shape[-2]))
      return tracing().splat(0.0, shape, context.compute_dtype());
    requireSteps(shape);
    const Value rows = rowsFor(shape);
    return ops::broadcast_to(asDtype(rows, context.compute_dtype(), "embedding"), shape);
  }

private:
  Value rowsFor(const Shape &input) const {
    OpenCache *cache = OpenCache::current();
    if (!cache)
      return ops::slice(table_, Shape{0, 0}, Shape{input[-2], input[-1]});
    cache->place(input, options_.sequenceLength);
    return ops::take(table_, tracing().iota(0, Shape{input[-2]}, DType::int32) + cache->position());
  }
  void requireSteps(const Shape &input) const {
    if (input.rank() < 2)
      throw Error(ErrorKind::value_error,
                  fmt::format("PositionEmbedding needs an input (..., steps, features). Received: {}", input.str()));
    if (input[-2] > options_.sequenceLength)
      throw Error(ErrorKind::value_error,
                  fmt::format("PositionEmbedding has a table of {} places. Received an input of {} steps: {}",
                              options_.sequenceLength, input[-2], input.str()));
  }
  Variable table_;
};

} // namespace

Embedding::Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingArgs &args, Where where)
    : Layer(std::make_unique<EmbeddingBody>(EmbeddingOptions{args, input_dim, output_dim}), "Embedding",
            layerArgs(args), where) {
  for (auto [argument, value] : {std::pair("input_dim", input_dim), std::pair("output_dim", output_dim)})
    if (value <= 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("`{0}` must be a positive integer. Received: {0}={1}", argument, value), name(), where);
  if (const Shape table{input_dim, output_dim}; args.weights.defined() && args.weights.shape() != table)
    throw Error(ErrorKind::value_error,
                fmt::format("`weights` must have the shape of the table, {}. Received: weights.shape={}", table.str(),
                            args.weights.shape().str()),
                name(), where);
}

PositionEmbedding::PositionEmbedding(int64_t sequence_length, const PositionEmbeddingArgs &args, Where where)
    : Layer(std::make_unique<PositionEmbeddingBody>(PositionEmbeddingOptions{args, sequence_length}),
            "PositionEmbedding", layerArgs(args), where) {
  requirePositive(*this, "sequence_length", sequence_length, where);
}

} // namespace halftone::layers
