// Assigns offsets in the arena: buffers whose live ranges do not overlap may share memory.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/AssignSlotsDraft.h"
#include "runtime/plan/Abi.h"
#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace halftone::compiler {

namespace {

/// The live range of a buffer, from the first step that touches it to the last, both included, so that operands and
/// results of a launch never share memory.
struct Interval {
  BufferId buffer = -1;
  int64_t first = -1, last = -1, bytes = 0, offset = -1;
};

/// A repeat, from the first step of its body to the last, and the buffers that its steps touch.
struct RepeatSpan {
  int64_t first, last = -1;
  std::map<BufferId, bool> touched{}; // true if an iteration reads a value that an earlier step left
};

std::vector<Interval> intervalsOf(const PlanDraft &draft) {
  std::vector<Interval> intervals(draft.buffers.size());
  std::vector<RepeatSpan> repeats; // inner repeats before outer ones
  std::vector<RepeatSpan> open;
  auto touch = [&](BufferId id, int64_t step, bool writes) {
    const bool moves = !draft.buffers[draft.holderOf(id)].strides.empty();
    id = draft.root(id);
    const Buffer &buffer = draft.buffers[id];
    if (buffer.kind != SlotKind::arena)
      return;
    for (RepeatSpan &repeat : open)
      repeat.touched.try_emplace(id, !writes).first->second |= moves;
    Interval &interval = intervals[id];
    if (interval.first < 0) {
      int64_t bytes = std::max<int64_t>(buffer.type.bytes(), 1);
      interval = {id, step, step, (bytes + bufferAlignment - 1) / bufferAlignment * bufferAlignment, -1};
    }
    interval.last = step;
  };
  int64_t time = -1; // the parts of one launch run at the same time
  for (const DraftStep &step : draft.steps) {
    if (step.repeats) {
      open.push_back({time + 1});
    } else if (step.endsRepeat) {
      open.back().last = time;
      repeats.push_back(std::move(open.back()));
      open.pop_back();
      continue;
    } else {
      time += !step.joined;
    }
    if (step.predicate)
      touch(step.predicate->value, std::max<int64_t>(time, 0), false);
    for (BufferId id : step.reads)
      touch(id, time, false);
    for (BufferId id : step.writes)
      touch(id, time, true);
  }
  // A value that is live across iterations, or into or out of the repeat, is live throughout the repeat.
  for (const RepeatSpan &repeat : repeats)
    for (auto [id, isFound] : repeat.touched)
      if (Interval &each = intervals[id]; isFound || each.first < repeat.first || each.last > repeat.last) {
        each.first = std::min(each.first, repeat.first);
        each.last = std::max(each.last, repeat.last);
      }
  std::erase_if(intervals, [](const Interval &interval) { return interval.first < 0; });
  return intervals;
}

/// Ranges of offsets; adjacent ranges are merged.
class Runs {
public:
  void add(int64_t begin, int64_t end) {
    auto next = runs.upper_bound(begin);
    if (next != runs.begin() && std::prev(next)->second >= begin)
      --next;
    while (next != runs.end() && next->first <= end) {
      begin = std::min(begin, next->first);
      end = std::max(end, next->second);
      next = runs.erase(next);
    }
    runs[begin] = end;
  }
  void appendTo(std::vector<std::pair<int64_t, int64_t>> &taken) const {
    taken.insert(taken.end(), runs.begin(), runs.end());
  }

private:
  std::map<int64_t, int64_t> runs; // end by begin
};

/// The occupied offsets by time: a segment tree over the times.
class Occupancy {
public:
  explicit Occupancy(int64_t times) : times(std::bit_ceil(static_cast<uint64_t>(times))), nodes(2 * this->times) {}

  void add(const Interval &placed) { add(placed, {1, 0, times - 1}); }
  /// Offsets and ends of the buffers that are live together with `wanted`, ascending.
  std::vector<std::pair<int64_t, int64_t>> takenWith(const Interval &wanted) const {
    std::vector<std::pair<int64_t, int64_t>> taken;
    collect(wanted, {1, 0, times - 1}, taken);
    std::sort(taken.begin(), taken.end());
    return taken;
  }

private:
  struct Node {
    Runs some, all; // of intervals that cover some of its times; of those that cover all, but not all of the parent's
  };
  struct Span {
    int64_t node, first, last;
    bool isIn(const Interval &interval) const { return interval.first <= first && last <= interval.last; }
    bool meets(const Interval &interval) const { return interval.first <= last && first <= interval.last; }
    Span half(bool second) const {
      const int64_t middle = (first + last) / 2;
      return second ? Span{2 * node + 1, middle + 1, last} : Span{2 * node, first, middle};
    }
  };

  void add(const Interval &placed, const Span &span) {
    if (!span.meets(placed))
      return;
    nodes[span.node].some.add(placed.offset, placed.offset + placed.bytes);
    if (span.isIn(placed))
      return nodes[span.node].all.add(placed.offset, placed.offset + placed.bytes);
    add(placed, span.half(false));
    add(placed, span.half(true));
  }
  void collect(const Interval &wanted, const Span &span, std::vector<std::pair<int64_t, int64_t>> &taken) const {
    if (!span.meets(wanted))
      return;
    if (span.isIn(wanted))
      return nodes[span.node].some.appendTo(taken);
    nodes[span.node].all.appendTo(taken);
    collect(wanted, span.half(false), taken);
    collect(wanted, span.half(true), taken);
  }

  int64_t times;
  std::vector<Node> nodes; // the root is 1, the children of n are 2n and 2n + 1
};

/// The smallest gap for `wanted` among the buffers that are live together with it.
int64_t bestFit(const Interval &wanted, const Occupancy &occupancy) {
  int64_t best = -1, bestGap = 0, end = 0;
  for (auto [offset, next] : occupancy.takenWith(wanted)) {
    int64_t gap = offset - end;
    if (gap >= wanted.bytes && (best < 0 || gap < bestGap)) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, next);
  }
  return best < 0 ? end : best;
}

} // namespace

ArenaSize packArena(PlanDraft &draft) {
  std::vector<Interval> intervals = intervalsOf(draft);
  Occupancy occupancy(static_cast<int64_t>(draft.steps.size()) + 1);
  ArenaSize size;
  std::vector<int64_t> change(draft.steps.size() + 1);
  for (const Interval &interval : intervals) {
    change[interval.first] += interval.bytes;
    change[interval.last + 1] -= interval.bytes;
  }
  int64_t live = 0;
  for (int64_t delta : change)
    size.largestLive = std::max(size.largestLive, live += delta);
  std::sort(intervals.begin(), intervals.end(), [](const Interval &a, const Interval &b) {
    return std::tuple(-a.bytes, a.first, a.buffer) < std::tuple(-b.bytes, b.first, b.buffer);
  });
  for (Interval &interval : intervals) {
    interval.offset = bestFit(interval, occupancy);
    occupancy.add(interval);
    draft.buffers[interval.buffer].index = interval.offset;
    size.bytes = std::max(size.bytes, interval.offset + interval.bytes);
  }
  return size;
}

} // namespace halftone::compiler
