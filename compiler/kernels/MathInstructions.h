// Vector instructions of a target that the expansions of math ops may use.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Emitted.h"

namespace halftone::compiler {

/// Instructions for vectors of one width. Each target that has such instructions implements the class; kernels reach them
/// through MathTraits::instructions.
class MathInstructions {
public:
  virtual ~MathInstructions() = default;

  /// Whether values of a's type are vectors of the width that the instructions take.
  virtual bool take(Emitted a) const = 0;
  /// a * 2^floor(n) rounded once; +inf and +0 for n = +inf and -inf, whatever a is.
  virtual Emitted scale(Emitted a, Emitted n) const = 0;
  /// Of f32: the elements of `table` that the low bits of the integers `indices` select.
  virtual Emitted lookUp(llvm::ArrayRef<float> table, Emitted indices) const = 0;

  /// Whether isSubnormal() and toBf16() are instructions too.
  virtual bool roundsToBf16() const = 0;
  /// Of f32, in i1.
  virtual Emitted isSubnormal(Emitted a) const = 0;
  /// f32 rounded to nearest even in bf16; subnormal numbers give 0.
  virtual Emitted toBf16(Emitted a) const = 0;
};

} // namespace halftone::compiler
