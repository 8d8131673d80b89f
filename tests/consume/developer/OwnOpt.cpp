// A third-party opt tool: Halftone's dialect and passes together with MLIR's own.
// SPDX-License-Identifier: Apache-2.0
#include <compiler/passes/Passes.h>
#include <dialect/Dialect.h>
#include <mlir/Tools/mlir-opt/MlirOptMain.h>
#include <mlir/Transforms/Passes.h>

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  halftone::compiler::registerStageDialects(registry);
  halftone::compiler::registerHalftonePasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "An opt tool of a third party\n", registry));
}
