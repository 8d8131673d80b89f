// Tracks the metric whose code this thread traces.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/MetricCode.h"
#include "frontend/graph/Trace.h"
#include "halftone/Error.h"
#include <fmt/format.h>
#include <utility>

namespace halftone::detail {

static thread_local const MetricCode *innermostCode = nullptr;

MetricCode::MetricCode(Part part, const std::string &metric)
    : part_(part), metric_(metric), outer_(std::exchange(innermostCode, this)) {}
MetricCode::~MetricCode() { innermostCode = outer_; }

bool MetricCode::sumsOverProcesses(const VariableImpl &variable) {
  const Trace *trace = Trace::current();
  return innermostCode && innermostCode->part_ == Part::update && variable.role == VariableRole::metric && trace &&
         trace->sharedBatch;
}

void MetricCode::requireMayAdd(const VariableImpl &variable) {
  if (innermostCode && innermostCode->part_ == Part::result)
    throw Error(ErrorKind::value_error,
                fmt::format("result() of metric '{}' assigns the variable '{}': only update_state() may assign",
                            innermostCode->metric_, variable.path));
}
void MetricCode::requireMayAssign(const VariableImpl &variable) {
  requireMayAdd(variable);
  if (sumsOverProcesses(variable))
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("update_state() of metric '{}' calls assign() of the variable '{}' in a batch that several "
                            "processes share, where it sees only the rows of its own process: add their contribution "
                            "with assign_add(), which sums over the processes",
                            innermostCode->metric_, variable.path));
}

} // namespace halftone::detail
