// The table of kernel forms: everything that passes query about a form.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/FusionDecision.h"
#include "compiler/forms/KernelBody.h"
#include "compiler/forms/KernelDescription.h"

namespace halftone::compiler {

/// The ops that are to become one kernel. Its form depends on the contractions, reductions and scatters among them.
struct FormOps {
  const KernelBody &body;
  const Blocking &blocking;
  llvm::SmallVector<mlir::Operation *> contractions, reductions, scatters;
};

/// How a kernel's blocks divide a value of its shape, which a partial reduction reduces over its first axes.
struct PartialReduction {
  llvm::SmallVector<int64_t> shape; // of the value; axes that the blocks divide as one are one axis
  llvm::SmallVector<int64_t> tile;  // of a block, along each reduced axis of `shape`
};
/// The partial reduction over the first `reduced` axes of the kernel's shape; nullopt if the blocks also divide other
/// axes. `contract` is the kernel's contraction, or null.
using PartialReductionOf = std::optional<PartialReduction> (*)(const KernelShape &kernel, mlir::Operation *contract,
                                                               int64_t reduced, const Blocking &blocking);

/// One form, a row of the table. Its functions are in compiler/forms/<Name>Form.cpp.
struct Form {
  dialect::KernelKind kind;
  /// Returns true if a kernel of these ops, which at least one form supports, is of this form. The first row that
  /// returns true is the form.
  bool (*fits)(mlir::Block &ops);
  /// The shape of a kernel of this form with these ops (docs/kernels.md), or the reason why there is none. The reason
  /// is omitted if the form is not intended for such ops.
  FusionDecision (*classify)(const FormOps &ops);
  /// Returns true if a result of the operand's shape may overwrite the operand: a block reads the operand only at the
  /// indices that it writes. Relies on emitters to load before they store, and never to compute an element twice.
  bool (*readsInPlace)(dialect::KernelOp kernel, int64_t operand);
  PartialReductionOf partialReduction; // null if kernels of this form have no partial reductions
  /// The linalg form of a kernel, its blocks and its launch arguments. On failure a diagnostic is emitted.
  mlir::FailureOr<KernelDescription> (*describe)(dialect::KernelOp kernel, const Target &target, Numerics numerics);
};

/// The form of kernels of this kind.
const Form &formOf(dialect::KernelKind kind);
/// The kind of a kernel of these ops.
dialect::KernelKind kindOf(mlir::Block &ops);
/// The shape of a kernel of `body`, or the reasons why no form supports it.
FusionDecision classify(const KernelBody &body, const Blocking &blocking);

// Functions shared by several rows.
/// Returns true if each element of the operand is read only at the index at which a result is stored.
bool readsElementwise(dialect::KernelOp kernel, int64_t operand);
/// Returns false: no result may overwrite an operand.
inline bool readsNothingInPlace(dialect::KernelOp, int64_t) { return false; }
/// For kernels whose blocks divide the first axis of extent > 1; nullopt unless that axis is reduced.
std::optional<PartialReduction> partialReductionOfRows(const KernelShape &kernel, mlir::Operation *contract,
                                                       int64_t reduced, const Blocking &blocking);
/// Returns true if the operand's shape and the tile of `op` are those that the kernel's blocks determine.
bool isPartialReduction(dialect::PartialReduceOp op, const KernelShape &kernel, mlir::Operation *contract,
                        const Blocking &blocking);

} // namespace halftone::compiler
