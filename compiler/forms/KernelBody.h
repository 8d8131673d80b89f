// The ops that one kernel may hold, before it is built, and the kernel shape that they determine.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Blocking.h"
#include "dialect/Dialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace halftone::compiler {

/// A reduction of more elements than this to a scalar is divided into blocks; a smaller one runs in a single block.
inline constexpr int64_t maxElementsOfOneRow = 16384;

/// Returns true for ops that are cloned into every kernel that reads them (ComputeOpInterface): splat constants,
/// `iota`, `broadcast`.
bool isAlwaysCloned(mlir::Operation *op);

/// The number of elements of a tensor value.
int64_t elementsOf(mlir::Value value);

/// The ops of one kernel, before it is built. The `own` ops are computed in this kernel only; the others are clones of
/// the cloned producers that the own ops read. Operands come before their users.
struct KernelBody {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallDenseSet<mlir::Operation *, 16> own;
  llvm::SmallVector<mlir::Value> results; // in the order of `ops`
};

/// The shape of the kernel that a body gives.
struct KernelShape {
  dialect::KernelKind kind = dialect::KernelKind::loop;
  llvm::SmallVector<int64_t> shape; // S of docs/kernels.md
  int64_t outerRank = 0;            // of a row kernel: the number of outer axes of S
};

/// The operands that `op`, a slice, concat, gather or window, reads at computed indices: from memory, unless they are
/// constants.
mlir::OperandRange lookedUpOperands(mlir::Operation *op);
/// Returns the window through which a matmul may read the left operand of `contract`. Packing gathers its matrix, which
/// has one row per output position. A reshape of the positions may stand between the window and the contraction.
/// Returns null if the operand is no such window.
dialect::WindowOp windowOf(dialect::ContractOp contract);
/// Set on contractions by choose-layouts: elements of the right operand may become subnormal
/// (MatmulTraits::vanishes).
inline constexpr llvm::StringLiteral vanishesAttr = "halftone.vanishes";
inline bool isScatter(mlir::Operation *op) { return mlir::isa<dialect::ScatterAddOp, dialect::ScatterOp>(op); }
inline bool isLookup(mlir::Operation *op) {
  return mlir::isa<dialect::SliceOp, dialect::ConcatOp, dialect::GatherOp, dialect::WindowOp>(op);
}

/// Returns true if the cloned op `op` may be part of the prologue of a contraction. This excludes `iota` and
/// transcendental ops, since a matmul recomputes its prologue for each tile.
bool isPrologueOp(mlir::Operation *op);

/// Properties from ComputeOpInterface; false for other ops.
bool isPointwise(mlir::Operation *op);
bool isTranscendental(mlir::Operation *op);

/// Returns the ops of `body` that `roots` depend on.
llvm::DenseSet<mlir::Operation *> ancestors(const KernelBody &body, mlir::ValueRange roots);

} // namespace halftone::compiler
