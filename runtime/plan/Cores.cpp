// Checks which code may call which cores.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/Executable.h"
#include <fmt/format.h>
#include <set>

namespace halftone {

Status checkCores(const std::map<std::string, KernelCode> &kernels) {
  for (const auto &[key, kernel] : kernels) {
    const auto bad = [&key = key, &kernel = kernel](const std::string &core, std::string_view why) {
      return Status(ErrorKind::value_error,
                    fmt::format("{} {} uses {}, {}", kernel.isCore() ? "core" : "kernel", key, core, why));
    };
    std::set<std::string_view> symbols;
    for (const std::string &used : kernel.uses) {
      const auto core = kernels.find(used);
      if (kernel.isCore())
        return bad(used, "and a core uses no other");
      if (core == kernels.end())
        return bad(used, "which is missing");
      if (!core->second.isCore())
        return bad(used, fmt::format("a kernel of kind '{}'; expected a core", core->second.kind));
      if (core->second.target != kernel.target)
        return bad(used, "a core for another target");
      if (!symbols.insert(core->second.symbol).second)
        return bad(used, fmt::format("the second core with the symbol '{}'", core->second.symbol));
    }
  }
  return {};
}

} // namespace halftone
