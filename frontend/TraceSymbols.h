// The variables and constants of one trace: symbols declared once, literals as attributes. Included by Trace*.cpp only.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/Variables.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <set>
#include <span>

namespace halftone::detail {

class TraceSymbols {
public:
  explicit TraceSymbols(mlir::MLIRContext &context) : context_(context) {}
  /// The symbol of `variable` in `module`, declared in front of the functions at its first use.
  std::string declare(mlir::ModuleOp module, const std::shared_ptr<VariableImpl> &variable);
  mlir::DenseElementsAttr splat(mlir::RankedTensorType type, double value);
  /// From raw row-major bytes; bool is one byte an element.
  mlir::DenseElementsAttr literal(mlir::RankedTensorType type, std::span<const std::byte> bytes);
  const std::vector<std::pair<std::string, std::shared_ptr<VariableImpl>>> &variables() const { return variables_; }

private:
  mlir::MLIRContext &context_;
  std::map<const VariableImpl *, std::string> names_;
  std::set<std::string> used_;
  std::vector<std::pair<std::string, std::shared_ptr<VariableImpl>>> variables_;
};

} // namespace halftone::detail
