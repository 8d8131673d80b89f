// Selects the layers whose values the backward pass recomputes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <cstdint>
#include <optional>
#include <string>

namespace halftone::detail {

/// The mode of a RematScope.
struct RematMode {
  bool isOfActivations = false;                    // recomputes activations rather than whole layers
  int64_t aboveElements = -1;                      // total elements of a call's outputs
  std::optional<std::vector<std::string>> names{}; // if given, only layers of these names or paths
  uint64_t id = 0;                                 // of the scope

  bool isFor(const std::string &name, const std::string &path) const;
};

/// The mode of the innermost scope of this thread; nullopt if there is none, or if its mode is "none".
const std::optional<RematMode> &openRematMode();
/// An id that is unique among the scopes of this thread; 0 outside of scopes.
uint64_t openRematId();

/// Returns true if the layer that this thread is calling recomputes its activation. (LayerBuild.cpp)
bool isActivationRematerialized();

} // namespace halftone::detail
