// A shadow: the value of a pure function of a variable, and the version from which it was made.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <cstdint>
#include <optional>

namespace halftone {

/// The value of a pure function of a variable, kept beside it. Guarded by the variable's lock.
struct VariableShadow {
  DeviceMemory memory;
  bool isOfShadow = false;         // made from another shadow of the variable
  std::optional<uint64_t> version; // version of the variable from which the value was made; none: never made
  int64_t refreshes = 0;           // times that a refresh made it
  int64_t coWrites = 0;            // plays that wrote it together with the variable, or skipped both
};

} // namespace halftone
