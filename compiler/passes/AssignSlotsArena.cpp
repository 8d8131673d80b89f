// Offsets in the arena: buffers whose uses do not meet in time may meet in memory.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/AssignSlotsProgram.h"
#include "runtime/plan/Abi.h"
#include <algorithm>
#include <tuple>

namespace halftone::compiler {

namespace {

/// A buffer from the first step that touches it to the last, both included: a launch's operands and results never share.
struct Interval {
  BufferId buffer = -1;
  int64_t first = -1, last = -1, bytes = 0, offset = -1;
  bool meets(const Interval &other) const { return first <= other.last && other.first <= last; }
};

std::vector<Interval> intervalsOf(const Program &program) {
  std::vector<Interval> intervals(program.buffers.size());
  auto touch = [&](BufferId id, int64_t step) {
    id = program.place(id);
    const Buffer &buffer = program.buffers[id];
    if (buffer.kind != SlotKind::arena)
      return;
    Interval &interval = intervals[id];
    if (interval.first < 0) {
      int64_t bytes = std::max<int64_t>(buffer.type.bytes(), 1);
      interval = {id, step, step, (bytes + bufferAlignment - 1) / bufferAlignment * bufferAlignment, -1};
    }
    interval.last = step;
  };
  int64_t time = -1; // parts of one launch run at one time
  for (const ProgramStep &step : program.steps) {
    time += !step.joined;
    for (BufferId id : step.reads)
      touch(id, time);
    for (BufferId id : step.writes)
      touch(id, time);
    if (step.predicate)
      touch(step.predicate->buffer, time);
  }
  std::erase_if(intervals, [](const Interval &interval) { return interval.first < 0; });
  return intervals;
}

/// The smallest gap that `wanted` fits in, among the buffers that live with it.
int64_t bestFit(const Interval &wanted, const std::vector<Interval> &placed) {
  std::vector<std::pair<int64_t, int64_t>> taken; // offset, end
  for (const Interval &other : placed)
    if (other.meets(wanted))
      taken.push_back({other.offset, other.offset + other.bytes});
  std::sort(taken.begin(), taken.end());
  int64_t best = -1, bestGap = 0, end = 0;
  for (auto [offset, next] : taken) {
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

ArenaSize packArena(Program &program) {
  std::vector<Interval> intervals = intervalsOf(program), placed;
  ArenaSize size;
  std::vector<int64_t> change(program.steps.size() + 1);
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
    interval.offset = bestFit(interval, placed);
    placed.push_back(interval);
    program.buffers[interval.buffer].index = interval.offset;
    size.bytes = std::max(size.bytes, interval.offset + interval.bytes);
  }
  return size;
}

} // namespace halftone::compiler
