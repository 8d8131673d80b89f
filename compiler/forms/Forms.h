// The table of kernel forms: all that passes ask about one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/FusionDecision.h"
#include "compiler/forms/KernelBody.h"
#include "compiler/forms/KernelDescription.h"

namespace halftone::compiler {

/// The ops that are to be one kernel. Its form depends on the contractions, reductions and scatters among them.
struct FormOps {
  const KernelBody &body;
  const Blocking &blocking;
  llvm::SmallVector<mlir::Operation *> contractions, reductions, scatters;
};

/// How a kernel's blocks cut a value of its shape that a side reduction reduces over its first axes.
struct SideReduction {
  llvm::SmallVector<int64_t> shape; // of the value, in which axes that the blocks cut as one are one axis
  llvm::SmallVector<int64_t> tile;  // along each reduced axis of `shape`: those come first
};
/// The cut of a side reduction over the first `reduced` axes of the kernel's shape; nullopt when blocks do not cut along
/// those axes alone. `contract` is the kernel's, or null.
using SideReductionOf = std::optional<SideReduction> (*)(const KernelShape &kernel, mlir::Operation *contract,
                                                         int64_t reduced, const Blocking &blocking);

/// One form, a row of the table. Its functions stand in compiler/forms/<Name>Form.cpp.
struct Form {
  dialect::KernelKind kind;
  /// Whether a kernel of these ops, which some form may hold, is of this form. The first row that says yes is the form.
  bool (*fits)(mlir::Block &ops);
  /// May these ops stand in one kernel of the form (docs/kernels.md)? Its shape, or the reason why not; no reason if other forms are
  /// meant for such ops.
  FusionDecision (*classify)(const FormOps &ops);
  /// May a result of the operand's shape lie where this operand lies? Then a block reads the operand only at the
  /// indices that it writes. Relies on emitters to load before they store, and never to compute an element twice.
  bool (*readsInPlace)(dialect::KernelOp kernel, int64_t operand);
  SideReductionOf sideReduction; // null: no side reductions
  /// The linalg form of a kernel, its blocks and its launch arguments. On failure a diagnostic is emitted.
  mlir::FailureOr<KernelDescription> (*describe)(dialect::KernelOp kernel, const Target &target, Numerics numerics);
};

/// The form of kernels of this kind.
const Form &formOf(dialect::KernelKind kind);
/// The kind of a kernel of these ops.
dialect::KernelKind kindOf(mlir::Block &ops);
/// The kernel that `body` makes, or the reasons why no form may hold it.
FusionDecision classify(const KernelBody &body, const Blocking &blocking);

// Parts of rows that several forms share.
/// Elementwise use alone: each element of the operand is read at the index where a result is stored.
bool readsElementwise(dialect::KernelOp kernel, int64_t operand);
/// No result may lie where an operand lies.
inline bool readsNothingInPlace(dialect::KernelOp, int64_t) { return false; }
/// Blocks cut the first axis of extent > 1, which must be a reduced one.
std::optional<SideReduction> sideReductionOfRows(const KernelShape &kernel, mlir::Operation *contract, int64_t reduced,
                                                 const Blocking &blocking);
/// A partial reduction is in place when its operand's shape and its tile are those that the kernel's blocks give.
bool isSideReduction(dialect::PartialReduceOp op, const KernelShape &kernel, mlir::Operation *contract,
                     const Blocking &blocking);

} // namespace halftone::compiler
