// CategoryEncoding: encodes integers as vectors, in the graph.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/CategoryVectors.h"
#include "frontend/layers/FieldsPreprocessing.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class CategoryBody final : public BodyOf<CategoryEncodingOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override { dtype_ = context.variable_dtype(); }
  Values call(const Values &inputs, const CallContext &context) override {
    const Value x = inputs[0];
    const bool isWeighted = inputs.size() > 1;
    if (isWeighted && options_.output_mode != OutputMode::count)
      throw Error(ErrorKind::value_error, "`count_weights` is not used when `output_mode` is not `'count'`.");
    if (isWeighted && inputs[1].shape() != x.shape())
      throw Error(ErrorKind::value_error,
                  fmt::format("`count_weights` must have the shape of the input, {}. Received: {}", x.shape().str(),
                              inputs[1].shape().str()));
    if (options_.output_mode != OutputMode::one_hot && x.rank() > 2)
      throw Error(
          ErrorKind::value_error,
          fmt::format("CategoryEncoding: inputs of output_mode '{}' must have at most 2 axes; received shape {}",
                      options_.output_mode.word(), x.shape().str()));
    const DType dtype = isWeighted ? context.compute_dtype() : dtype_;
    return categoryVectors(x, {options_.output_mode, options_.numTokens, dtype}, isWeighted ? inputs[1] : Value());
  }

private:
  DType dtype_ = DType::float32;
};

} // namespace

CategoryEncoding::CategoryEncoding(int64_t num_tokens, const CategoryEncodingArgs &args, Where where)
    : Layer(std::make_unique<CategoryBody>(CategoryEncodingOptions{args, num_tokens}), "CategoryEncoding",
            {.trainable = args.trainable, .dtype = args.dtype, .autocast = false, .name = args.name}, where) {
  const OutputMode mode = args.output_mode;
  if (mode == OutputMode::int_ || mode == OutputMode::tf_idf)
    throw Error(ErrorKind::value_error, fmt::format("Unknown arg for output_mode: {}", args.output_mode.word()), name(),
                where);
  if (num_tokens < 1)
    throw Error(ErrorKind::value_error, fmt::format("`num_tokens` must be >= 1. Received: num_tokens={}.", num_tokens),
                name(), where);
}

} // namespace halftone::layers
