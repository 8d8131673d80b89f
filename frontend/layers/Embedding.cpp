// Embedding and PositionEmbedding: rows of a table by index, or by position.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/KeyValueCache.h"
#include "frontend/layers/SpatialAxes.h"
#include "frontend/layers/TableBody.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class EmbeddingBody final : public TableBody<EmbeddingOptions> {
public:
  explicit EmbeddingBody(EmbeddingOptions options) : TableBody("Embedding", std::move(options)) {}
  void build(BuildContext &context, const std::vector<Shape> &) override {
    buildTable(context, std::nullopt, quantizationOf(context.layer().resolvedPolicy(), options_.quantization_config));
  }
  Value mask(const Values &inputs, const std::vector<Value> &) override { return shown(inputs[0]); }
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
    if (isNonePlaceholder(shape[-2]))
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
                  fmt::format("PositionEmbedding has a table of {} positions. Received an input of {} steps: {}",
                              options_.sequenceLength, input[-2], input.str()));
  }
  Variable table_;
};

} // namespace

Embedding::Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingArgs &args, Where where)
    : Layer(std::make_unique<EmbeddingBody>(EmbeddingOptions{args, input_dim, output_dim}), "Embedding",
            layerArgs(args), where) {
  requireTable(*this, EmbeddingOptions{args, input_dim, output_dim}, where);
}

PositionEmbedding::PositionEmbedding(int64_t sequence_length, const PositionEmbeddingArgs &args, Where where)
    : Layer(std::make_unique<PositionEmbeddingBody>(PositionEmbeddingOptions{args, sequence_length}),
            "PositionEmbedding", layerArgs(args), where) {
  requirePositive(*this, "sequence_length", sequence_length, where);
}

} // namespace halftone::layers
