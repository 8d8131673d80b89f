// Loops that leave most elements of a tensor as they are: in place, rows that keep all of theirs are passed over.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/BlockFrame.h"

namespace halftone::compiler {

/// Notes in a loop's generic that its result is `select(condition, new, old)`, either way round, where `old` is an operand's
/// element at the same index, and the condition is one for all of the last dim. The `arith.select` gets `halftone.keeps`:
/// 1 if the old element is the true value, else 0; and the position of the operand among the inputs. A condition that is
/// much work, or that looks elements up, is not noted.
void markKept(mlir::linalg::GenericOp generic);

/// A loop's generic with such a note.
class KeptElements {
public:
  KeptElements(BlockFrame &frame, mlir::linalg::GenericOp generic);
  /// Whether the generic has the note.
  explicit operator bool() const { return bool(choice); }
  /// Whether the old elements lie where the result is to be: then they need no store.
  Emitted isInPlace() const;
  /// Whether the elements at the frame's index are new ones; the index of the last dim does not count.
  Emitted areNew();

private:
  Emitted valueAt(mlir::Value value, mlir::IRMapping &known);

  BlockFrame &frame;
  mlir::linalg::GenericOp generic;
  mlir::arith::SelectOp choice;
};

} // namespace halftone::compiler
