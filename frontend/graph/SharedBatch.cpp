// Records what processes exchange in a step.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/SharedBatch.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Ops.h"

namespace halftone::detail {

Value sumOverProcesses(const Value &x) {
  return tracing().sharedBatch ? tracing().allReduce(CollectiveKind::sum, x) : x;
}

/// 0 in a process without rows.
static Value ofRows(const SharedBatch &shared, const Value &x) {
  const Value isNone = ops::equal(shared.rows, ops::zeros_like(shared.rows));
  return ops::where(isNone, ops::zeros_like(x), x);
}

Value sumOfRows(const Value &x) {
  const std::optional<SharedBatch> &shared = tracing().sharedBatch;
  return shared ? sumOverProcesses(ofRows(*shared, x)) : x;
}

Value meanOverProcesses(const Value &x) {
  const std::optional<SharedBatch> &shared = tracing().sharedBatch;
  return shared ? sumOverProcesses(x) / static_cast<double>(shared->processes) : x;
}

/// If all processes have as many rows, the factor is exactly 1.
Value partOfMean(const Value &meanOfOwnRows) {
  const std::optional<SharedBatch> &shared = tracing().sharedBatch;
  if (!shared)
    return meanOfOwnRows;
  const Value factor = shared->rows * static_cast<double>(shared->processes) / shared->allRows;
  return meanOfOwnRows * asDtype(factor, meanOfOwnRows.dtype(), "shared batch");
}

Value meanOfParts(const Value &meanOfOwnRows, int64_t ownRows) {
  if (!tracing().sharedBatch)
    return meanOfOwnRows;
  const double rows = static_cast<double>(ownRows);
  const Value all = sumOverProcesses(tracing().splat(rows, {}, meanOfOwnRows.dtype()));
  return sumOverProcesses(meanOfOwnRows * rows) / all;
}

Value partOfSum(const Value &sumOfOwnRows) {
  const std::optional<SharedBatch> &shared = tracing().sharedBatch;
  return shared ? ofRows(*shared, sumOfOwnRows * static_cast<double>(shared->processes)) : sumOfOwnRows;
}

Value rowsOfAll(int64_t ownRows, const Value &like) {
  const std::optional<SharedBatch> &shared = tracing().sharedBatch;
  return shared ? asDtype(shared->allRows, like.dtype(), "shared batch")
                : scalarLike(static_cast<double>(ownRows), like);
}

} // namespace halftone::detail
