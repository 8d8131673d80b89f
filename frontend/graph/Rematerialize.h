// Which layers have their values computed again by the backward pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <cstdint>
#include <optional>
#include <string>

namespace halftone::detail {

/// The mode of a RematScope.
struct RematMode {
  bool isOfActivations = false;                    // not of whole layers
  int64_t aboveElements = -1;                      // of a call's outputs together
  std::optional<std::vector<std::string>> names{}; // if given, only layers of these names or paths
  uint64_t id = 0;                                 // of the scope

  bool isFor(const std::string &name, const std::string &path) const;
};

/// That of the innermost scope of this thread; nothing if there is none, or it says "none".
const std::optional<RematMode> &openRematMode();
/// A number that differs between scopes of this thread; 0 outside of scopes.
uint64_t openRematId();

/// Whether the layer that this thread is calling computes its activation again. (LayerBuild.cpp)
bool isActivationRematerialized();

} // namespace halftone::detail
