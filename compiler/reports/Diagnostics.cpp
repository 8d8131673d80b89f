// The bridge from MLIR's diagnostics to Status.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reports/Diagnostics.h"
#include "compiler/reports/LayerPath.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace halftone::compiler {

static StringRef severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Note:
    break;
  }
  return "note";
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context)
    : handler_(context, [this](Diagnostic &diagnostic) { add(diagnostic); }) {}

void DiagnosticCollector::add(Diagnostic &diagnostic) {
  auto write = [&](Diagnostic &part) {
    llvm::raw_string_ostream out(text_);
    if (FileLineColLoc line = sourceLineOf(part.getLocation()))
      out << line.getFilename().getValue() << ":" << line.getLine() << ":" << line.getColumn() << ": ";
    out << severityName(part.getSeverity()) << ": " << part.str();
    if (StringRef path = layerPathOf(part.getLocation()); !path.empty())
      out << " [layer " << path << "]";
    out << "\n";
  };
  write(diagnostic);
  for (Diagnostic &note : diagnostic.getNotes())
    write(note);
  if (sawError_ || diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return;
  sawError_ = true;
  message_ = diagnostic.str();
  layerPath_ = layerPathOf(diagnostic.getLocation()).str();
  if (FileLineColLoc line = sourceLineOf(diagnostic.getLocation())) {
    file_ = line.getFilename().str();
    line_ = line.getLine();
  }
}

Status DiagnosticCollector::toStatus(StringRef fallback, ErrorKind kind) const {
  return Status(kind, sawError_ ? message_ : fallback.str(), layerPath_, Where{file_.c_str(), line_}, text_);
}

Status DiagnosticCollector::check(LogicalResult result, StringRef fallback, ErrorKind kind) const {
  return failed(result) ? toStatus(fallback, kind) : Status::ok();
}

} // namespace halftone::compiler
