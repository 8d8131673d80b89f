// The linalg form of a kernel as an emitter reads it: dims, operands, generics and how each reaches its tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelForm.h"

namespace halftone::compiler {

/// How a generic reads or writes one of its tensors: the kernel dim of each axis, or -1 and a constant.
struct TensorAccess {
  llvm::SmallVector<int> dims;
  llvm::SmallVector<int64_t> constants;
  bool operator==(const TensorAccess &) const = default;
};

/// docs/kernel-form.md says how a linalg form is made. Nothing here depends on a target.
class KernelSource {
public:
  /// Reads `function`, whose bodies then are such as cloneBody takes. On failure a diagnostic says which part of a linalg
  /// form it lacks.
  static mlir::FailureOr<KernelSource> read(mlir::func::FuncOp function);

  /// The operands: the arguments after the index arguments.
  mlir::Block::BlockArgListType operands() const { return function.getArguments().drop_front(indexArguments); }
  /// The values that the function returns.
  mlir::OperandRange results() const { return function.getBody().front().getTerminator()->getOperands(); }
  const TensorForm &formOf(mlir::Value value) const { return form.of(function, value); }
  TensorAccess accessOf(mlir::linalg::GenericOp generic, mlir::OpOperand &operand) const;
  /// The neutral element that a reduction's output starts from.
  mlir::TypedAttr initialOf(mlir::linalg::GenericOp generic, unsigned output) const;
  /// How many operands of the generics are read along the last dim but one in their last axis, and along the last dim
  /// in another.
  int64_t transposedOperands() const;
  /// Whether any value of the kernel needs 64-bit float lanes.
  bool holdsF64() const;

  mutable mlir::func::FuncOp function;
  KernelForm form;
  int64_t dims = 0;                                    // of the iteration space
  unsigned indexArguments = 0;                         // extents of dims, block sizes, numbers
  llvm::SmallVector<mlir::linalg::GenericOp> generics; // in order
};

llvm::SmallVector<int> dimsOf(mlir::linalg::GenericOp generic);
/// Combiner of each output, "" for elementwise ones.
llvm::SmallVector<std::string> combinersOf(mlir::linalg::GenericOp generic);

} // namespace halftone::compiler
