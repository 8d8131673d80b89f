// Functions of float64 tensors whose derivatives are compared with finite differences. The interpreter runs both.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/Compiler.h"
#include "dialect/Interpreter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <catch2/catch.hpp>

namespace halftone::compiler::testing {

/// A scalar function of float64 tensors. `body` computes %loss from %x0, %x1, ... of these shapes ("3x4x"; "" for a
/// scalar).
struct ScalarFunction {
  std::string name;
  std::vector<std::string> shapes;
  std::string body;
};

/// A module that is lowered to stage pure and interpreted in that stage.
class Differentiated {
public:
  explicit Differentiated(const std::string &text);
  std::vector<dialect::TensorData> run(const std::vector<dialect::TensorData> &feeds);
  dialect::TensorData tensor(llvm::ArrayRef<int64_t> shape, const std::vector<double> &values);
  dialect::VariableValues variables;

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// The text of @main, which returns the loss and its derivative by each argument.
std::string text(const ScalarFunction &function);
/// %loss as the sum of squares of %y of this shape, over these axes (": 0, 1").
std::string squares(const std::string &shape, const std::string &axes);
/// The loss and its derivatives for random arguments from -1 to 1.
std::vector<dialect::TensorData> derivatives(const ScalarFunction &function);
/// Compares the derivatives with finite differences of the loss.
void checkDerivatives(const ScalarFunction &function);

} // namespace halftone::compiler::testing
