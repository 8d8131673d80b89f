// Interprets @main of successive modules on the same feeds and variables, for --check-passes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The results of @main for each draw of inputs: fetches by index, variables by name.
using Outcome = std::vector<std::map<std::string, halftone::dialect::TensorData>>;

class Interpretations {
public:
  /// Returns the outcome of the module, or the reason why there is none. Feeds and variables are random and depend only
  /// on name and type. Small modules get three draws: two with ordinary values, and one with infinities, NaNs, zeros of
  /// both signs and the extremes of each dtype. Slots have no negative elements. If there are gradients, a copy of the
  /// module is differentiated first.
  halftone::StatusOr<Outcome> of(mlir::ModuleOp module, bool intervals);

private:
  halftone::StatusOr<std::map<std::string, halftone::dialect::TensorData>> draw(mlir::ModuleOp module, int number,
                                                                                bool intervals);
  const halftone::dialect::TensorData &input(const std::string &name, mlir::RankedTensorType type, int number);

  std::map<std::string, halftone::dialect::TensorData> inputs;
};

/// The first difference between two outcomes, such as "changes fetch 0, element 3, from 1 to 2"; "" if there is none.
/// With `intervals`, the found elements must lie within the expected ones. Results missing on one side are not
/// compared.
std::string differenceBetween(const Outcome &expected, const Outcome &found, bool intervals);
