// Language server for .mlir files: diagnostics, hover, definitions, for this dialect and MLIR's own.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  halftone::dialect::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
