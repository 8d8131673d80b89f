// The body of a layer without weights that computes a function of its only input.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/Fields.h"

namespace halftone::detail {

template <class Options> class PlainBody final : public BodyOf<Options> {
public:
  using Function = Value (*)(const Value &x, const Options &options, const CallContext &context);
  PlainBody(Options options, Function function) : BodyOf<Options>(std::move(options)), function_(function) {}
  Values call(const Values &inputs, const CallContext &context) override {
    return function_(inputs[0], this->options_, context);
  }

private:
  Function function_;
};

template <class Options>
std::unique_ptr<LayerBody> plain(Options options, typename PlainBody<Options>::Function function) {
  return std::make_unique<PlainBody<Options>>(std::move(options), function);
}

} // namespace halftone::detail
