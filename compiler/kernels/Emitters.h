// From the legalized linalg form of a kernel to the code of its blocks: one emitter per kernel kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/CpuTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cstdint>
#include <optional>

namespace halftone::compiler {

/// Each emitter replaces `kernel` (docs/kernel-form.md, after legalize-storage) by a `func.func` of the same name with
/// the type `(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr) -> ()`: buffers, extents, first and last block, scratch, as
/// runtime/plan/Abi.h says. Only func, scf, arith, math (what the target does in instructions), vector and LLVM-dialect
/// ops are left; index arithmetic is in i64, which scf.for takes as it is. On failure a diagnostic says what the kernel
/// holds that the emitter cannot do.
mlir::LogicalResult emitLoop(mlir::func::FuncOp kernel, const CpuTarget &target, mlir::OpBuilder &builder);
mlir::LogicalResult emitRow(mlir::func::FuncOp kernel, const CpuTarget &target, mlir::OpBuilder &builder);
mlir::LogicalResult emitScatter(mlir::func::FuncOp kernel, const CpuTarget &target, mlir::OpBuilder &builder);
mlir::LogicalResult emitMatmul(mlir::func::FuncOp kernel, const CpuTarget &target, mlir::OpBuilder &builder);

/// `halftone.panels`: how a packed operand or result lies in memory, a matrix whose axis `depth` a contraction sums
/// over, as #halftone.panels says.
struct Panels {
  int64_t depth = 0, columns = 0, group = 0;
  /// Of an argument of `kernel`, or of a value that it returns; nullopt for a row-major one.
  static std::optional<Panels> of(mlir::func::FuncOp kernel, mlir::Value value);
};

/// Bytes of scratch per thread that the code of emitMatmul uses, from the linalg form (legalized or not) and a launch's
/// extents.
int64_t matmulScratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents, const CpuTarget &target);

} // namespace halftone::compiler
