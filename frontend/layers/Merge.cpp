// Elementwise layers of several inputs: Add, Multiply.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Masks.h"
#include "frontend/layers/Fields.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

using Combine = Value (*)(const Value &, const Value &);

class MergeBody final : public LayerBody {
public:
  MergeBody(const char *name, Combine combine) : name_(name), combine_(combine) {}
  void build(BuildContext &, const std::vector<Shape> &shapes) override {
    if (shapes.empty())
      throw Error(ErrorKind::value_error,
                  fmt::format("A merge layer should be called on a list of at least 1 input. {} got none", name_));
  }
  Values call(const Values &inputs, const CallContext &) override {
    int64_t rank = 0;
    for (const Value &input : inputs)
      rank = std::max(rank, input.rank());
    Value result;
    for (Value input : inputs) {
      if (input.rank() > 0 && input.rank() < rank) { // missing axes come after the batch
        std::vector<int64_t> dims = input.shape().dims();
        dims.insert(dims.begin() + 1, static_cast<size_t>(rank - input.rank()), 1);
        input = ops::reshape(input, Shape(dims));
      }
      result = result.defined() ? combine_(result, input) : input;
    }
    return result;
  }
  /// As Keras: a step counts if it does in each input that carries a mask.
  Value mask(const Values &, const std::vector<Value> &masks) override {
    Value all;
    for (const Value &mask : masks)
      all = bothMasks(all, mask);
    return all;
  }

private:
  const char *name_;
  Combine combine_;
};

} // namespace

Add::Add(const AddArgs &args, Where where)
    : Layer(std::make_unique<MergeBody>("Add", &ops::add), "Add", layerArgs(args), where) {}

Multiply::Multiply(const MultiplyArgs &args, Where where)
    : Layer(std::make_unique<MergeBody>("Multiply", &ops::multiply), "Multiply", layerArgs(args), where) {}

} // namespace halftone::layers
