// Sums and means over the processes that run a traced step together (Trace::sharedBatch).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <cstdint>
#include <functional>
#include <vector>

namespace halftone::detail {

/// The sum over processes; x itself in a step of one process.
Value sumOverProcesses(const Value &x);
/// The same of a number of rows, or of their values: a process without rows adds 0.
Value sumOfRows(const Value &x);
/// The mean over processes. Each process counts once, however many rows it has.
Value meanOverProcesses(const Value &x);
/// The part of this process in a mean over all rows, so that meanOverProcesses() of it is that mean: `meanOfOwnRows` times
/// the rows of this process, divided by the mean count of rows.
Value partOfMean(const Value &meanOfOwnRows);
/// The same of a sum over all rows: `sumOfOwnRows` times the count of processes; 0 in a process without rows.
Value partOfSum(const Value &sumOfOwnRows);
/// The mean over all rows, of the means over each process's `ownRows` rows. Layers may call it: it needs no value from
/// outside of their call. A process without rows counts the row that it computes.
Value meanOfParts(const Value &meanOfOwnRows, int64_t ownRows);
/// The rows of all processes, in each of them: its own are those of `x`. x itself in a step of one process.
Value joinedRows(const Value &x);
/// Whether `f` of values with a row for each of the batch has not a row for each, in a batch that processes share: then its
/// result is that of joinedRows(). `f` is traced two more times.
bool joinsRows(const std::vector<Value> &values, const std::function<Value(const std::vector<Value> &)> &f);
/// Whether a bool scalar holds in all processes.
Value holdsInAll(const Value &holds);
/// The count of rows of the batch, of all processes, as a scalar like `like`; `ownRows` in a step of one process.
Value rowsOfAll(int64_t ownRows, const Value &like);

} // namespace halftone::detail
