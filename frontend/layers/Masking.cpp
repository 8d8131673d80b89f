// Masking: masks the steps whose features all equal one value.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/Fields.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"

namespace halftone::layers {
using namespace detail;

namespace {

class MaskingBody final : public BodyOf<MaskingOptions> {
public:
  using BodyOf::BodyOf;
  Values call(const Values &inputs, const CallContext &) override {
    const Value x = inputs[0];
    dtype_ = x.dtype();
    return x * asDtype(seen(x, /*keepdims=*/true), x.dtype(), "mask");
  }
  /// Compares in the dtype of the call, to which the mask value is rounded.
  Value mask(const Values &inputs, const std::vector<Value> &) override {
    return seen(asDtype(inputs[0], dtype_), /*keepdims=*/false);
  }

private:
  Value seen(const Value &x, bool keepdims) const {
    return ops::any(ops::not_equal(x, options_.maskValue), -1, keepdims);
  }
  DType dtype_ = DType::float32;
};

} // namespace

Masking::Masking(double mask_value, const LayerArgs &args, Where where)
    : Layer(std::make_unique<MaskingBody>(MaskingOptions{args, mask_value}), "Masking", args, where) {}

} // namespace halftone::layers
