// Shadows of variables: cached values of pure functions, tagged with the variable's version.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <cstdint>
#include <optional>

namespace halftone {

/// The value of a pure function of a variable, cached beside the variable. The variable's lock guards it.
struct VariableShadow {
  DeviceMemory memory;
  bool isOfShadow = false;         // computed from another shadow of the variable
  std::optional<uint64_t> version; // version of the variable from which the value was computed; none if it never was
  int64_t refreshes = 0;           // number of times that it was recomputed
  int64_t coWrites = 0;            // plays that wrote both it and the variable, or neither
};

} // namespace halftone
