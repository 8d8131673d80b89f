// Interprets @main of one module after another on the same feeds and variables, for --check-passes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The results of @main for each draw of inputs: fetches by their places, variables by their names.
using Outcome = std::vector<std::map<std::string, halftone::dialect::TensorData>>;

class Interpretations {
public:
  /// The outcome of the module, or the reason why it has none. Feeds and variables are random, and the same ones for
  /// the same name and type. In small modules there are three draws: two of usual numbers, and one that has infinities, NaNs, zeros
  /// of both signs and the extremes of each dtype. Slots have no negative elements. If there are gradients, a copy of the module is differentiated first.
  halftone::StatusOr<Outcome> of(mlir::ModuleOp module, bool intervals);

private:
  halftone::StatusOr<std::map<std::string, halftone::dialect::TensorData>> draw(mlir::ModuleOp module, int number,
                                                                                bool intervals);
  const halftone::dialect::TensorData &input(const std::string &name, mlir::RankedTensorType type, int number);

  std::map<std::string, halftone::dialect::TensorData> inputs;
};

/// The first difference between two outcomes, as "changes fetch 0, element 3, from 1 to 2"; "" if there is none. With
/// `intervals`, the elements found must lie in those expected. Results that one side lacks are not compared.
std::string differenceBetween(const Outcome &expected, const Outcome &found, bool intervals);
