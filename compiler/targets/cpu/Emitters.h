// Emits the code of a kernel's blocks from its legalized linalg form, with one emitter per form.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/KernelFrame.h"
#include <cstdint>
#include <string>

namespace halftone::compiler {

/// Bytes of scratch of a loop kernel for each operand whose last axis is the last outer dim: a square of vectors.
inline constexpr int64_t transposedSquareBytes = 2048;
/// The number of rows that a reduction loop accumulates together if they share operands.
inline constexpr int64_t sharedRows = 3;
/// The number of rows that a reduction loop accumulates together if its lanes run along groups: the rows share the
/// elements of the convolution's kernel.
inline constexpr int64_t groupedRows = 4;
/// The number of rows of packed results that a loop kernel stages in scratch and then copies to the panels, so that it
/// writes whole cache lines of the panels.
inline constexpr int64_t stagedRows = 16;
/// The number of columns of a staged row that take at most one cache line: elements have one or two bytes.
inline constexpr int64_t stagedColumns = 32;
/// Bytes of scratch per packed result, for blocks of `columns` columns.
constexpr int64_t stagedBytes(int64_t columns) {
  return stagedRows * ((columns + stagedColumns - 1) / stagedColumns) * 64;
}

/// The bytes of scratch per thread for a linalg form (legalized or not) and a launch's extents.
int64_t kernelScratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents, const CpuTarget &target);

/// Replaces `kernel`, a linalg form (docs/kernel-form.md, after legalize-storage), by its code, which the emitter of
/// its kind creates: a function of type `(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr) -> ()` that takes buffers,
/// extents, first and last block, and scratch, as runtime/plan/Abi.h specifies. Only func, scf, arith, math (for which
/// the target has instructions), vector and LLVM-dialect ops remain. Index arithmetic is in i64, which scf.for accepts.
/// On failure a diagnostic names the part of the kernel that the emitter does not support.
mlir::FailureOr<EmittedKernel> emitKernel(mlir::func::FuncOp kernel, const CpuTarget &target);

} // namespace halftone::compiler
