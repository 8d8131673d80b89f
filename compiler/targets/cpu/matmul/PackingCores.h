// Cores that pack a matmul operand without a prologue.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/kernels/Core.h"

namespace halftone::compiler {

/// An element of an operand in memory, independent of an MLIRContext: of the packed type, or a narrow float that one
/// instruction widens.
struct OperandElement {
  std::string narrow; // "bf16" or "f16"; "" if the element has the packed type

  /// The type in memory.
  mlir::Type stored(mlir::Type packed) const;
  /// Converts a stored element, or a vector of them, to the packed type.
  Emitted packed(CodeBuilder &code, Emitted stored) const;
};

/// Packs columns of B, or rows of A, which are called columns here. A packed element is a group of `group` adjacent
/// elements along K, the first in the lowest bits; elements past K are 0.
struct PackingCore {
  /// The arguments of the function, in this order.
  struct Call {
    Emitted from;           // the first element of the first column
    Emitted pitch;          // elements between indices of K, or between columns if elements are contiguous along K
    Emitted columns, depth; // the numbers of columns and of indices of K
    Emitted to;             // the first packed element of the first column, aligned to a vector
    Emitted toColumn;       // packed elements between columns, except within `vectors` vectors, which are contiguous
    Emitted toDepth;        // packed elements between consecutive ones along K
    Emitted minima{};       // for a core that watches: the magnitudes so far, see SubnormalWatch
    Values arguments() const;
  };

  /// The function has no result or, if the core watches, returns the updated magnitudes.
  Core core() const;

  std::string accumulator;  // the type of a packed element, "f32"
  OperandElement operand{}; // for group = 1
  int64_t lanes, group;
  bool alongDepth;      // elements are contiguous along K; otherwise along columns
  int64_t vectors = 1;  // of columns per iteration; if more than one, `columns` is a multiple of their lanes
  bool masks = false;   // masked loads are cheap
  bool biases = false;  // adds 128 to each byte
  bool watches = false; // checks for subnormal bf16 numbers

private:
  void emit(mlir::ModuleOp module) const;
};

/// Joins members into groups of type `packed`, lane by lane, the first in the lowest bits.
Emitted joined(CodeBuilder &code, llvm::ArrayRef<Emitted> members, mlir::Type packed);
/// Adds 128 to each byte of groups of i8.
Emitted biasedBytes(Emitted groups);

} // namespace halftone::compiler
