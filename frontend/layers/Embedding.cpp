// Embedding: rows of a table by index.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Promotion.h"
#include "frontend/layers/Fields.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class EmbeddingBody final : public BodyOf<EmbeddingOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override {
    embeddings_ = context.add_weight({.shape = {options_.inputDim, options_.outputDim},
                                      .initializer = options_.embeddings_initializer,
                                      .regularizer = options_.embeddings_regularizer,
                                      .constraint = options_.embeddings_constraint,
                                      .name = "embeddings"});
    if (options_.weights.defined())
      embeddings_.assign(options_.weights);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value indices = inputs[0];
    if (indices.dtype() != DType::int64)
      indices = asDtype(indices, DType::int32, "index");
    return asDtype(ops::take(embeddings_, indices), context.compute_dtype(), "embedding");
  }

private:
  Variable embeddings_;
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

} // namespace halftone::layers
