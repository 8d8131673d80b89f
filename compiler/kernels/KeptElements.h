// In-place loops that change few elements: unchanged rows are skipped.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/BlockFrame.h"

namespace halftone::compiler {

/// Marks a loop's generic whose result is `select(condition, new, old)`, or with the sides swapped, where `old` is an
/// operand's element at the same index and the condition is uniform along the last dim. The `arith.select` gets
/// `halftone.keeps`: 1 if the old element is the true value, else 0; and the index of the operand among the inputs. A
/// condition that takes many ops, or that looks up elements, is not marked.
void markKept(mlir::linalg::GenericOp generic);

/// A loop's generic with such a mark.
class KeptElements {
public:
  KeptElements(BlockFrame &frame, mlir::linalg::GenericOp generic);
  /// Returns true if the generic is marked.
  explicit operator bool() const { return bool(choice); }
  /// Whether the old elements are at the addresses of the result, so they need no store.
  Emitted isInPlace() const;
  /// Whether the elements at the frame's index are new ones; the index along the last dim is ignored.
  Emitted areNew();

private:
  Emitted valueAt(mlir::Value value, mlir::IRMapping &known);

  BlockFrame &frame;
  mlir::linalg::GenericOp generic;
  mlir::arith::SelectOp choice;
};

} // namespace halftone::compiler
