// Sets and restores the control registers of floating-point arithmetic.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/FloatMode.h"

namespace halftone {

#if defined(__x86_64__) || defined(__i386__)

static constexpr uint32_t vectorMode = 0x1f80, vectorFlags = 0x3f; // exceptions masked, round to nearest, no flushing
static constexpr uint16_t scalarMode = 0x37f;                      // likewise, with extended precision

FloatMode::FloatMode() {
  asm volatile("stmxcsr %0" : "=m"(vector_) : : "memory");
  asm volatile("fnstcw %0" : "=m"(scalar_) : : "memory");
  if ((vector_ & ~vectorFlags) != vectorMode)
    asm volatile("ldmxcsr %0" : : "m"(vectorMode) : "memory");
  if (scalar_ != scalarMode) {
    asm volatile("fnstenv %0" : "=m"(legacy_) : : "memory");
    asm volatile("fldcw %0" : : "m"(scalarMode) : "memory");
  }
}

FloatMode::~FloatMode() {
  uint32_t vector;
  asm volatile("stmxcsr %0" : "=m"(vector) : : "memory");
  if (vector != vector_) // may differ in a flag only
    asm volatile("ldmxcsr %0" : : "m"(vector_) : "memory");
  if (scalar_ != scalarMode)
    asm volatile("fldenv %0" : : "m"(legacy_) : "memory"); // not fldcw: a flag raised since then would trap
}

#elif defined(__aarch64__)

FloatMode::FloatMode() {
  asm volatile("mrs %0, fpcr" : "=r"(control_) : : "memory");
  asm volatile("mrs %0, fpsr" : "=r"(status_) : : "memory");
  if (control_ != 0)
    asm volatile("msr fpcr, %0" : : "r"(uint64_t(0)) : "memory");
}

FloatMode::~FloatMode() {
  asm volatile("msr fpsr, %0" : : "r"(status_) : "memory");
  if (control_ != 0)
    asm volatile("msr fpcr, %0" : : "r"(control_) : "memory");
}

#else
#error "FloatMode needs the control registers of this architecture"
#endif

} // namespace halftone
