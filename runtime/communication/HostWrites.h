// Tracks host writes to variables that processes train together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace halftone {

/// A digest of the values that the host has written to watched variables (StoredVariable::watch()) since the processes
/// last compared themselves: learning rates from a user's function, weights that a callback sets. It is part of the
/// labels of a step's exchanges, so that a step detects if processes differ in these values. There is one per process;
/// safe to use from several threads.
class HostWrites {
public:
  static void add(const std::string &path, std::span<const std::byte> bytes);
  static void forget();
  /// "; the host has set 3 values, the last of 'adam/learning_rate' (5f2c11aa)"; "" if there were none.
  static std::string words();
};

} // namespace halftone
