// The meaning of every op as a slow, exact program: what the compiled code is checked against.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "runtime/base/Status.h"
#include <map>
#include <string>
#include <vector>

namespace halftone::dialect {

/// Elements of one tensor. Floats are doubles holding exactly representable values of the type, integers and bools int64
/// (ui64 by its bits). Row-major. In interval mode `low` and `high` bound each float element; otherwise they are equal.
struct TensorData {
  mlir::RankedTensorType type;
  std::vector<double> low, high; // floats
  std::vector<int64_t> integers; // integers and bools
  bool isFloat() const;
  int64_t size() const { return type.getNumElements(); }
  /// Raw row-major bytes as the runtime stores them (bool one byte), and back.
  static TensorData fromBytes(mlir::RankedTensorType type, const void *bytes);
  std::string toBytes() const; // of `low`
};

struct InterpreterOptions {
  /// Each op's result is widened by what its declared rounding and summation order may do, so that any legal compiled
  /// result lies inside.
  bool intervals = false;
};

/// Values of variables by symbol name.
using VariableValues = std::map<std::string, TensorData>;

/// Runs @main of a module in a stage from graph to kernel: `feeds` in the order of the feed arguments; fetches come back in
/// order, and `variables` is updated (by `assign`, or by the results tied to variables). Nothing changes on error.
StatusOr<std::vector<TensorData>> interpret(mlir::ModuleOp module, const std::vector<TensorData> &feeds,
                                            VariableValues &variables, const InterpreterOptions &options = {});

/// Runs one kernel on its operands: what --compare does launch by launch.
StatusOr<std::vector<TensorData>> interpretKernel(KernelOp kernel, const std::vector<TensorData> &operands,
                                                  const InterpreterOptions &options = {});

} // namespace halftone::dialect
