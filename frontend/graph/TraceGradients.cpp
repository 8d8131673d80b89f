// Finds the variables of gradients in the IR of a trace.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/TraceGradients.h"
#include "dialect/Dialect.h"
#include "frontend/graph/Trace.h"
#include <set>
#include <string_view>

namespace halftone::detail {

std::vector<bool> areReplacements(const std::vector<Value> &values) {
  std::set<std::string_view> replaced; // symbols of variables
  std::vector<bool> result(values.size());
  const Trace *trace = Trace::current();
  if (!trace)
    return result;
  for (const auto &[symbol, variable] : trace->variables())
    if (variable->update == UpdateKind::overwrite)
      replaced.insert(symbol);
  if (replaced.empty())
    return result;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].defined() || values[i].node()->trace.lock().get() != trace)
      continue;
    const auto value = mlir::Value::getFromOpaquePointer(values[i].node()->handle);
    auto gradient = value.getDefiningOp<dialect::GradientOp>();
    if (!gradient)
      continue;
    const mlir::ArrayAttr of = gradient.getOf(); // the results for other Values come after
    const unsigned index = mlir::cast<mlir::OpResult>(value).getResultNumber();
    if (index < of.size())
      result[i] = replaced.contains(mlir::cast<mlir::FlatSymbolRefAttr>(of[index]).getValue());
  }
  return result;
}

} // namespace halftone::detail
