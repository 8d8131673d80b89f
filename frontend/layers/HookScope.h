// The scope in which a model's user code runs outside of the model's call.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <memory>
#include <vector>

namespace halftone::detail {

struct LayerImpl;

/// While it lives, this thread runs the code of `model`: layers that it calls become the model's children, layers that
/// it builds get paths below the model's, and no layer may be created. An unbuilt model is built for the inputs `x`.
/// The model itself may be called, as at top level.
class HookScope {
public:
  HookScope(LayerImpl &model, const std::vector<Value> &x);
  ~HookScope();
  HookScope(const HookScope &) = delete;

private:
  struct Frames;
  std::unique_ptr<Frames> frames_;
};

} // namespace halftone::detail
