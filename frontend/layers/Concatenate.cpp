// Concatenate: joins inputs along an axis.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Promotion.h"
#include "frontend/layers/Fields.h"
#include "halftone/Ops.h"
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

Concatenate::Concatenate(int64_t axis, const ConcatenateArgs &args, Where where)
    : Layer(std::make_unique<ConcatenateBody>(ConcatenateOptions{args, axis}), "Concatenate", layerArgs(args), where) {}

} // namespace halftone::layers
