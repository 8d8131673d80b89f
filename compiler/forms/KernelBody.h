// The ops that one kernel may hold, before it is built, and the shape of the kernel that they make.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Blocking.h"
#include "dialect/Dialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace halftone::compiler {

/// Above this a reduction to one number is cut into blocks; below, one block does it.
inline constexpr int64_t mostElementsOfOneRow = 16384;

/// Ops that are copied into every kernel that reads them (ComputeOpInterface): splat constants, `iota`, `broadcast`.
bool isGlue(mlir::Operation *op);

/// The number of elements of a tensor value.
int64_t elementsOf(mlir::Value value);

/// The ops of one kernel, before it is built: `home` ops are computed here alone, the other ones are copies of glue and of
/// cheap chains that the home ops read. Operands come before their users.
struct KernelBody {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallDenseSet<mlir::Operation *, 16> home;
  llvm::SmallVector<mlir::Value> results; // in the order of `ops`
};

/// The kernel that a body makes.
struct KernelShape {
  dialect::KernelKind kind = dialect::KernelKind::loop;
  llvm::SmallVector<int64_t> shape; // S of docs/kernels.md
  int64_t outerRank = 0;            // row: how many axes of S are outer
};

/// The operands that `op`, a slice, concat, gather or window, reads at computed places: from memory, but for constants.
mlir::OperandRange lookedUpOperands(mlir::Operation *op);
/// The window through which a matmul may read the left operand of `contract`: packing makes its matrix, of a row for each
/// place. A reshape of the places may stand between the two. Null if the operand is no such window.
dialect::WindowOp windowOf(dialect::ContractOp contract);
/// Set on contractions by choose-templates: elements of the right operand may vanish (MatmulTraits::vanishes).
inline constexpr llvm::StringLiteral vanishesAttr = "halftone.vanishes";
inline bool isScatter(mlir::Operation *op) { return mlir::isa<dialect::ScatterAddOp, dialect::ScatterOp>(op); }
inline bool isLookup(mlir::Operation *op) {
  return mlir::isa<dialect::SliceOp, dialect::ConcatOp, dialect::GatherOp, dialect::WindowOp>(op);
}

/// Whether `op`, a copy, may stand in front of a contraction: no `iota`, and no transcendental work, since a matmul does
/// it again for each tile.
bool isPrologueOp(mlir::Operation *op);

/// The facts of ComputeOpInterface, false for other ops.
bool isPointwise(mlir::Operation *op);
bool isTranscendental(mlir::Operation *op);

/// The ops of `body` that `roots` depend on.
llvm::DenseSet<mlir::Operation *> ancestors(const KernelBody &body, mlir::ValueRange roots);

} // namespace halftone::compiler
