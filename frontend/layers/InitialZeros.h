// Weights whose values come from a file at once: nothing is drawn for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::detail {

/// While it lives, weights that this thread's layers make begin as zeros. Each takes its seed all the same.
class InitialZeros {
public:
  InitialZeros();
  ~InitialZeros();
  InitialZeros(const InitialZeros &) = delete;
  static bool isOpen();

private:
  bool outer_;
};

} // namespace halftone::detail
