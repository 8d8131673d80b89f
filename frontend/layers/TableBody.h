// The shared body of Embedding and ReversibleEmbedding: a table of rows by index.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Promotion.h"
#include "frontend/layers/EmbeddingTable.h"
#include "frontend/layers/Fields.h"
#include "frontend/layers/QuantizedModes.h"
#include <fmt/format.h>

namespace halftone::detail {

template <class Options> class TableBody : public BodyOf<Options>, public LoraBody {
public:
  TableBody(const char *className, Options options)
      : BodyOf<Options>(withAlpha(std::move(options))), className_(className) {}
  bool quantizes(std::string_view mode) const override { return classQuantizes(className_, mode); }
  void quantize(BuildContext &context, const QuantizationConfig &config) override {
    table_.quantize(context, config);
    this->options_.quantization_config = config;
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value indices = inputs[0];
    if (indices.dtype() != DType::int64)
      indices = asDtype(indices, DType::int32, "index");
    return table_.rows(indices, context.compute_dtype());
  }
  const LowRankDelta &delta() const override { return table_.delta(); }
  void merge(WeightValues &values) const override { table_.merge(values); }

protected:
  WeightArgs rowArgs() const {
    const Options &options = this->options_;
    return {.shape = {options.inputDim, options.outputDim},
            .initializer = options.embeddings_initializer,
            .regularizer = options.embeddings_regularizer,
            .constraint = options.embeddings_constraint,
            .name = "embeddings"};
  }
  void buildTable(BuildContext &context, const std::optional<WeightArgs> &back, const QuantizationConfig &config) {
    const Options &options = this->options_;
    table_.build(context, rowArgs(), back, config);
    if (options.weights.defined() && !config.defined())
      table_.values().assign(options.weights);
    if (options.lora_rank)
      addDelta(context, *options.lora_rank, {.lora_alpha = options.lora_alpha});
  }
  /// The mask of non-zero indices, if the layer masks index 0; undefined if not.
  Value shown(const Value &indices) const {
    return this->options_.mask_zero ? ops::not_equal(indices, ops::zeros_like(indices)) : Value();
  }
  AdaptedWeight adaptedWeight() const override {
    return {.name = "embeddings",
            .variable = table_.values(),
            .shape = table_.shape(),
            .regularizer = this->options_.embeddings_regularizer,
            .constraint = this->options_.embeddings_constraint};
  }
  LowRankDelta &ownDelta() override { return table_.delta(); }
  void noteLora(int64_t rank, double alpha) override {
    this->options_.lora_rank = rank;
    this->options_.lora_alpha = alpha;
  }

  EmbeddingTable table_;

private:
  const char *className_;
};

/// value_error naming the argument, unless both extents are positive and match `weights`, if given.
template <class Options> void requireTable(const Layer &layer, const Options &options, Where where) {
  for (auto [argument, value] : {std::pair("input_dim", options.inputDim), std::pair("output_dim", options.outputDim)})
    if (value <= 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("`{0}` must be a positive integer. Received: {0}={1}", argument, value), layer.name(),
                  where);
  if (const Shape table{options.inputDim, options.outputDim};
      options.weights.defined() && options.weights.shape() != table)
    throw Error(ErrorKind::value_error,
                fmt::format("`weights` must have the shape of the table, {}. Received: weights.shape={}", table.str(),
                            options.weights.shape().str()),
                layer.name(), where);
}

} // namespace halftone::detail
