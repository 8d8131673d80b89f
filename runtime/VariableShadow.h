// A shadow: the value of a pure function of a variable, and the version of the variable from which it was made.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <cstdint>
#include <optional>

namespace halftone {

/// The value of a pure function of a variable, kept beside the variable. The variable's lock guards it.
struct VariableShadow {
  DeviceMemory memory;
  bool isOfShadow = false;         // made from another shadow of the variable
  std::optional<uint64_t> version; // version of the variable from which the value was made; none: never made
  int64_t refreshes = 0;           // how often a refresh made it
  int64_t coWrites = 0;            // plays that wrote it together with the variable, or wrote neither
};

} // namespace halftone
