// Prints plans.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/Executable.h"
#include "runtime/base/Extents.h"
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

std::vector<TouchedSlot> slotsOf(const Step &step) {
  std::vector<TouchedSlot> slots;
  const auto add = [&](std::span<const SlotId> ids, bool isWritten) {
    for (const SlotId id : ids)
      if (id >= 0)
        slots.push_back({id, isWritten});
  };
  if (auto *launch = std::get_if<LaunchStep>(&step)) {
    const std::span<const SlotId> buffers(launch->buffers);
    const auto operands = static_cast<size_t>(launch->operandCount);
    if (launch->predicate)
      add({&launch->predicate->slot, 1}, false);
    add(buffers.first(operands), false);
    add(buffers.subspan(operands), true);
  } else if (auto *copy = std::get_if<CopyStep>(&step)) {
    if (copy->predicate)
      add({&copy->predicate->slot, 1}, false);
    add({&copy->from, 1}, false);
    add({&copy->to, 1}, true);
  } else if (auto *collective = std::get_if<CollectiveStep>(&step)) {
    add(collective->from, false);
    add(collective->to, true);
  } else if (auto *repeat = std::get_if<RepeatStep>(&step); repeat && repeat->running) {
    add({&repeat->running->slot, 1}, false);
  }
  return slots;
}

size_t Plan::bodyEnd(size_t repeat) const {
  const int64_t rest = std::ssize(steps) - static_cast<int64_t>(repeat) - 1;
  return repeat + 1 + static_cast<size_t>(std::clamp<int64_t>(std::get<RepeatStep>(steps[repeat]).steps, 0, rest));
}

std::vector<int64_t> Plan::timesPlayed() const {
  std::vector<int64_t> times(steps.size(), 1);
  for (size_t i = 0; i < steps.size(); ++i)
    if (auto *repeat = std::get_if<RepeatStep>(&steps[i]); repeat && !repeat->running)
      for (size_t inner = i + 1; inner < bodyEnd(i); ++inner)
        times[inner] = extentProduct(times[inner], repeat->count);
  return times;
}

int64_t Plan::launches() const {
  const std::vector<int64_t> times = timesPlayed();
  int64_t launches = 0;
  for (size_t i = 0; i < steps.size(); ++i)
    if (auto *launch = std::get_if<LaunchStep>(&steps[i]); launch && !launch->joined)
      launches = extentSum(launches, times[i]);
  return launches;
}

namespace {

/// Returns text such as " +64 stride -32 stride 32 period 2 phase 1".
std::string printOffsets(const Slot &slot) {
  std::string text = slot.offset == 0 ? "" : fmt::format(" {:+}", slot.offset);
  for (const Stride &stride : slot.strides)
    text += fmt::format(" stride {}{}", stride.bytes,
                        stride.period ? fmt::format(" period {} phase {}", stride.period, stride.phase) : "");
  return text;
}

std::string printTensor(const Executable &exe, const Slot &slot) {
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

std::string printStep(const Executable &, const RepeatStep &repeat) {
  const std::string running =
      repeat.running ? fmt::format(" while {}s{}", repeat.running->negated ? "not " : "", repeat.running->slot) : "";
  return fmt::format("repeat {} times{}: {} steps", repeat.count, running, repeat.steps);
}

/// The repeat nesting depth of each step.
std::vector<size_t> depthsOf(const Plan &plan) {
  std::vector<size_t> depths;
  std::vector<size_t> ends; // of the enclosing repeats
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    std::erase_if(ends, [&](size_t end) { return end <= i; });
    depths.push_back(ends.size());
    if (std::holds_alternative<RepeatStep>(plan.steps[i]))
      ends.push_back(plan.bodyEnd(i));
  }
  return depths;
}

} // namespace

std::string print(const Executable &exe) {
  const Plan &plan = exe.plan;
  const auto cores = std::ranges::count_if(exe.kernels, [](const auto &kernel) { return kernel.second.isCore(); });
  std::string text =
      fmt::format("plan {}: {} feeds, {} fetches, {} variables, {} kernels{}, arena {} bytes ({} live at most)\n",
                  printable(exe.name), exe.signature.feeds.size(), exe.signature.fetches.size(), exe.variables.size(),
                  std::ssize(exe.kernels) - cores, cores ? fmt::format(", {} cores", cores) : "", plan.arenaBytes,
                  plan.largestLiveBytes);
  for (size_t i = 0; i < plan.slots.size(); ++i)
    text += fmt::format("  s{}: {}{} {}\n", i, printTensor(exe, plan.slots[i]), printOffsets(plan.slots[i]),
                        plan.slots[i].type.str());
  for (const ShadowSlot &shadow : exe.shadows)
    text += fmt::format("  @{}: {}, else {}\n", printable(shadow.symbol),
                        shadow.written ? "written with its variable" : "only read", printStep(exe, shadow.refresh));
  for (const auto &[key, kernel] : exe.kernels)
    text += fmt::format("  {}: {}{}{}\n", printable(key), printable(kernel.kind), kernel.method.empty() ? "" : ", ",
                        printable(kernel.method));
  const std::vector<size_t> depths = depthsOf(plan);
  for (size_t i = 0; i < plan.steps.size(); ++i)
    text += fmt::format("{}{}: {}\n", std::string(2 * depths[i], ' '), i,
                        std::visit([&](auto &step) { return printStep(exe, step); }, plan.steps[i]));
  return text;
}

} // namespace halftone
