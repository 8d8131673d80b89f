// The processes of a distributed run, and their collective host work.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Distribution.h"
#include "halftone/Tensor.h"
#include "runtime/communication/ProcessGroup.h"
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::detail {

/// The processes of the distribution; null if this process runs alone.
std::shared_ptr<ProcessGroup> processGroup();
/// Returns true if this process prints and writes files: rank 0, or a process that runs alone.
bool isFirstProcess();

/// The rows [first, last) of a batch of `rows` rows that the process computes. A surplus process has none.
struct RowRange {
  int64_t first = 0, last = 0;
  int64_t count() const { return last - first; }
};
RowRange rowsOf(int64_t rows, int64_t rank, int64_t processes);
RowRange ownRows(int64_t rows);

/// A fact on which all processes must agree, with a human-readable name: {"variable 3", "dense/kernel (784, 128)
/// float32"}.
using Fact = std::pair<std::string, std::string>;
/// Adds the text of a program, one fact per line.
void addLines(std::string_view text, std::vector<Fact> &facts);
/// Checks that all processes have the same facts. value_error, the same in all processes, with the first fact that
/// differs from that of rank 0, and both values.
void requireAgreement(ProcessGroup &group, const std::vector<Fact> &facts);
/// Runs `write` on rank 0, and returns on all processes once the files exist. An Error of `write` is thrown on all
/// processes.
void writeInFirst(const std::function<void()> &write);
/// A barrier: returns once all processes have called it with the same name. If names differ, the error states two of
/// them.
void meet(std::string_view name);
/// Gathers the rows of all processes; `own` holds the rows of this process. `rows` is the total number of rows.
/// value_error if `own` does not have one row per row of the process, or the dummy row of a process without rows.
Tensor gatherRowsOfAll(ProcessGroup &group, const Tensor &own, int64_t rows);

} // namespace halftone::detail
