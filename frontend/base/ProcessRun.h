// The processes with which this one runs, and work that they do together on the host.
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

/// The processes of the distribution; null if this process is alone.
std::shared_ptr<ProcessGroup> processGroup();
/// Whether this process prints and writes files: rank 0, or a process alone.
bool isFirstProcess();

/// Rows of a batch of `rows` that the process computes: those from `first` to `last`. A process of too many has none.
struct RowRange {
  int64_t first = 0, last = 0;
  int64_t count() const { return last - first; }
};
RowRange rowsOf(int64_t rows, int64_t rank, int64_t processes);
RowRange ownRows(int64_t rows);

/// A fact in which all processes must agree, with a name for people: {"variable 3", "dense/kernel (784, 128) float32"}.
using Fact = std::pair<std::string, std::string>;
/// Adds the text of a program, a fact for each line.
void addLines(std::string_view text, std::vector<Fact> &facts);
/// value_error, the same in all processes, that names the first fact in which one differs from rank 0, with both sides.
void requireAgreement(ProcessGroup &group, const std::vector<Fact> &facts);
/// Runs `write` in rank 0, and returns in all processes once the files are there. An Error of `write` is thrown in all of them.
void writeInFirst(const std::function<void()> &write);
/// Returns once all processes have called it, with the same name: an error names those of two that differ.
void meet(std::string_view name);
/// The rows of all processes, each with its own in `own`. `rows` is the count of rows of all.
Tensor gatherRowsOfAll(ProcessGroup &group, const Tensor &own, int64_t rows);

} // namespace halftone::detail
