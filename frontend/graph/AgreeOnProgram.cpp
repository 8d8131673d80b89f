// Compares a traced function with those of the other processes.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/AgreeOnProgram.h"
#include "frontend/base/ProcessRun.h"
#include "runtime/PlanCollectives.h"
#include "runtime/base/Sha256.h"
#include <fmt/format.h>
#include <set>

namespace halftone::detail {

/// Returns true if processes that jointly update variables must have the same value of this one.
static bool isOfUpdate(const VariableImpl &variable, const std::set<const VariableImpl *> &updated) {
  using enum VariableRole;
  return updated.contains(&variable) || variable.role == slot || variable.role == iteration ||
         variable.role == learning_rate || variable.role == loss_scale;
}

static std::string digestOf(const StoredVariable &memory) {
  std::string bytes(static_cast<size_t>(memory.type().bytes()), '\0');
  memory.readBytes(std::as_writable_bytes(std::span(bytes))).orThrow();
  return sha256(bytes).substr(0, 16);
}

void agreeOnProgram(const Trace &trace, std::string_view text, const Executable &executable) {
  const std::shared_ptr<ProcessGroup> group = processGroup();
  if (!group)
    return;
  std::vector<Fact> facts{{"function", executable.name}};
  addLines(text, facts);
  for (const std::string &collective : PlanCollectives::names(executable.plan))
    facts.emplace_back("collective", collective);
  std::set<const VariableImpl *> updated;
  for (const std::shared_ptr<VariableImpl> &variable : trace.updated)
    updated.insert(variable.get());
  for (const auto &[symbol, variable] : trace.variables())
    if (isOfUpdate(*variable, updated))
      facts.emplace_back(fmt::format("the values of variable '{}'", variable->path), digestOf(*variable->memory));
  requireAgreement(*group, facts);
  for (const auto &[symbol, variable] : trace.variables())
    if (updated.contains(variable.get()) ||
        (variable->role == VariableRole::learning_rate && variable->name == "learning_rate"))
      variable->memory->watch();
}

} // namespace halftone::detail
