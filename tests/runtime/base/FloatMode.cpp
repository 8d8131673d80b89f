// FloatMode under other modes of the caller: rounding, flushing, traps, flags.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/FloatMode.h"
#include <catch2/catch.hpp>
#include <cfenv>
#include <limits>
#include <stdexcept>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using halftone::FloatMode;

namespace {

volatile double one = 1.0, three = 3.0, zero = 0.0;
volatile float smallest = std::numeric_limits<float>::min(), half = 0.5f;
volatile long double longOne = 1.0L, longThree = 3.0L;

/// The floating-point environment of the test, restored on destruction.
struct Environment {
  std::fenv_t saved;
#if defined(__x86_64__)
  unsigned vector = _mm_getcsr();
#endif
  Environment() { std::fegetenv(&saved); }
  ~Environment() {
    std::feclearexcept(FE_ALL_EXCEPT);
    std::fesetenv(&saved);
#if defined(__x86_64__)
    _mm_setcsr(vector);
#endif
  }
};

} // namespace

TEST_CASE("Under FloatMode sums round to nearest, and the caller's rounding is back behind it") {
  const Environment environment;
  const double nearest = one / three;
  const long double longNearest = longOne / longThree;
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    std::fesetround(rounding);
    const double callers = one / three;
    double inside = 0;
    long double longInside = 0;
    {
      const FloatMode mode;
      const FloatMode nested;
      inside = one / three;
      longInside = longOne / longThree;
    }
    const int after = std::fegetround();
    const double callersAfter = one / three;
    std::fesetround(FE_TONEAREST);
    CHECK(inside == nearest);
    CHECK(longInside == longNearest);
    CHECK(after == rounding);
    CHECK(callersAfter == callers);
  }
}

#if defined(__x86_64__)
TEST_CASE("Under FloatMode subnormal numbers are kept, and the caller's flushing is back behind it") {
  const Environment environment;
  _mm_setcsr(_mm_getcsr() | 0x8040u);
  float inside = 0;
  {
    const FloatMode mode;
    inside = smallest * half;
  }
  const float outside = smallest * half;
  const unsigned after = _mm_getcsr();
  _mm_setcsr(environment.vector);
  CHECK(inside == std::numeric_limits<float>::min() / 2);
  CHECK(outside == 0.0f);
  CHECK((after & 0x8040u) == 0x8040u);
}
#endif

TEST_CASE("Under FloatMode nothing traps; the caller's traps and flags are back behind it, also after an exception") {
  const Environment environment;
  std::feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW);
  double quotient = 0;
  long double longQuotient = 0;
  bool isCaught = false;
  try {
    const FloatMode mode;
    quotient = one / zero;
    longQuotient = longOne / static_cast<long double>(zero);
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error &) {
    isCaught = true;
  }
  const int traps = fegetexcept(), flags = std::fetestexcept(FE_ALL_EXCEPT);
  fedisableexcept(FE_ALL_EXCEPT);
  CHECK(isCaught);
  CHECK(quotient == std::numeric_limits<double>::infinity());
  CHECK(longQuotient == std::numeric_limits<long double>::infinity());
  CHECK(traps == (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW));
  CHECK(flags == 0);
}
