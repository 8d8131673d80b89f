// Concatenate: concatenates inputs along an axis.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/Fields.h"
#include "frontend/ops/Masks.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class ConcatenateBody final : public BodyOf<ConcatenateOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &, const std::vector<Shape> &shapes) override {
    if (shapes.empty())
      throw Error(ErrorKind::value_error, "A `Concatenate` layer should be called on a list of at least 1 input. "
                                          "Received: input_shape=[]");
  }
  Values call(const Values &inputs, const CallContext &) override {
    Shape first = inputs[0].shape();
    int64_t rank = first.rank(), along = normalizeAxis("Concatenate", options_.axis, rank);
    for (const Value &input : inputs)
      for (int64_t i = 0; i < rank; ++i)
        if (input.rank() != rank || (i != along && input.shape()[i] != first[i]))
          throw mismatch(inputs);
    return ops::concatenate(inputs, options_.axis);
  }
  /// As in Keras, a step is valid if any element along the last axis is; inputs without a mask are entirely valid.
  Value mask(const Values &inputs, const std::vector<Value> &masks) override {
    if (std::ranges::none_of(masks, &Value::defined))
      return {};
    std::vector<Value> whole;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Shape shape = inputs[i].shape();
      Value mask = asMask(masks[i].defined() ? masks[i] : tracing().splat(1.0, shape, DType::bool_));
      if (mask.rank() < shape.rank())
        mask = ops::expand_dims(mask, -1);
      whole.push_back(ops::broadcast_to(mask, shape));
    }
    return ops::any(ops::concatenate(Values(whole), options_.axis), -1);
  }

private:
  static Error mismatch(const Values &inputs) {
    std::string list;
    for (const Value &input : inputs)
      list += (list.empty() ? "" : ", ") + input.shape().str();
    return Error(ErrorKind::value_error,
                 fmt::format("A `Concatenate` layer requires inputs with matching shapes except for the concatenation "
                             "axis. Received: input_shape=[{}]",
                             list));
  }
};

} // namespace

Concatenate::Concatenate(int64_t axis, const MergeArgs &args, Where where)
    : Layer(std::make_unique<ConcatenateBody>(ConcatenateOptions{args, axis}), "Concatenate", layerArgs(args), where) {}

} // namespace halftone::layers
