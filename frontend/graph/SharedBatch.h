// Sums and means over the processes that run a traced step jointly (Trace::sharedBatch).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <cstdint>
#include <functional>
#include <vector>

namespace halftone::detail {

/// The sum over processes; x itself in a single-process step.
Value sumOverProcesses(const Value &x);
/// Like sumOverProcesses(), for a row count or per-row values: a process without rows adds 0.
Value sumOfRows(const Value &x);
/// The mean over processes, each with equal weight regardless of its number of rows.
Value meanOverProcesses(const Value &x);
/// This process's contribution to a mean over all rows, such that meanOverProcesses() of it is that mean:
/// `meanOfOwnRows` times the rows of this process, divided by the mean number of rows.
Value partOfMean(const Value &meanOfOwnRows);
/// Like partOfMean(), for a sum over all rows: `sumOfOwnRows` times the number of processes; 0 in a process without
/// rows.
Value partOfSum(const Value &sumOfOwnRows);
/// The mean over all rows, computed from the means over each process's `ownRows` rows. Layers may call it: it needs no
/// value from outside of their call. A process without rows counts the dummy row that it computes.
Value meanOfParts(const Value &meanOfOwnRows, int64_t ownRows);
/// Gathers the rows of all processes in each of them; `x` holds the rows of this process. Returns x itself in a
/// single-process step.
Value joinedRows(const Value &x);
/// Returns true if, in a batch that processes share, the result of `f` does not have one row per row of its arguments,
/// so that `f` must be computed on the result of joinedRows(). Traces `f` two more times.
bool joinsRows(const std::vector<Value> &values, const std::function<Value(const std::vector<Value> &)> &f);
/// Returns whether a bool scalar is true in all processes.
Value holdsInAll(const Value &holds);
/// The number of rows of the batch in all processes, as a scalar like `like`; `ownRows` in a single-process step.
Value rowsOfAll(int64_t ownRows, const Value &like);

} // namespace halftone::detail
