// What the parts of form-kernels share: clusters of ops, what kind of kernel a cluster makes, and how it is built.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace halftone::compiler {

/// Attribute that choose-templates puts on a `contract`: the rows and columns of its blocks.
inline constexpr llvm::StringLiteral tileAttr = "halftone.tile";

/// Above this a reduction to one number is cut into blocks; below, one block does it.
inline constexpr int64_t mostElementsOfOneRow = 16384;

/// Ops that are copied into every kernel that reads them: splat constants, `iota`, `broadcast`.
bool isGlue(mlir::Operation *op);

/// Elements of a tensor value.
int64_t elementsOf(mlir::Value value);
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

/// The ops of one kernel, before it is built: `home` ops are computed here alone, the other ones are copies of glue and of
/// cheap chains that the home ops read. Operands come before their users.
struct KernelBody {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallDenseSet<mlir::Operation *, 16> home;
  llvm::SmallVector<mlir::Value> results; // in the order of `ops`
};

/// What kind of kernel a body makes.
struct KernelShape {
  dialect::KernelKind kind = dialect::KernelKind::loop;
  llvm::SmallVector<int64_t> shape; // S of docs/architecture.md
  int64_t outerRank = 0;            // row kernels: how many axes of S are outer
  bool reductionLoop = false;
};

/// The kernel that `body` makes, or nullopt when no kind may hold it (docs/architecture.md, "What a kernel may hold").
std::optional<KernelShape> classify(const KernelBody &body);

/// The operands of `op`, a slice, concat or gather, that it reads at computed places: from memory, but for constants.
mlir::OperandRange lookedUpOperands(mlir::Operation *op);
inline bool isLookup(mlir::Operation *op) {
  return mlir::isa<dialect::SliceOp, dialect::ConcatOp, dialect::GatherOp>(op);
}

/// Whether `op`, a copy, may stand in front of a contraction: no transcendental work, since a matmul does it again for
/// each tile.
bool isPrologueOp(mlir::Operation *op);

/// Number of transcendental functions in `op`: 0 or 1. Random bits count as one.
int64_t transcendentalCost(mlir::Operation *op);

/// The `tile` of a side reduction over the first `reduced` axes of a value of a kernel of this shape; nullopt when the kernel's blocks
/// do not cut along those axes alone.
std::optional<llvm::SmallVector<int64_t>> sideReductionTile(const KernelShape &kernel, mlir::Operation *contract,
                                                            int64_t reduced);

/// Writes `body` as a kernel `name` at `builder`'s place. `inputs` receives the values to launch it on.
dialect::KernelOp buildKernel(mlir::OpBuilder &builder, const KernelBody &body, const KernelShape &shape,
                              llvm::StringRef name, llvm::SmallVectorImpl<mlir::Value> &inputs);

/// Layer paths, the user's line and the ops of a kernel, for reports: "net/dense (train.cpp:12): contract, add".
std::string siteOf(const KernelBody &body);

} // namespace halftone::compiler
