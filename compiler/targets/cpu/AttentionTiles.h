// What the emitters of attention kernels share: the generics of the form, tiles of operands in scratch, rows of scores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/AttentionDims.h"
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/cpu/KernelFrame.h"

namespace halftone::compiler {

/// `value` rounded up to whole vectors, and a vector more: so rows of any length begin in different sets of a cache.
template <class Number> Number paddedPitch(Number value, Number lanes) {
  return ceilDivide(value, lanes) * lanes + lanes;
}

/// The block sizes of the kernel.
struct AttentionTileSizes {
  Emitted queries, keys;
};

/// A matrix of f32 in scratch; every row begins at a multiple of a vector.
struct ScratchMatrix {
  Emitted at, pitch;
};

class AttentionTiles {
public:
  explicit AttentionTiles(KernelFrame &frame)
      : frame(frame), vector(mlir::VectorType::get(frame.lanes, frame.getF32Type())), step(frame.constant(frame.lanes)),
        next(frame.scratch) {}

  /// The next `rows` rows of scratch.
  ScratchMatrix take(Emitted rows, Emitted columns);
  /// The whole vectors that hold `columns` elements, in elements.
  Emitted padded(Emitted columns) const { return ceilDivide(columns, step) * step; }

  /// Widens rows of the factor `side` of `contraction` into `to`: `count` indices of dim `rowDim` from `first` on, along
  /// the operand's innermost dim. Elements past that dim's end are 0.
  void copyRows(mlir::linalg::GenericOp contraction, int side, int rowDim, Emitted first, Emitted count,
                const ScratchMatrix &to);
  /// The same turned: a row for each index of the innermost dim. Columns past the end of `rowDim` repeat its last index.
  void copyColumns(mlir::linalg::GenericOp contraction, int side, int rowDim, Emitted first, Emitted count,
                   const ScratchMatrix &to);

  Emitted address(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  Emitted load(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  Emitted loadScalar(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  void store(Emitted vector, const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  /// Stores `value` in all elements of `rows` rows.
  void fill(const ScratchMatrix &matrix, Emitted rows, Emitted columns, Emitted value) const;

  /// The values of a generic's only output for a vector of queries from the frame's index on, where `given` are the values
  /// of the inputs that are not in memory.
  Emitted alongQueries(mlir::linalg::GenericOp generic, llvm::ArrayRef<std::pair<mlir::Value, Emitted>> given) const;
  /// The same of one query along the dim `dim`, stored where the kernel's result is.
  void storeAlong(int dim, mlir::linalg::GenericOp generic,
                  llvm::function_ref<Emitted(mlir::Value, Emitted column)> given) const;
  /// The same of an element at the frame's index.
  void storeScalar(mlir::linalg::GenericOp generic, llvm::function_ref<Emitted(mlir::Value)> given) const;

  Emitted exp(Emitted x) const;
  Emitted larger(Emitted a, Emitted b) const { return select(a > b, a, b); }
  Emitted splat(Emitted scalar) const { return frame.splat(scalar, frame.lanes); }
  /// Loops over vectors of `columns` elements.
  void forVectors(Emitted columns, llvm::function_ref<void(Emitted)> body) const {
    frame.loop(frame.constant(0), columns, step, body);
  }

  KernelFrame &frame;
  mlir::VectorType vector;
  Emitted step; // lanes of a vector

private:
  Emitted factor(mlir::linalg::GenericOp contraction, int side, const Lanes &lanes) const;

  Emitted next;
};

} // namespace halftone::compiler
