// Elementwise layers of several inputs: Add, Subtract, Multiply, Average, Maximum, Minimum.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Fields.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/ops/Masks.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

using Combine = Value (*)(const Value &, const Value &);

Value sumOf(const std::vector<Value> &inputs) {
  Value sum = inputs.front();
  for (size_t i = 1; i < inputs.size(); ++i)
    sum = sum + inputs[i];
  return sum;
}
Value difference(const std::vector<Value> &inputs) { return inputs[0] - inputs[1]; }
Value averageOf(const std::vector<Value> &inputs) { return sumOf(inputs) / static_cast<double>(inputs.size()); }

/// The mask of `x`, per element; undefined if it has none.
Value elementMask(const Value &x) {
  Value mask = asMask(maskOf(x));
  if (!mask.defined())
    return mask;
  if (mask.rank() < x.rank())
    mask = ops::expand_dims(mask, -1);
  return ops::broadcast_to(mask, x.shape());
}
/// The disjunction of both; undefined unless both are defined.
Value eitherMask(const Value &a, const Value &b) {
  return a.defined() && b.defined() ? ops::logical_or(a, b) : Value();
}

/// The product of the inputs. A masked element of an input counts as 1; an element masked in all inputs gives 0.
Value productOf(const std::vector<Value> &inputs) {
  Value product, shown;
  for (const Value &x : inputs) {
    const Value mask = elementMask(x), factor = mask.defined() ? ops::where(mask, x, ops::ones_like(x)) : x;
    shown = product.defined() ? eitherMask(shown, mask) : mask;
    product = product.defined() ? product * factor : factor;
  }
  return shown.defined() ? ops::where(shown, product, ops::zeros_like(product)) : product;
}

/// The extremum of the unmasked elements, or the first element if all are masked.
Value extremeOf(const std::vector<Value> &inputs, Combine combine) {
  Value extreme = inputs.front(), shown = elementMask(extreme);
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Value mask = elementMask(inputs[i]);
    const Value x = mask.defined() ? ops::where(mask, inputs[i], extreme) : inputs[i];
    extreme = combine(shown.defined() ? ops::where(shown, extreme, x) : extreme, x);
    shown = eitherMask(shown, mask);
  }
  return extreme;
}
Value largestOf(const std::vector<Value> &inputs) {
  return extremeOf(inputs, [](const Value &a, const Value &b) { return ops::maximum(a, b); });
}
Value smallestOf(const std::vector<Value> &inputs) {
  return extremeOf(inputs, [](const Value &a, const Value &b) { return ops::minimum(a, b); });
}

struct Merged {
  const char *className;
  Value (*merge)(const std::vector<Value> &inputs);
  size_t exactly = 0;    // required number of inputs; 0: at least one
  bool inFloats = false; // whether integers are cast to the compute dtype
};

class MergeBody final : public LayerBody {
public:
  explicit MergeBody(Merged merged) : merged_(merged) {}
  void build(BuildContext &, const std::vector<Shape> &shapes) override { checkCount(shapes.size()); }
  Values call(const Values &inputs, const CallContext &context) override {
    checkCount(inputs.size());
    int64_t rank = 0;
    for (const Value &input : inputs)
      rank = std::max(rank, input.rank());
    std::vector<Value> aligned(inputs.begin(), inputs.end());
    if (merged_.inFloats)
      for (Value &input : aligned)
        input = asComputed(input, context);
    for (Value &input : aligned)
      if (input.rank() > 0 && input.rank() < rank) { // missing axes come after the batch
        std::vector<int64_t> dims = input.shape().dims();
        dims.insert(dims.begin() + 1, static_cast<size_t>(rank - input.rank()), 1);
        input = ops::reshape(input, Shape(dims));
      }
    return merged_.merge(aligned);
  }
  /// As in Keras, a step is valid if it is valid in any input, provided that each input has a mask.
  Value mask(const Values &, const std::vector<Value> &masks) override {
    Value either = asMask(masks.front());
    for (size_t i = 1; i < masks.size(); ++i)
      either = eitherMask(either, asMask(masks[i]));
    return either;
  }

private:
  void checkCount(size_t count) const {
    if (merged_.exactly ? count != merged_.exactly : count == 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("A `{}` layer should be called on {} {} input{}. Received: {} inputs", merged_.className,
                              merged_.exactly ? "exactly" : "a list of at least", std::max<size_t>(merged_.exactly, 1),
                              merged_.exactly > 1 ? "s" : "", count));
  }
  Merged merged_;
};

std::unique_ptr<LayerBody> bodyOf(Merged merged) { return std::make_unique<MergeBody>(merged); }

} // namespace

Add::Add(const MergeArgs &args, Where where) : Layer(bodyOf({"Add", sumOf}), "Add", layerArgs(args), where) {}
Subtract::Subtract(const MergeArgs &args, Where where)
    : Layer(bodyOf({"Subtract", difference, 2}), "Subtract", layerArgs(args), where) {}
Multiply::Multiply(const MergeArgs &args, Where where)
    : Layer(bodyOf({"Multiply", productOf}), "Multiply", layerArgs(args), where) {}
Average::Average(const MergeArgs &args, Where where)
    : Layer(bodyOf({.className = "Average", .merge = averageOf, .inFloats = true}), "Average", layerArgs(args), where) {
}
Maximum::Maximum(const MergeArgs &args, Where where)
    : Layer(bodyOf({"Maximum", largestOf}), "Maximum", layerArgs(args), where) {}
Minimum::Minimum(const MergeArgs &args, Where where)
    : Layer(bodyOf({"Minimum", smallestOf}), "Minimum", layerArgs(args), where) {}

} // namespace halftone::layers
