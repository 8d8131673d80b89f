// A plan as text.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/Executable.h"
#include "runtime/base/PrintableText.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace halftone {

std::string_view name(CollectiveKind kind) {
  constexpr std::array names{"all_reduce sum", "all_reduce max", "reduce_scatter", "all_gather"};
  return names[static_cast<size_t>(kind)];
}

namespace {

std::string printSlot(const Executable &exe, const Slot &slot) {
  auto nameIn = [&](auto &list, auto name) -> std::string {
    return slot.index >= 0 && slot.index < static_cast<int64_t>(list.size()) ? name(list[slot.index]) : "?";
  };
  auto parameter = [](const Parameter &p) { return fmt::format("\"{}\"", printable(p.name)); };
  switch (slot.kind) {
  case SlotKind::arena:
    return fmt::format("arena +{}", slot.index);
  case SlotKind::variable:
    return "variable " + nameIn(exe.variables, [](const VariableSlot &v) {
             return fmt::format("@{} {}", printable(v.symbol), printable(v.path));
           });
  case SlotKind::shadow:
    return "shadow " + nameIn(exe.shadows, [](const ShadowSlot &s) { return "@" + printable(s.symbol); });
  case SlotKind::feed:
    return fmt::format("feed {} {}", slot.index, nameIn(exe.signature.feeds, parameter));
  case SlotKind::fetch:
    return fmt::format("fetch {} {}", slot.index, nameIn(exe.signature.fetches, parameter));
  case SlotKind::constant:
    return fmt::format("constant {}", slot.index);
  }
  return "?";
}

std::string slotList(std::span<const SlotId> slots) {
  std::string text;
  for (SlotId slot : slots)
    text += fmt::format("{}s{}", text.empty() ? "" : ", ", slot);
  return "(" + text + ")";
}

std::string condition(const std::optional<Predicate> &predicate) {
  return predicate ? fmt::format(" if {}s{}", predicate->negated ? "not " : "", predicate->slot) : "";
}

std::string printStep(const Executable &exe, const LaunchStep &launch) {
  const std::span<const SlotId> slots(launch.buffers);
  const auto operands = static_cast<size_t>(std::clamp<int64_t>(launch.operandCount, 0, std::ssize(slots)));
  std::string text = fmt::format("{}{} {} -> {} grid {}", launch.joined ? "with " : "", printable(launch.kernel),
                                 slotList(slots.first(operands)), slotList(slots.subspan(operands)), launch.grid);
  if (!launch.extents.empty())
    text += fmt::format(" extents {}", launch.extents);
  if (launch.scratchBytes > 0)
    text += fmt::format(" scratch {}", launch.scratchBytes);
  text += condition(launch.predicate) + fmt::format(" cost {:.1f} us", launch.cost / 1000);
  if (launch.site >= 0 && launch.site < static_cast<int64_t>(exe.sites.size()))
    text += " // " + exe.sites[launch.site].text;
  return text;
}

std::string printStep(const Executable &, const CopyStep &copy) {
  std::string from = copy.from < 0 ? "zero" : fmt::format("copy s{}", copy.from);
  return fmt::format("{} -> s{}{}", from, copy.to, condition(copy.predicate));
}

std::string printStep(const Executable &, const CollectiveStep &collective) {
  return fmt::format("{} {} -> {}", name(collective.kind), slotList(collective.from), slotList(collective.to));
}

std::string printStep(const Executable &, const WaitStep &) { return "wait"; }

} // namespace

std::string print(const Executable &exe) {
  const Plan &plan = exe.plan;
  std::string text =
      fmt::format("plan {}: {} feeds, {} fetches, {} variables, {} kernels, arena {} bytes ({} live at most)\n",
                  printable(exe.name), exe.signature.feeds.size(), exe.signature.fetches.size(), exe.variables.size(),
                  exe.kernels.size(), plan.arenaBytes, plan.largestLiveBytes);
  for (size_t i = 0; i < plan.slots.size(); ++i)
    text += fmt::format("  s{}: {} {}\n", i, printSlot(exe, plan.slots[i]), plan.slots[i].type.str());
  for (const ShadowSlot &shadow : exe.shadows)
    text += fmt::format("  @{}: {}, else {}\n", printable(shadow.symbol),
                        shadow.written ? "written with its variable" : "only read", printStep(exe, shadow.refresh));
  for (const auto &[key, kernel] : exe.kernels)
    text += fmt::format("  {}: {}{}{}\n", printable(key), printable(kernel.kind), kernel.method.empty() ? "" : ", ",
                        printable(kernel.method));
  for (size_t i = 0; i < plan.steps.size(); ++i)
    text += fmt::format("{}: {}\n", i, std::visit([&](auto &step) { return printStep(exe, step); }, plan.steps[i]));
  return text;
}

} // namespace halftone
