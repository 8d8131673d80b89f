// What is kept beside a variable: the value of a pure function of it, and of which version.
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
  std::optional<uint64_t> version; // of the variable that this is the function of; none: never made
  int64_t refreshes = 0;           // times that it was made by itself
  int64_t coWrites = 0;            // plays that wrote it together with the variable, or skipped both
};

} // namespace halftone
