// Finds the live ranges of arena slots and draws them as rectangles.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/ArenaChart.h"
#include "frontend/base/ReportWords.h"
#include "frontend/report/Markup.h"
#include "runtime/plan/RepeatRules.h"
#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace halftone::detail {

namespace {

constexpr double left = 76, right = 940, top = 18, bottom = 318;

/// Returns true if a step has its own time on the chart. The parts of a launch share one time, and a repeat is
/// represented by its steps.
bool hasTime(const Step &step) {
  const auto *launch = std::get_if<LaunchStep>(&step);
  return launch ? !launch->joined : !std::holds_alternative<RepeatStep>(step);
}

/// A repeat whose body is being visited. A value that is live into or out of an iteration is live during the whole
/// repeat.
struct OpenRepeat {
  size_t end; // index after the body
  int64_t first, last;
};

int64_t stepsOf(const Plan &plan) { return std::ranges::count_if(plan.steps, hasTime); }

std::string writerText(const Executable &executable, size_t step) {
  const auto *launch = std::get_if<LaunchStep>(&executable.plan.steps[step]);
  if (std::holds_alternative<CollectiveStep>(executable.plan.steps[step]))
    return "a collective of all processes";
  if (!launch)
    return "a copy";
  return launch->site < 0 ? launch->kernel : executable.sites[static_cast<size_t>(launch->site)].text;
}

} // namespace

std::vector<ArenaSpan> arenaSpans(const Plan &plan) {
  std::vector<ArenaSpan> bySlot(plan.slots.size());
  std::vector<OpenRepeat> open;
  std::vector<int64_t> counts;
  int64_t now = -1;
  for (size_t step = 0; step < plan.steps.size(); ++step) {
    for (; !open.empty() && open.back().end <= step; open.pop_back())
      counts.pop_back();
    now += hasTime(plan.steps[step]);
    for (const TouchedSlot &touched : slotsOf(plan.steps[step])) {
      const Slot &slot = plan.slots[static_cast<size_t>(touched.slot)];
      ArenaSpan &span = bySlot[static_cast<size_t>(touched.slot)];
      if (slot.kind != SlotKind::arena || slot.type.bytes() == 0)
        continue;
      const SlotHull hull = hullOf(slot, counts);
      if (span.slot < 0)
        span = {touched.slot, slot.index + hull.begin, hull.end - hull.begin, now, now, step};
      span.last = std::max(span.last, now);
      for (const OpenRepeat &repeat : open)
        if (span.first < repeat.first || !slot.strides.empty()) {
          span.first = std::min(span.first, repeat.first);
          span.last = std::max(span.last, repeat.last);
        }
    }
    if (auto *repeat = std::get_if<RepeatStep>(&plan.steps[step])) {
      const size_t end = plan.bodyEnd(step);
      const auto body = std::ranges::subrange(plan.steps.begin() + static_cast<std::ptrdiff_t>(step) + 1,
                                              plan.steps.begin() + static_cast<std::ptrdiff_t>(end));
      open.push_back({end, now + 1, now + std::ranges::count_if(body, hasTime)});
      counts.push_back(repeat->count);
    }
  }
  std::erase_if(bySlot, [](const ArenaSpan &span) { return span.slot < 0; });
  // A value that reuses another value's bytes in place has the same byte range, so touching spans are merged.
  std::ranges::sort(bySlot, {}, [](const ArenaSpan &span) { return std::tuple(span.offset, span.bytes, span.first); });
  std::vector<ArenaSpan> spans;
  for (const ArenaSpan &span : bySlot) {
    if (!spans.empty() && spans.back().offset == span.offset && spans.back().bytes == span.bytes &&
        spans.back().last >= span.first)
      spans.back().last = std::max(spans.back().last, span.last);
    else
      spans.push_back(span);
  }
  return spans;
}

std::string arenaSvg(const Executable &executable) {
  const Plan &plan = executable.plan;
  const std::vector<ArenaSpan> spans = arenaSpans(plan);
  const auto steps = static_cast<double>(std::max<int64_t>(1, stepsOf(plan)));
  const auto bytes = static_cast<double>(std::max<int64_t>(1, plan.arenaBytes));
  const auto x = [&](int64_t step) { return left + (right - left) * static_cast<double>(step) / steps; };
  const auto y = [&](int64_t offset) { return bottom - (bottom - top) * static_cast<double>(offset) / bytes; };
  std::string svg = "<svg class=\"chart arena\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"960\" "
                    "height=\"360\" viewBox=\"0 0 960 360\">\n<title>Bytes of the arena over the launches</title>\n";
  for (int64_t quarter = 0; quarter <= 4; ++quarter) {
    const int64_t offset = plan.arenaBytes / 4 * quarter + (quarter == 4 ? plan.arenaBytes % 4 : 0);
    svg += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text class=\"faint\" x=\"{}\" y=\"{:.1f}\" "
                       "text-anchor=\"end\">{}</text>\n",
                       left, y(offset), right, left - 7, y(offset) + 4, sizeText(offset));
  }
  for (const ArenaSpan &span : spans) {
    const double width = std::max(0.4, x(span.last + 1) - x(span.first));
    const double height = std::max(0.4, y(span.offset) - y(span.offset + span.bytes));
    svg +=
        fmt::format("<rect class=\"span {}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>{}, "
                    "{}, launches {} to {}: {}</title></rect>\n",
                    name(plan.slots[static_cast<size_t>(span.slot)].type.dtype), x(span.first),
                    y(span.offset + span.bytes), width, height, plan.slots[static_cast<size_t>(span.slot)].type.str(),
                    sizeText(span.bytes), span.first + 1, span.last + 1, escaped(writerText(executable, span.writer)));
  }
  svg += fmt::format("<text class=\"faint\" x=\"{}\" y=\"{}\">launch 1</text><text class=\"faint\" x=\"{}\" y=\"{}\" "
                     "text-anchor=\"end\">launch {:.0f}</text>\n",
                     left, bottom + 20, right, bottom + 20, steps);
  return svg + "</svg>\n";
}

} // namespace halftone::detail
