// Small modules written as text, and tensors written as lists, for the tests of this folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Interpreter.h"
#include "dialect/TypeInference.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace halftone::dialect::testing {

/// One context for all tests: the dialect, func, arith and math.
mlir::MLIRContext *context();

/// Collects diagnostics in `messages` during its lifetime.
class Diagnostics {
public:
  Diagnostics();
  std::string messages;

private:
  mlir::ScopedDiagnosticHandler handler;
};

mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text);
mlir::RankedTensorType tensorType(const std::string &text); // "8xf32"

/// A tensor of a type such as "4xf16" with these elements.
TensorData reals(const std::string &type, const std::vector<double> &values);
TensorData wholes(const std::string &type, const std::vector<int64_t> &values);
TensorData interval(const std::string &type, const std::vector<double> &low, const std::vector<double> &high);

/// Runs @main, which must succeed.
std::vector<TensorData> run(mlir::ModuleOp module, const std::vector<TensorData> &feeds, bool intervals = false);
/// Runs `body` with arguments %0, %1, ... of the types of the feeds. The body ends with the definition of %y of type
/// `result`.
TensorData evaluate(const std::string &body, const std::string &result, const std::vector<TensorData> &feeds,
                    bool intervals = false);
/// Applies an op whose assembly is `op operands {attributes} : type`.
TensorData applyOp(const std::string &op, const std::vector<TensorData> &operands, bool intervals = false);

/// Returns true if the bits are equal: zeros are signed, and NaN equals NaN.
bool sameBits(double a, double b);

/// The largest difference, relative to 1 + |value|, between the gradients of the ops of @main and finite differences of
/// runs in f64. @main has one f64 result of any shape.
double gradientError(const std::string &text, const std::vector<TensorData> &feeds);

} // namespace halftone::dialect::testing
