// The floating-point mode in which the library computes, independent of the calling program's mode.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace halftone {

/// A scope in which the thread rounds to nearest, ties to even, keeps subnormal numbers and traps no exception. The
/// destructor restores the previous mode and exception flags, as set by `-ffast-math`, fesetround or feenableexcept. A
/// new thread inherits the mode of the thread that starts it, so each thread of the library has its own scope. It takes
/// a few nanoseconds and may be nested.
class FloatMode {
public:
  FloatMode();
  ~FloatMode();
  FloatMode(const FloatMode &) = delete;
  FloatMode &operator=(const FloatMode &) = delete;

private:
#if defined(__x86_64__) || defined(__i386__)
  uint32_t vector_;      // MXCSR
  uint16_t scalar_;      // the x87 control word, from which strtod and printf take the rounding mode
  uint32_t legacy_[7]{}; // the x87 environment, if its control word differs
#elif defined(__aarch64__)
  uint64_t control_, status_; // FPCR, FPSR
#endif
};

} // namespace halftone
