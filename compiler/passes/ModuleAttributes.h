// The target and the numerics of a module, from its attributes `halftone.target` and `halftone.numerics`.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <optional>

namespace halftone::compiler {

/// The module's attribute that Numerics::named() parses. Fast numerics if absent.
inline constexpr llvm::StringLiteral numericsAttribute = "halftone.numerics";

/// Returns the numerics of `op`: `halftone.numerics` of `op` or of its innermost ancestor with the attribute.
/// value_error if the attribute does not name valid numerics.
StatusOr<Numerics> numericsOf(mlir::Operation *op);

/// The target and the numerics for which a pass compiles a module.
struct CompiledFor {
  std::shared_ptr<const Target> target;
  Numerics numerics;
};

/// Returns the pass's own `target`, unless it is "", and `numerics`, if given; otherwise those of the module's
/// attributes; otherwise the target `otherwise`, and fast numerics. On failure a diagnostic at the module names the
/// unknown value.
mlir::FailureOr<CompiledFor> compiledFor(mlir::ModuleOp module, llvm::StringRef target,
                                         std::optional<Numerics> numerics, llvm::StringRef otherwise = "host");
/// Like the above, for a pass whose option `strict` requests strict numerics.
inline mlir::FailureOr<CompiledFor> compiledFor(mlir::ModuleOp module, llvm::StringRef target, bool strict,
                                                llvm::StringRef otherwise = "host") {
  return compiledFor(module, target, strict ? std::optional(Numerics::strict()) : std::nullopt, otherwise);
}

} // namespace halftone::compiler
