// The linalg form of a kernel as emitters read it: dims, operands, generics, and the accesses to tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelForm.h"

namespace halftone::compiler {

/// The access of a generic to one of its tensors: per axis a kernel dim, or -1 and a constant.
struct TensorAccess {
  llvm::SmallVector<int> dims;
  llvm::SmallVector<int64_t> constants;
  bool operator==(const TensorAccess &) const = default;
};

/// A linalg form, as specified in docs/kernel-form.md. Nothing here depends on a target.
class KernelSource {
public:
  /// Reads `function`, whose bodies cloneBody() can then clone. On failure a diagnostic names the part of a linalg form
  /// that is missing.
  static mlir::FailureOr<KernelSource> read(mlir::func::FuncOp function);

  /// The operands: the arguments after the index arguments.
  mlir::Block::BlockArgListType operands() const { return function.getArguments().drop_front(indexArguments); }
  /// The values that the function returns.
  mlir::OperandRange results() const { return function.getBody().front().getTerminator()->getOperands(); }
  const TensorForm &formOf(mlir::Value value) const { return form.of(function, value); }
  TensorAccess accessOf(mlir::linalg::GenericOp generic, mlir::OpOperand &operand) const;
  /// The neutral element, with which a reduction's output starts.
  mlir::TypedAttr initialOf(mlir::linalg::GenericOp generic, unsigned output) const;
  /// The number of transposed operands of the generics: their last axis is the second to last dim, and another axis is
  /// the last dim.
  int64_t transposedOperands() const;
  /// Returns true if any value of the kernel has f64 elements.
  bool holdsF64() const;

  mutable mlir::func::FuncOp function;
  KernelForm form;
  int64_t dims = 0;                                    // of the iteration space
  unsigned indexArguments = 0;                         // extents of dims, block sizes, lookup arguments
  llvm::SmallVector<mlir::linalg::GenericOp> generics; // in order
};

llvm::SmallVector<int> dimsOf(mlir::linalg::GenericOp generic);
/// The combiner of each output, "" for elementwise outputs.
llvm::SmallVector<std::string> combinersOf(mlir::linalg::GenericOp generic);

} // namespace halftone::compiler
