// The table of kernel forms: all that passes ask about one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/KernelBody.h"
#include "compiler/forms/KernelDescription.h"

namespace halftone::compiler {

/// The ops that are to be one kernel. Its form depends on the contractions, reductions and scatters among them.
struct FormOps {
  const KernelBody &body;
  const Blocking &blocking;
  llvm::SmallVector<mlir::Operation *> contractions, reductions, scatters;
};

/// The shape in which side reductions see a value of the kernel's shape: that shape, or if a product has several axes of
/// rows, which its tiles cut as one, with these as one axis. `contract` is the kernel's, or null.
llvm::SmallVector<int64_t> sideReductionShape(const KernelShape &kernel, mlir::Operation *contract);

/// The `tile` of a partial_reduce of a value of that shape over its first `reduced` axes, as the kernel's blocks cut
/// them; nullopt when blocks do not cut along those axes alone.
using SideReductionTile = std::optional<llvm::SmallVector<int64_t>> (*)(const KernelShape &kernel,
                                                                        mlir::Operation *contract, int64_t reduced,
                                                                        const Blocking &blocking);

/// One form, a row of the table. Its functions stand in compiler/forms/<Name>Form.cpp.
struct Form {
  dialect::KernelKind kind;
  /// Whether a kernel of these ops, which some form may hold, is of this form. The first row that says yes is the form.
  bool (*fits)(mlir::Block &ops);
  /// May these ops stand in one kernel of the form (docs/kernels.md)? Its shape, or nullopt.
  std::optional<KernelShape> (*classify)(const FormOps &ops);
  /// May a result of the operand's shape lie where this operand lies? Then a block reads the operand only at the
  /// indices that it writes. Relies on emitters to load before they store, and never to compute an element twice.
  bool (*readsInPlace)(dialect::KernelOp kernel, int64_t operand);
  SideReductionTile sideReductionTile; // null: no side reductions
  /// The linalg form of a kernel, its blocks and its launch arguments. On failure a diagnostic is emitted.
  mlir::FailureOr<KernelDescription> (*describe)(dialect::KernelOp kernel, const Target &target, bool strict);
};

/// The form of kernels of this kind.
const Form &formOf(dialect::KernelKind kind);
/// The kind of a kernel of these ops.
dialect::KernelKind kindOf(mlir::Block &ops);
/// The kernel that `body` makes, or nullopt when no form may hold it.
std::optional<KernelShape> classify(const KernelBody &body, const Blocking &blocking);

// Parts of rows that several forms share.
/// Elementwise use alone: each element of the operand is read at the index where a result is stored.
bool readsElementwise(dialect::KernelOp kernel, int64_t operand);
/// Blocks cut the first axis of extent > 1, which must be a reduced one.
std::optional<llvm::SmallVector<int64_t>> tileOfRows(const KernelShape &kernel, mlir::Operation *contract,
                                                     int64_t reduced, const Blocking &blocking);
/// Whether `op` is a reshape that side reductions alone read, to see rows as one axis.
bool isOfSideReductions(mlir::Operation *op);
/// A partial reduction is in place when its tile is the one that the kernel's blocks give.
bool isSideReduction(dialect::PartialReduceOp op, const KernelShape &kernel, mlir::Operation *contract,
                     const Blocking &blocking);

} // namespace halftone::compiler
