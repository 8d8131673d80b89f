// ReversibleEmbedding: rows of a table by index and, in reverse, the product with the table.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/ReversibleEmbedding.h"
#include "frontend/layers/TableBody.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class ReversibleEmbeddingBody final : public TableBody<ReversibleEmbeddingOptions>, public ReversibleBody {
public:
  explicit ReversibleEmbeddingBody(ReversibleEmbeddingOptions options)
      : TableBody("ReversibleEmbedding", std::move(options)) {}
  void build(BuildContext &context, const std::vector<Shape> &) override {
    QuantizationConfig config = quantizationOf(context.layer().resolvedPolicy(), options_.quantization_config);
    if (options_.quantization_config.mode != config.mode) // Keras's default for this layer
      config.quantizes_activations = true;
    buildTable(context,
               options_.tie_weights ? std::nullopt
                                    : std::optional(WeightArgs{.shape = {options_.outputDim, options_.inputDim},
                                                               .initializer = options_.embeddings_initializer,
                                                               .name = "reverse_embeddings"}),
               config);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    isReverse_ = false;
    return TableBody::call(inputs, context);
  }
  Values callBack(const Value &x, const CallContext &context) override {
    isReverse_ = true;
    if (x.rank() < 1 || x.shape()[-1] != options_.outputDim)
      throw Error(ErrorKind::value_error,
                  fmt::format("The reverse projection of a ReversibleEmbedding needs an input (..., {}). Received: {}",
                              options_.outputDim, x.shape().str()));
    const Value logits = table_.back(x, context.compute_dtype(), options_.reverse_dtype);
    if (!options_.logit_soft_cap)
      return logits;
    return ops::tanh(logits / *options_.logit_soft_cap) * *options_.logit_soft_cap;
  }
  Value mask(const Values &inputs, const std::vector<Value> &) override {
    return isReverse_ ? Value() : shown(inputs[0]);
  }

private:
  bool isReverse_ = false; // of the call being traced
};

} // namespace

ReversibleEmbedding::ReversibleEmbedding(int64_t input_dim, int64_t output_dim, const ReversibleEmbeddingArgs &args,
                                         Where where)
    : Layer(std::make_unique<ReversibleEmbeddingBody>(ReversibleEmbeddingOptions{args, input_dim, output_dim}),
            "ReversibleEmbedding", layerArgs(args), where) {
  requireTable(*this, ReversibleEmbeddingOptions{args, input_dim, output_dim}, where);
}

ReversibleEmbedding::ReversibleEmbedding(const Layer &layer) : Layer(layer) {
  if (!dynamic_cast<const ReversibleEmbeddingBody *>(impl()->body.get()))
    throw Error(ErrorKind::type_error,
                fmt::format("expected a ReversibleEmbedding, got the layer '{}' of class {}", name(), class_name()),
                path(), impl()->where);
}

Value ReversibleEmbedding::operator()(const Value &x, const ReverseArgs &args) const {
  return args.reverse ? callBack(*this, x) : Layer::operator()(x);
}

} // namespace halftone::layers

namespace halftone::detail {

Value callBack(const Layer &layer, const Value &x, std::optional<bool> training) {
  const auto how = [](LayerBody &body, const Values &inputs, const CallContext &context) {
    return dynamic_cast<ReversibleBody &>(body).callBack(inputs[0], context);
  };
  Config arguments = listArguments(1), keywords;
  keywords.set("reverse", true);
  arguments.set("kwargs", keywords);
  return layer.impl()->call({x}, {.training = training}, how, arguments)[0];
}

} // namespace halftone::detail
