// Records the exchanges between processes in a step.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/SharedBatch.h"
#include "frontend/base/ProcessRun.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

Value sumOverProcesses(const Value &x) {
  return tracing().sharedBatch ? tracing().allReduce(CollectiveKind::sum, x) : x;
}

/// Returns x, or zeros in a process without rows.
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

/// The factor is exactly 1 if all processes have the same number of rows.
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

/// Sums over processes: each contributes its rows at their offset, and zeros elsewhere. A process without rows adds its
/// dummy row as zeros, so that its loss depends on all variables too.
Value joinedRows(const Value &x) {
  const std::optional<SharedBatch> &shared = tracing().sharedBatch;
  if (!shared || !x.defined() || x.rank() == 0)
    return x;
  const bool isBool = x.dtype() == DType::bool_;
  const Value own = ofRows(*shared, isBool ? asDtype(x, DType::uint8, "shared batch") : x);
  const RowRange range = rowsOf(shared->wholeRows, shared->rank, shared->processes);
  const int64_t first = std::min(range.first, shared->wholeRows - own.shape()[0]);
  std::vector<Value> parts;
  const auto addZeros = [&](int64_t rows) {
    std::vector<int64_t> dims = x.shape().dims();
    dims[0] = rows;
    if (rows > 0)
      parts.push_back(tracing().splat(0.0, Shape(dims), own.dtype()));
  };
  addZeros(first);
  parts.push_back(own);
  addZeros(shared->wholeRows - first - own.shape()[0]);
  const Value all = sumOverProcesses(tracing().concat(parts, 0));
  return isBool ? asDtype(all, DType::bool_, "shared batch") : all;
}

bool joinsRows(const std::vector<Value> &values, const std::function<Value(const std::vector<Value> &)> &f) {
  if (!tracing().sharedBatch)
    return false;
  std::vector<ValueSpec> specs;
  for (const Value &value : values) {
    std::vector<int64_t> dims = value.shape().dims();
    if (dims.empty())
      return false; // no batch
    dims[0] = -1;
    specs.push_back({Shape(dims), value.dtype()});
  }
  const std::vector<ValueSpec> result =
      inferSpecs(specs, [&](const std::vector<Value> &traced) { return std::vector<Value>{f(traced)}; });
  return result.front().shape.rank() == 0 || result.front().shape[0] >= 0;
}

Value holdsInAll(const Value &holds) {
  if (!tracing().sharedBatch)
    return holds;
  const Value zero = tracing().splat(0.0, {}, DType::float32), one = tracing().splat(1.0, {}, DType::float32);
  return ops::equal(sumOverProcesses(ops::where(holds, zero, one)), zero);
}

/// The argument of distribution::sum() or mean(), in a dtype with addition.
static Value toAdd(const char *function, const Value &x) {
  if (!x.defined())
    throw Error(ErrorKind::value_error, fmt::format("distribution::{}() of an undefined Value", function));
  if (!Trace::current() || !x.node()->isTraced())
    throw Error(
        ErrorKind::runtime_error,
        fmt::format("distribution::{}() is for functions being traced: use it inside a jit function", function));
  return asNumber(x);
}
/// The sum over processes; x itself if the process runs alone.
static Value added(const Value &x) {
  if (!processGroup())
    return x;
  tracing().usesProcesses = true;
  return tracing().allReduce(CollectiveKind::sum, x);
}

Value rowsOfAll(int64_t ownRows, const Value &like) {
  const std::optional<SharedBatch> &shared = tracing().sharedBatch;
  return shared ? asDtype(shared->allRows, like.dtype(), "shared batch") : scalarLike(ownRows, like);
}

} // namespace halftone::detail

namespace halftone::distribution {
using namespace detail;

Value sum(const Value &x) { return added(toAdd("sum", x)); }
/// Sums in float32 at least, so that the sum does not overflow if the mean is representable.
Value mean(const Value &x) {
  Value own = asFloat(toAdd("mean", x));
  if (!processGroup())
    return own;
  return asDtype(added(atLeastFloat32(own)) / static_cast<double>(size()), own.dtype(), "distribution");
}

} // namespace halftone::distribution
