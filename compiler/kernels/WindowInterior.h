// Output positions at which no tap of a window leaves the image, so the bounds tests are omitted.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/BlockFrame.h"
#include "mlir/IR/OwningOpRef.h"

namespace halftone::compiler {

/// Emits `value`, which the body of `generic` computes from indices and launch arguments only, at the frame's index.
/// `known` maps values to emitted ones; it starts as the frame's `outside`.
Emitted valueAtIndex(BlockFrame &frame, mlir::linalg::GenericOp generic, mlir::Value value, mlir::IRMapping &known);

/// For a generic whose body reads windows: its `halftone.bound` ops test and clamp the indices of taps along reduced
/// dims. Each index is monotonic in the tap, so all taps are inside if the first and the last are.
class WindowInterior {
public:
  WindowInterior(BlockFrame &frame, mlir::linalg::GenericOp generic, llvm::ArrayRef<int> reduced);

  /// Returns true if the body has bounds and they do not depend on the index along `vectorDim`.
  bool isKnown(int vectorDim);
  /// The generic without its bounds. Its results are unused.
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
