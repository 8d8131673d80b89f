// The linalg form of a matmul kernel as emitters read it: dim roles, prologues, contraction, epilogue.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/kernels/KernelSource.h"
#include <array>

namespace halftone::compiler {

enum MatmulRole { batchRole, rowRole, columnRole, depthRole };

/// Facts that follow from the linalg form. Operand 0, A, has the rows; operand 1, B, has the columns.
class MatmulSource {
public:
  /// On failure a diagnostic names the part of the kernel that does not belong to a matmul.
  static mlir::FailureOr<MatmulSource> read(const KernelSource &source);
  /// The generic that sums over all dims; null if there is none.
  static mlir::linalg::GenericOp contractionOf(const KernelSource &source);
  static mlir::Type accumulatorOf(mlir::linalg::GenericOp contraction);

  /// The dim along which the operand is contiguous in memory; -1 if the operand has no axes.
  int innermostDim(int side) const;
  /// Returns true if adjacent elements in the operand's memory are neighbours along K.
  bool lanesAlongDepth(int side) const { return llvm::is_contained(group[depthRole], innermostDim(side)); }
  /// Returns true if each sum must add in the order of K.
  bool ordered() const { return source.form.numerics.fixesOrder(); }
  /// The value that the contraction multiplies, computed from the operand's element.
  mlir::Value factorOf(int side) const { return factorOf(contraction, side); }
  static mlir::Value factorOf(mlir::linalg::GenericOp contraction, int side);
  /// Emits the factor of `stored`, an element or a vector of `lanes` > 0 elements, at the insertion point.
  Emitted factor(CodeBuilder &builder, int side, Emitted stored, int64_t lanes) const {
    return factor(builder, contraction, side, stored, lanes);
  }
  static Emitted factor(CodeBuilder &builder, mlir::linalg::GenericOp contraction, int side, Emitted stored,
                        int64_t lanes);
  /// Returns true if an output of the epilogue, a partial reduction, keeps N.
  bool keepsColumns(int64_t output) const;

  const KernelSource &source;
  std::array<llvm::SmallVector<int>, 4> group; // dims of each role
  mutable mlir::linalg::GenericOp contraction, epilogue;
  mutable std::array<mlir::linalg::GenericOp, 2> prologue; // null: the operand is used unchanged
  mlir::Type accumulator;
  bool mayFuse = false;                     // a product and its sum may be fused into one instruction
  llvm::SmallVector<std::string> combiners; // of the epilogue's outputs

protected:
  MatmulSource(const KernelSource &source, mlir::linalg::GenericOp contraction);

private:
  mlir::LogicalResult readGenerics();
  mlir::LogicalResult readBody();
  mlir::LogicalResult checkEpilogue();
};

} // namespace halftone::compiler
