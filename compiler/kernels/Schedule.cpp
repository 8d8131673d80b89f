// The interface of schedules, and parsing and printing of sizes among their parameters.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/Schedule.h"

#include "compiler/kernels/Schedule.cpp.inc"

namespace halftone::compiler {
using namespace mlir;

FailureOr<SmallVector<int64_t>> parseSizes(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  const auto parseSize = [&] { return parser.parseInteger(sizes.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize))
    return failure();
  return sizes;
}

void printSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  printer << "[";
  llvm::interleaveComma(sizes, printer);
  printer << "]";
}

InFlightDiagnostic emitUnexpected(ScheduleAttrInterface schedule, StringRef expected, Operation *kernel) {
  InFlightDiagnostic error = kernel->emitError() << "expected " << expected << ", got ";
  if (schedule)
    error << schedule;
  else
    error << "none";
  return error;
}

} // namespace halftone::compiler
