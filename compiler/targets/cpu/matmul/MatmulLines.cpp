// Products of adjacent positions of an image's line and a strip of columns.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulLines.h"

namespace halftone::compiler {
using namespace mlir;

void MatmulLines::multiply(ArrayRef<int64_t> counts, const MatmulStrip &strip) const {
  const Emitted firstPosition = block.batch * block.size[rowRole] + block.firstRow;
  const auto loop = [&](Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body) {
    frame.loop(begin, end, step, body);
  };
  window.forLines({firstPosition, block.rows}, loop, [&](const MatmulWindow::Line &line) {
    Emitted begin = frame.constant(0);
    for (int64_t count : counts) {
      const Emitted step = frame.constant(count);
      Emitted times = (line.count - begin) / step;
      if (count == 6) {
        // A group of one or two positions waits for its sums. With one fewer group of six, groups of four and three
        // remain.
        const Emitted rest = line.count - begin - times * step;
        const Emitted isAwkward = ((rest > 0) & (rest < 3)) | equal(rest, frame.constant(5));
        times = select((times > 0) & isAwkward, times - 1, times);
      }
      const Emitted end = begin + times * step;
      frame.loop(begin, end, step, [&](Emitted at) {
        Positions positions{line.first, count, line.number + at};
        positions.first.along.back() = positions.first.along.back() + at;
        multiplyPositions(positions, strip);
      });
      begin = end;
    }
  });
}

void MatmulLines::multiplyPositions(const Positions &positions, const MatmulStrip &strip) const {
  const int64_t group = block.plan.groupSize;
  const MatmulWindow::Range columns{strip.depth.first * group, strip.depth.count * group};
  const Values before = microKernel.begin(positions.count, positions.row, strip);
  const auto ofColumnRun = [&](const ColumnRun &run, const Values &now) {
    return run.begin ? multiplySeen(positions, run, now, strip) : multiplyColumnRun(run, now, strip);
  };
  const Values sums = window.forColumnRuns(positions.first, positions.count, columns, before, ofColumnRun);
  microKernel.store(sums, positions.row, strip);
}

/// Usually all positions see a tap, or all but the first or the last. Otherwise the sums are stored, and positions are
/// processed one by one.
Values MatmulLines::multiplySeen(const Positions &positions, const ColumnRun &run, const Values &sums,
                                 const MatmulStrip &strip) const {
  const Emitted first = run.begin, end = run.end;
  const auto areSeen = [&](int64_t from, int64_t to) {
    return equal(first, frame.constant(from)) & equal(end, frame.constant(to));
  };
  const auto multiplyFrom = [&](int64_t from, int64_t to) {
    ColumnRun part = run;
    part.from = run.from + window.pitch() * from;
    const auto begin = size_t(from * strip.vectors), many = size_t((to - from) * strip.vectors);
    Values all = sums;
    llvm::copy(multiplyColumnRun(part, Values(ArrayRef<Emitted>(sums).slice(begin, many)), strip), all.begin() + begin);
    return all;
  };
  const auto oneByOne = [&] {
    microKernel.store(sums, positions.row, strip);
    frame.loop(first, end, frame.constant(1), [&](Emitted at) {
      ColumnRun own = run;
      own.from = run.from + window.pitch() * at;
      const Emitted row = positions.row + at;
      microKernel.store(multiplyColumnRun(own, microKernel.load(1, row, strip), strip), row, strip);
    });
    return microKernel.load(positions.count, positions.row, strip);
  };
  const int64_t count = positions.count;
  const auto some = [&] {
    if (count == 1)
      return sums;
    return frame.choose(
        areSeen(1, count), [&] { return multiplyFrom(1, count); },
        [&] { return frame.choose(areSeen(0, count - 1), [&] { return multiplyFrom(0, count - 1); }, oneByOne); });
  };
  return frame.choose(areSeen(0, count), [&] { return multiplyFrom(0, count); }, some);
}

/// `sums` are those of the run's positions from its first one on.
Values MatmulLines::multiplyColumnRun(const ColumnRun &run, const Values &sums, const MatmulStrip &strip) const {
  const int64_t group = block.plan.groupSize;
  const Emitted fromB = run.columns.first / frame.constant(group) - strip.depth.first, pitch = window.pitch();
  const Emitted count = run.columns.count / frame.constant(group);
  const auto rows = int64_t(sums.size()) / strip.vectors;
  return frame.loop(frame.constant(0), count, frame.constant(1), sums, [&](Emitted k, const Values &now) {
    const Values column = strip.b({fromB + k});
    Values next;
    for (int64_t row = 0; row < rows; ++row) {
      const Emitted element = block.splat(window.groupAt(run.from + k * group + pitch * row));
      for (int64_t vector = 0; vector < strip.vectors; ++vector)
        next.push_back(microKernel.multiplyAdd(element, column[size_t(vector)], now[next.size()]));
    }
    return next;
  });
}

} // namespace halftone::compiler
