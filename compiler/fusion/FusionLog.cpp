// Formats the log of fusion rules as the lines of a report.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/FusionLog.h"
#include "compiler/reports/LayerPath.h"
#include "llvm/ADT/StringExtras.h"
#include <fmt/format.h>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// "add [net/dense]"
static std::string nameOf(Operation *op) {
  const StringRef path = layerPathOf(op->getLoc());
  return op->getName().stripDialect().str() + (path.empty() ? "" : " [" + path.str() + "]");
}

void FusionLog::started(Operation *op, StringRef rule) {
  applied(op, rule);
  notes[op].isStart = true;
}

void FusionLog::applied(Operation *op, StringRef rule) {
  SmallVector<StringRef, 2> &rules = notes[op].rules;
  if (rules.empty() || rules.back() != rule)
    rules.push_back(rule);
}

void FusionLog::declined(Operation *op, StringRef rule, StringRef reason) {
  std::vector<std::string> &reasons = notes[op].reasons;
  std::string text = fmt::format("{}: {}", rule.str(), reason.str());
  if (!llvm::is_contained(reasons, text))
    reasons.push_back(std::move(text));
}

void FusionLog::keptStored(Operation *op, StringRef rule, StringRef reason) {
  notes[op].stored = fmt::format("{}: {}", rule.str(), reason.str());
}

void FusionLog::declined(Operation *op, FusionGroupId group, StringRef rule, std::string reason) {
  std::vector<Separation> &separations = notes[op].separations;
  std::erase_if(separations, [&](const Separation &each) { return each.group == group && each.rule == rule; });
  separations.push_back({group, rule, fmt::format("{}: {}: {}", nameOf(op), rule.str(), reason)});
}

void FusionLog::declined(FusionGroupId group, FusionGroupId other, StringRef rule, std::string reason) {
  separations[group].push_back({other, rule, fmt::format("{}: {}", rule.str(), reason)});
}

void FusionLog::replaced(Operation *op, Operation *by) {
  Notes moved = std::move(notes[op]);
  notes[by] = std::move(moved);
}

/// The group that now contains the ops of `group`.
FusionGroupId FusionLog::resolved(FusionGroupId group) {
  FusionGroupId last = group;
  for (auto into = mergedInto.find(last); into != mergedInto.end(); into = mergedInto.find(last))
    last = into->second;
  while (group != last) // path compression
    group = std::exchange(mergedInto[group], last);
  return last;
}

void FusionLog::finish(const FusionGraph &graph) {
  llvm::DenseMap<FusionGroupId, std::vector<Separation>> both;
  const auto add = [&](FusionGroupId group, const Separation &each) {
    const FusionGroupId other = resolved(each.group);
    if (group == other)
      return;
    both[group].push_back({other, each.rule, each.reason});
    both[other].push_back({group, each.rule, each.reason});
  };
  for (FusionGroupId id = 0; id < graph.size(); ++id) {
    if (auto found = separations.find(id); found != separations.end())
      for (const Separation &each : found->second)
        add(resolved(id), each);
    for (Operation *op : graph.group(id).ops)
      if (auto found = notes.find(op); found != notes.end())
        for (const Separation &each : found->second.separations)
          add(id, each);
  }
  separations = std::move(both);
}

std::vector<std::string> FusionLog::linesOf(FusionGroupId group, const KernelBody &body,
                                            llvm::function_ref<std::string(FusionGroupId)> siteOf) const {
  std::vector<std::string> lines, starts, stored;
  for (Operation *op : body.ops) {
    const bool isOwn = body.own.contains(op);
    const auto found = notes.find(op);
    const std::string rules = found == notes.end() ? "" : llvm::join(found->second.rules, ", ");
    lines.push_back(fmt::format("{} {}{}{}", isOwn ? "op" : "clone", nameOf(op), rules.empty() ? "" : ": ", rules));
    if (!isOwn || found == notes.end())
      continue;
    if (!found->second.stored.empty())
      stored.push_back(fmt::format("store {}: {}", nameOf(op), found->second.stored));
    if (!found->second.isStart)
      continue;
    for (const std::string &reason : found->second.reasons)
      starts.push_back(fmt::format("start {}: {}", nameOf(op), reason));
  }
  llvm::append_range(lines, starts);
  llvm::append_range(lines, stored);
  constexpr size_t maxNeighbors = 16;
  const auto neighbors = separations.find(group);
  if (neighbors == separations.end())
    return lines;
  for (const Separation &each : ArrayRef(neighbors->second).take_front(maxNeighbors))
    lines.push_back(fmt::format("not fused with \"{}\": {}", siteOf(each.group), each.reason));
  if (neighbors->second.size() > maxNeighbors)
    lines.push_back(fmt::format("not fused with {} more", neighbors->second.size() - maxNeighbors));
  return lines;
}

} // namespace halftone::compiler
