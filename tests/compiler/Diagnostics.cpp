// Conversion of MLIR diagnostics to Status.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reports/Diagnostics.h"
#include "compiler/reports/LayerPath.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace halftone;
using namespace halftone::compiler;

TEST_CASE("the first error becomes the message with its layer and line, and all errors stay as diagnostics") {
  MLIRContext context;
  Location dense = withLayerPath("net/dense", FileLineColLoc::get(&context, "train.cpp", 12, 3));
  DiagnosticCollector collector(&context);
  emitWarning(UnknownLoc::get(&context)) << "odd";
  CHECK_FALSE(collector.sawError());
  {
    InFlightDiagnostic error = emitError(dense) << "shapes differ";
    error.attachNote(UnknownLoc::get(&context)) << "seen from here";
  }
  emitError(UnknownLoc::get(&context)) << "and another";
  CHECK(collector.sawError());

  Status status = collector.toStatus("nothing said");
  CHECK(status.kind() == ErrorKind::compile_error);
  CHECK(status.message() == "shapes differ");
  CHECK(status.layerPath() == "net/dense");
  CHECK(status.str() == "CompileError: shapes differ\n  layer: net/dense\n  at: train.cpp:12");
  CHECK(status.diagnostics() == "warning: odd\n"
                                "train.cpp:12:3: error: shapes differ [layer net/dense]\n"
                                "note: seen from here\n"
                                "error: and another\n");
}

TEST_CASE("a failure without a word still has a message") {
  MLIRContext context;
  DiagnosticCollector collector(&context);
  CHECK(collector.check(success(), "the pass failed").isOk());
  Status status = collector.check(failure(), "the pass failed");
  REQUIRE_FALSE(status.isOk());
  CHECK(status.message() == "the pass failed");
  CHECK(status.layerPath().empty());
  CHECK(collector.toStatus("x", ErrorKind::internal_error).kind() == ErrorKind::internal_error);
}
