// Suppresses initialization of weights whose values are about to be read from a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::detail {

/// While it lives, weights that this thread's layers create are initialized with zeros. Each still consumes its seed.
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
