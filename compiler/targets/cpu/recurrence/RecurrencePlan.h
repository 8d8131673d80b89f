// The storage of a recurrence kernel's tensors: in memory, or in matrices in a thread's scratch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/attention/ScratchMatrices.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"

namespace halftone::compiler {

/// A matrix in scratch: one row per row of the block or, for weights, per index of K.
struct RecurrenceMatrix {
  enum Role : uint8_t {
    local,      // `tensor`, which a generic or a contraction computes
    present,    // a carry before the step; `tensor` is the kernel's operand
    next,       // the carry after the step; `tensor` is the kernel's result
    weights,    // the right operand of the contraction that computes `tensor`, as a factor
    packedRows, // its left operand, as a factor
    scaledRows, // the left operand times a power of two, used if it is so small that products may be subnormal
  };
  Role role;
  mlir::Value tensor;
  int rowDim;    // recurrenceOuterDims or more: of weights
  int columnDim; // -1: one column
  int64_t words; // 32-bit words per element
};

/// A part of a tensor: its columns from a launch argument on.
struct TensorPart {
  mlir::Value whole;
  mlir::BlockArgument start;
};

/// Facts for the code and its scratch that follow from the linalg form.
struct RecurrencePlan {
  /// On failure a diagnostic says what a recurrence kernel must have.
  static mlir::FailureOr<RecurrencePlan> read(const KernelSource &source, const CpuTarget &target);
  int64_t scratchBytes(const KernelSource &source, llvm::ArrayRef<int64_t> extents, const CpuTarget &target) const;

  llvm::SmallVector<std::pair<mlir::BlockArgument, mlir::Value>> carries; // operand and result
  llvm::SmallVector<RecurrenceMatrix> matrices;
  llvm::DenseMap<mlir::Value, TensorPart> parts; // of concats, by the tensor that a generic computes
};

/// The number of columns in a panel of weights.
int64_t weightColumns(const KernelSource &source, const CpuTarget &target);

bool isContraction(mlir::linalg::GenericOp generic);

} // namespace halftone::compiler
