// Packing an operand of a matmul that is read as it is, as cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/targets/Core.h"

namespace halftone::compiler {

/// An element of an operand in memory, for cores, which know no context: packed as it is, or a narrow float that is widened by one
/// instruction first.
struct OperandElement {
  std::string narrow; // "bf16" or "f16"; "" if the element has the packed type

  /// The type of its bits in memory.
  mlir::Type stored(mlir::Type packed) const;
  Emitted packed(CodeBuilder &code, Emitted stored) const;
};

/// Packs columns of B, or rows of A, which are called columns here. A packed element is a group of `group` neighbours along K,
/// the first in the lowest bits; groups past K are 0.
struct PackingCore {
  /// What the function takes, in this order.
  struct Call {
    Emitted from;           // the first column's first element
    Emitted pitch;          // elements between neighbours along K, or between columns if elements lie along K
    Emitted columns, depth; // how many elements: columns, and indices of K
    Emitted to;             // the first column's first packed element, aligned as vectors are
    Emitted
        toColumn; // packed elements between neighbouring columns, but within `vectors` vectors of them: these are dense
    Emitted toDepth; // packed elements between neighbours along K
    Emitted least{}; // if the core watches: the magnitudes before, see SubnormalWatch
    Values arguments() const;
  };

  /// Returns the magnitudes after, if the core watches, and else nothing.
  Core core() const;

  std::string accumulator;  // the type of a packed element, "f32"
  OperandElement operand{}; // if there are no groups
  int64_t lanes, group;
  bool alongDepth;      // elements lie along K; else along columns
  int64_t vectors = 1;  // of columns at a time; if more than one, `columns` is a multiple of their lanes
  bool masks = false;   // masked loads are cheap
  bool biases = false;  // each byte becomes 128 more
  bool watches = false; // for subnormal bf16 numbers

private:
  void emit(mlir::ModuleOp module) const;
};

/// Groups of these members, lane by lane, the first in the lowest bits, as elements of type `packed`.
Emitted joined(CodeBuilder &code, llvm::ArrayRef<Emitted> members, mlir::Type packed);
/// Groups of i8 as numbers 128 larger.
Emitted biasedBytes(Emitted groups);

} // namespace halftone::compiler
