// Checks the limit on casts that are not fused.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/CastBudget.h"
#include <fmt/format.h>

namespace halftone::compiler {

Status checkCastBudget(const std::vector<LedgerRow> &rows, const CompileOptions &options) {
  if (!options.maxStandaloneCasts)
    return Status::ok();
  if (*options.maxStandaloneCasts < 0)
    return Status(ErrorKind::value_error,
                  fmt::format("max_standalone_casts is {}; expected a number of casts >= 0, or none",
                              *options.maxStandaloneCasts));
  const LedgerRow *first = nullptr;
  int64_t standalone = 0;
  std::string list;
  for (const LedgerRow &row : rows) {
    if (row.fused)
      continue;
    first = first ? first : &row;
    ++standalone;
    list += fmt::format("{}: {} > {}, {}\n", row.path.empty() ? "outside layers" : row.path, halftone::name(row.from),
                        halftone::name(row.to), row.value);
  }
  if (standalone <= *options.maxStandaloneCasts)
    return Status::ok();
  return Status(
      ErrorKind::compile_error,
      fmt::format("{} casts are standalone kernels; expected at most {}", standalone, *options.maxStandaloneCasts),
      first->path, {}, list);
}

} // namespace halftone::compiler
