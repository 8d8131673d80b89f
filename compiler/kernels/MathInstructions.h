// Vector instructions of a target that expansions of math ops may use.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Emitted.h"

namespace halftone::compiler {

/// Instructions for vectors of one width. Each target with such instructions implements this class; kernels access them
/// through MathTraits::instructions.
class MathInstructions {
public:
  virtual ~MathInstructions() = default;

  /// Returns true if a's type is a vector of the width that the instructions take.
  virtual bool take(Emitted a) const = 0;
  /// a * 2^floor(n), rounded once; +inf for n = +inf and +0 for n = -inf, whatever a is.
  virtual Emitted scale(Emitted a, Emitted n) const = 0;
  /// For f32: the elements of `table` that the low bits of the integers `indices` select.
  virtual Emitted lookUp(llvm::ArrayRef<float> table, Emitted indices) const = 0;

  /// Returns true if isSubnormal() and toBf16() are instructions too.
  virtual bool roundsToBf16() const = 0;
  /// For f32; the result is i1.
  virtual Emitted isSubnormal(Emitted a) const = 0;
  /// Rounds f32 to nearest even in bf16; flushes subnormal numbers to 0.
  virtual Emitted toBf16(Emitted a) const = 0;
};

} // namespace halftone::compiler
