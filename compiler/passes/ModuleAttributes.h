// What a module is compiled for, as its attributes `halftone.target` and `halftone.numerics` say.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <optional>

namespace halftone::compiler {

/// The module's attribute that Numerics::named() reads; absent: fast numerics.
inline constexpr llvm::StringLiteral numericsAttribute = "halftone.numerics";

/// What the results of `op` promise: `halftone.numerics` of the innermost op around it, or itself, that has the attribute.
/// value_error if the attribute names no numerics.
StatusOr<Numerics> numericsOf(mlir::Operation *op);

/// What a pass compiles a module for.
struct CompiledFor {
  std::shared_ptr<const Target> target;
  Numerics numerics;
};

/// The target and the numerics that a pass is given, `target` unless it is ""; else those of the module's attributes; else
/// the target `otherwise`, and fast numerics. On failure a diagnostic at the module says which name is none.
mlir::FailureOr<CompiledFor> compiledFor(mlir::ModuleOp module, llvm::StringRef target,
                                         std::optional<Numerics> numerics, llvm::StringRef otherwise = "host");
/// The same for a pass whose option `strict` asks for strict numerics.
inline mlir::FailureOr<CompiledFor> compiledFor(mlir::ModuleOp module, llvm::StringRef target, bool strict,
                                                llvm::StringRef otherwise = "host") {
  return compiledFor(module, target, strict ? std::optional(Numerics::strict()) : std::nullopt, otherwise);
}

} // namespace halftone::compiler
