// From the legalized linalg form of a kernel to the code of its blocks: one emitter a form.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/KernelFrame.h"
#include <cstdint>
#include <string>

namespace halftone::compiler {

/// Scratch that the code of a loop kernel has for each operand whose last axis is the last outer dim: a square of
/// vectors.
inline constexpr int64_t transposedSquareBytes = 2048;
/// Rows that a reduction loop accumulates together, where operands are the same for many.
inline constexpr int64_t sharedRows = 3;
/// Rows that a reduction loop accumulates together, where its lanes run along groups: they share the kernel's elements.
inline constexpr int64_t groupedRows = 4;
/// Packed results of a loop kernel are stored row by row in scratch and moved from there, so many rows at a time: lines
/// of the panels are then whole.
inline constexpr int64_t stagedRows = 16;
/// So many columns of a staged row take a cache line at most: elements have two bytes or one.
inline constexpr int64_t stagedColumns = 32;
/// Scratch for each packed result in blocks of so many columns.
constexpr int64_t stagedBytes(int64_t columns) {
  return stagedRows * ((columns + stagedColumns - 1) / stagedColumns) * 64;
}

/// Bytes of scratch per thread, from the linalg form (legalized or not) and a launch's extents.
int64_t kernelScratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents, const CpuTarget &target);

/// Replaces `kernel`, a linalg form (docs/kernel-form.md, after legalize-storage), by its code, by the emitter of its
/// kind: a function of type `(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr) -> ()` takes buffers, extents, first and last
/// block, scratch, as runtime/plan/Abi.h says. Only func, scf, arith, math (as the target has it in instructions), vector
/// and LLVM-dialect ops are left; index arithmetic is in i64, which scf.for takes as it is. On failure a diagnostic names the
/// part of the kernel that the emitter has no code for.
mlir::FailureOr<EmittedKernel> emitKernel(mlir::func::FuncOp kernel, const CpuTarget &target);

} // namespace halftone::compiler
