// Embedding: rows of a table by index.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Promotion.h"
#include "halftone/Layers.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {

namespace {

class EmbeddingBody final : public detail::LayerBody {
public:
  EmbeddingBody(int64_t inputDim, int64_t outputDim, EmbeddingArgs args)
      : inputDim_(inputDim), outputDim_(outputDim), args_(std::move(args)) {}
  void build(BuildContext &context, const std::vector<Shape> &) override {
    embeddings_ = context.add_weight({.shape = {inputDim_, outputDim_},
                                      .initializer = args_.embeddings_initializer,
                                      .regularizer = args_.embeddings_regularizer,
                                      .name = "embeddings"});
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value indices = inputs[0];
    if (indices.dtype() != DType::int64)
      indices = detail::asDtype(indices, DType::int32, "index");
    return detail::asDtype(ops::take(embeddings_, indices), context.compute_dtype(), "embedding");
  }
  void get_config(Config &config) const override {
    config.set("input_dim", inputDim_);
    config.set("output_dim", outputDim_);
  }

private:
  int64_t inputDim_, outputDim_;
  EmbeddingArgs args_;
  Variable embeddings_;
};

} // namespace

Embedding::Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingArgs &args, Where where)
    : Layer(std::make_unique<EmbeddingBody>(input_dim, output_dim, args), "Embedding",
            {.trainable = args.trainable, .dtype = args.dtype, .autocast = false, .name = args.name}, where) {
  for (auto [argument, value] : {std::pair("input_dim", input_dim), std::pair("output_dim", output_dim)})
    if (value <= 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("`{0}` must be a positive integer. Received: {0}={1}", argument, value), name(), where);
}

} // namespace halftone::layers
