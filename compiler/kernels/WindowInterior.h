// The places of a reduction over windows from which no tap leaves the image: there the tests of taps are left out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/BlockFrame.h"
#include "mlir/IR/OwningOpRef.h"

namespace halftone::compiler {

/// `value`, which the body of `generic` computes of indices and launch arguments alone, at the frame's index. `known` maps
/// values to those at hand: at first the frame's `outside`.
Emitted valueAtIndex(BlockFrame &frame, mlir::linalg::GenericOp generic, mlir::Value value, mlir::IRMapping &known);

/// Of a generic whose body reads windows: its `halftone.bound` ops test and clamp the indices of taps along dims that are
/// reduced. Each index is monotonic in the tap, so all taps are inside if the first and the last are.
class WindowInterior {
public:
  WindowInterior(BlockFrame &frame, mlir::linalg::GenericOp generic, llvm::ArrayRef<int> reduced);

  /// Whether the body has bounds, and they are the same for all of `vectorDim`.
  bool isKnown(int vectorDim);
  /// The generic without its bounds. Its results have no uses.
  mlir::linalg::GenericOp generic() const { return mlir::cast<mlir::linalg::GenericOp>(*unbounded); }
  /// Whether all taps are inside at the frame's index of the kept dims.
  Emitted holds();
  /// Whether the tap at the frame's index is inside.
  Emitted holdsAtIndex();

private:
  BlockFrame &frame;
  mlir::linalg::GenericOp bounded;
  llvm::SmallVector<int> reduced;
  llvm::SmallVector<mlir::Operation *> tests; // of `bounded`
  mlir::OwningOpRef<mlir::Operation *> unbounded;
};

} // namespace halftone::compiler
