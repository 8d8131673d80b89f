// The shape of the kernel that a set of ops forms, or the reasons why they form none.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/KernelBody.h"
#include <string>

namespace halftone::compiler {

/// Converts to true if there is a kernel. Reasons are literals and are formatted only for reports, so that a search
/// that declines many fusions builds no strings.
class FusionDecision {
public:
  /// No kernel and no reason: the answer of a form that is not intended for such ops.
  FusionDecision() = default;
  /// A kernel of this shape.
  FusionDecision(KernelShape shape) : shape(std::move(shape)) {}
  /// No kernel. The reason completes "declined: "; `op` is the op that it concerns, or null.
  static FusionDecision declined(llvm::StringLiteral reason, mlir::Operation *op = nullptr) {
    FusionDecision decision;
    decision.reasons.push_back({std::nullopt, reason, op});
    return decision;
  }

  explicit operator bool() const { return shape.has_value(); }
  const KernelShape &operator*() const { return *shape; }
  const KernelShape *operator->() const { return &*shape; }
  KernelShape take() { return std::move(*shape); }

  /// Appends the reasons of another decision without a kernel, attributed to kernels of `kind`.
  void append(const FusionDecision &other, dialect::KernelKind kind);
  /// The reasons of all forms that are intended for such ops: "row: the reduced axes are not innermost (reduce);
  /// finish: ...".
  std::string reason() const;

private:
  struct Reason {
    std::optional<dialect::KernelKind> kind; // nullopt: all kinds
    llvm::StringRef text;
    mlir::Operation *op;
  };
  std::optional<KernelShape> shape;
  llvm::SmallVector<Reason, 2> reasons;
};

} // namespace halftone::compiler
