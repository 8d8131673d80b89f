// The variables and literals of one trace, as symbols and attributes. Included only by Trace*.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Variables.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <set>
#include <span>

namespace halftone::detail {

class TraceSymbols {
public:
  explicit TraceSymbols(mlir::MLIRContext &context) : context_(context) {}
  /// The symbol of `variable` in `module`. The first use declares it before the functions.
  std::string declare(mlir::ModuleOp module, const std::shared_ptr<VariableImpl> &variable);
  /// The type of a value. type_error for a dtype without arithmetic; value_error for an unknown extent, and for more
  /// than 2^56 bytes, so that neither products of extents nor sums of a few sizes overflow.
  mlir::RankedTensorType type(const Shape &shape, DType dtype);
  mlir::DenseElementsAttr splat(mlir::RankedTensorType type, const Number &value);
  /// The attribute for raw row-major bytes; a bool is one byte.
  mlir::DenseElementsAttr literal(mlir::RankedTensorType type, std::span<const std::byte> bytes);
  /// `name` or, if it is taken, for example by another output of the same layer, "<name>_1" and so on.
  std::string fetchName(const std::string &name);
  const std::vector<std::pair<std::string, std::shared_ptr<VariableImpl>>> &variables() const { return variables_; }

private:
  mlir::MLIRContext &context_;
  std::map<const VariableImpl *, std::string> names_;
  std::set<std::string> used_, fetchNames_;
  std::map<std::string, int64_t> fetchesNamed_; // by taken name
  std::vector<std::pair<std::string, std::shared_ptr<VariableImpl>>> variables_;
};

} // namespace halftone::detail
