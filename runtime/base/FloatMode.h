// The floating-point mode in which the library computes, whatever the mode of the program that calls it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace halftone {

/// While one lives, its thread rounds to nearest, ties to even, keeps subnormal numbers and traps no exception. Its end
/// brings back the mode and the exception flags that it found: those of `-ffast-math`, fesetround or feenableexcept.
/// A new thread inherits the mode of the thread that starts it, so each thread of the library has one of its own.
/// Takes a few nanoseconds; may be nested.
class FloatMode {
public:
  FloatMode();
  ~FloatMode();
  FloatMode(const FloatMode &) = delete;
  FloatMode &operator=(const FloatMode &) = delete;

private:
#if defined(__x86_64__) || defined(__i386__)
  uint32_t vector_;      // MXCSR
  uint16_t scalar_;      // the x87 control word, which strtod and printf ask for the rounding
  uint32_t legacy_[7]{}; // the x87 environment, if its control word differs
#elif defined(__aarch64__)
  uint64_t control_, status_; // FPCR, FPSR
#endif
};

} // namespace halftone
