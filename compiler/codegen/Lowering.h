// From emitted code to an object: expand-math, check-vocabulary, LLVM.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/codegen/KernelCompiler.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace halftone::compiler {

/// A context with the dialects of kernels, from linalg to LLVM, loaded; single-threaded: kernels compile side by side.
struct KernelContext : mlir::MLIRContext {
  KernelContext();
};

/// Collects the diagnostics of a context, to put them into a Status.
class DiagnosticText {
public:
  explicit DiagnosticText(mlir::MLIRContext *context);
  Status failure(std::string_view what) const; // internal_error: the text is ours

private:
  std::string text_;
  mlir::ScopedDiagnosticHandler handler_;
};

/// The code of `module`, whose functions are in the vocabulary of kernels' code or math, made by a machine of `target`; leaves it
/// in the LLVM dialect. The module is verified before, between and after MLIR's passes if there are dumps, and always if so
/// configured in CMake (HALFTONE_VERIFY_STAGES).
StatusOr<std::string> lowerToCode(mlir::ModuleOp module, const Target &target, MachineCode &machine,
                                  const DiagnosticText &diagnostics, KernelDumps *dumps = nullptr);

} // namespace halftone::compiler
