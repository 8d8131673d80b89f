// The bridge from MLIR's diagnostics to Status.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "runtime/base/Status.h"
#include <string>

namespace halftone::compiler {

/// Captures all diagnostics of a context while it lives, innermost collector first, and prints none.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);

  bool sawError() const { return sawError_; }
  /// Builds an error from the collected diagnostics. Its message is that of the first error, with that error's layer
  /// path and the user's line; `diagnostics()` is the text of all of them. Without an error, `fallback` is the message.
  Status toStatus(llvm::StringRef fallback, ErrorKind kind = ErrorKind::compile_error) const;
  /// Returns toStatus() if `result` failed, otherwise ok.
  Status check(llvm::LogicalResult result, llvm::StringRef fallback, ErrorKind kind = ErrorKind::compile_error) const;

private:
  void add(mlir::Diagnostic &diagnostic);

  bool sawError_ = false;
  std::string message_, layerPath_, file_, text_;
  unsigned line_ = 0;
  mlir::ScopedDiagnosticHandler handler_;
};

} // namespace halftone::compiler
