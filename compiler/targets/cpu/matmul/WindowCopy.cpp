// Copies of a window's rows and columns, in contiguous runs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/WindowCopy.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

WindowCopy::WindowCopy(const MatmulBlock &block, const MatmulWindow &window)
    : block(block), frame(block.frame), window(window),
      element(block.plan.groupSize > 1 ? getElementTypeOrSelf(window.image) : block.plan.accumulator),
      step(block.sizes.lanes * block.plan.groupSize) {}

void WindowCopy::copy(const MatmulWindow::Position &position, MatmulWindow::Range columns, Emitted to) const {
  const Emitted width = window.last().taps * window.channels, end = columns.first + columns.count;
  frame.loop(columns.first / width, ceilDivide(end, width), constant(1), [&](Emitted row) {
    copyRowOfTaps(window.alongOuter(position.along, window.tapsOf(row), position.example), position.along.back(),
                  row * width, columns, to);
  });
}

/// Copies the taps from column `begin` on that differ only along the last axis. If all are inside and contiguous in
/// memory, they are one run.
void WindowCopy::copyRowOfTaps(const MatmulWindow::Seen &outer, Emitted position, Emitted begin,
                               MatmulWindow::Range columns, Emitted to) const {
  const MatmulWindow::Axis &axis = window.last();
  const Emitted first = maximum(begin, columns.first);
  const Emitted count = minimum(begin + axis.taps * window.channels, columns.first + columns.count) - first;
  const Emitted target = at(to, first - columns.first);
  const auto copyTaps = [&] {
    frame.loop(constant(0), axis.taps, constant(1), [&](Emitted tap) {
      copyRun({window.alongLast(outer, position, tap), begin + tap * window.channels, window.channels}, columns, to);
    });
  };
  const auto copyLine = [&] {
    if (window.form().dilation.back() != 1 || axis.baseDilation != 1)
      return copyTaps();
    const Emitted seen = position * axis.stride - axis.paddingLow;
    const Emitted from = (outer.index * axis.extent + seen) * window.channels + (first - begin);
    const Emitted isInside = (seen >= constant(0)) & (seen + axis.taps <= axis.extent);
    frame.branch(
        isInside & (from + count + step <= window.elements), [&] { copyVectors(from, count, target); }, copyTaps);
  };
  frame.branch(outer.inside, copyLine, [&] { copyOutside(count, target); });
}

void WindowCopy::copyRun(const Run &run, MatmulWindow::Range columns, Emitted to) const {
  const Emitted begin = maximum(run.begin, columns.first);
  const Emitted end = minimum(run.begin + run.length, columns.first + columns.count);
  const Emitted target = at(to, begin - columns.first), count = end - begin;
  frame.branch(
      run.seen.inside, [&] { copyInside(run.seen.index * window.channels + (begin - run.begin), count, target); },
      [&] { copyOutside(count, target); });
}

void WindowCopy::copyOutside(Emitted count, Emitted to) const {
  const Emitted vector = frame.splat(frame.zero(element), step);
  frame.loop(constant(0), count, constant(step), [&](Emitted offset) { frame.store(vector, at(to, offset)); });
}

Emitted WindowCopy::read(Emitted from, VectorType vector) const {
  return frame.load(vector, frame.address(block.pointerOf(window.image), vector.getElementType(), from));
}

/// Like read(), for a vector that may extend past the image.
Emitted WindowCopy::readBeforeEnd(Emitted from, VectorType vector) const {
  const int64_t lanes = vector.getNumElements();
  return frame.choose(
      from + lanes <= window.elements, [&] { return Values{read(from, vector)}; },
      [&] {
        const Emitted left = minimum(window.elements - from, constant(lanes)).narrow(frame.getI32Type());
        const Emitted mask = frame.steps(frame.getI32Type(), lanes) < frame.splat(left, lanes);
        return Values{frame.loadMasked(
            vector, frame.address(block.pointerOf(window.image), vector.getElementType(), from), mask)};
      })[0];
}

/// Converts a loaded vector to a vector of the copy.
Emitted WindowCopy::factorOf(Emitted read) const {
  const MatmulPlan &plan = block.plan;
  return plan.groupSize == 1 ? plan.factor(frame, 0, read, step) : read;
}

/// Copies whole vectors, which may extend past the run; those that would extend past the image are masked.
void WindowCopy::copyInside(Emitted from, Emitted count, Emitted to) const {
  const VectorType vector = VectorType::get(step, getElementTypeOrSelf(window.image));
  const auto copyVector = [&](Emitted offset) {
    frame.store(factorOf(readBeforeEnd(from + offset, vector)), at(to, offset));
  };
  frame.branch(
      from + count + step <= window.elements, [&] { copyVectors(from, count, to); },
      [&] { frame.loop(constant(0), count, constant(step), copyVector); });
}

/// Like copyInside(), if no vector extends past the image.
void WindowCopy::copyVectors(Emitted from, Emitted count, Emitted to) const {
  constexpr int64_t together = 4;
  const VectorType vector = VectorType::get(step, getElementTypeOrSelf(window.image));
  const auto copyFrom = [&](Emitted offset, int64_t vectors) {
    Values copies;
    for (int64_t i = 0; i < vectors; ++i)
      copies.push_back(factorOf(read(from + offset + i * step, vector)));
    for (int64_t i = 0; i < vectors; ++i)
      frame.store(copies[size_t(i)], at(to, offset + i * step));
  };
  const Emitted many = block.wholeOf(count, together * step);
  frame.loop(constant(0), many, constant(together * step), [&](Emitted offset) { copyFrom(offset, together); });
  frame.loop(many, count, constant(step), [&](Emitted offset) { copyFrom(offset, 1); });
}

void WindowCopy::copyPositions(Emitted column, MatmulWindow::Range positions, Emitted to) const {
  const Emitted channel = column % window.channels;
  const Values taps = window.tapsAt(column / window.channels);
  const auto loop = [&](Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body) {
    frame.loop(begin, end, step, body);
  };
  window.forLines(positions, loop, [&](const MatmulWindow::Line &line) {
    const MatmulWindow::Seen seen = window.alongOuter(line.first.along, taps, line.first.example);
    copyLine(seen, taps, channel, {line.first.along.back(), line.count}, block.at(to, line.number));
  });
}

/// Copies one tap of one channel at adjacent positions; `line` is the line of the image that the tap sees.
void WindowCopy::copyLine(const MatmulWindow::Seen &line, const Values &taps, Emitted channel,
                          MatmulWindow::Range positions, Emitted to) const {
  const MatmulWindow::Axis &axis = window.last();
  const Emitted none = constant(0);
  const Emitted shift = taps.back() * axis.dilation - axis.paddingLow; // of the index that the first position sees
  const Emitted end = positions.first + positions.count;
  const auto clamped = [&](Emitted position, Emitted least) { return minimum(maximum(position, least), end); };
  const Emitted firstInside = ceilDivide(maximum(none - shift, none), axis.stride);
  const Emitted endInside = ceilDivide(maximum(axis.extent - shift, none), axis.stride);
  const Emitted first = clamped(firstInside, positions.first);
  const Emitted past = select(line.inside, clamped(endInside, first), first);
  const auto at = [&](Emitted position) { return position - positions.first; };
  zero(none, at(first), to);
  const Emitted from = (line.index * axis.extent + first * axis.stride + shift) * window.channels + channel;
  copyStrided(from, window.channels * axis.stride, past - first, block.at(to, at(first)));
  zero(at(past), positions.count, to);
}

void WindowCopy::copyStrided(Emitted from, Emitted pitch, Emitted count, Emitted to) const {
  const Type stored = getElementTypeOrSelf(window.image);
  const auto copyVector = [&](Emitted at) {
    frame.store(factorOf(readBeforeEnd(from + at, VectorType::get(step, stored))), block.at(to, at));
  };
  const auto copyElement = [&](Emitted at) {
    const Emitted element = read(from + at * pitch, VectorType::get(1, stored));
    frame.store(block.plan.factor(frame, 0, element, 1), block.at(to, at));
  };
  frame.branch(
      equal(pitch, constant(1)), [&] { frame.loop(constant(0), count, constant(step), copyVector); },
      [&] { frame.loop(constant(0), count, constant(1), copyElement); });
}

void WindowCopy::zero(Emitted begin, Emitted end, Emitted to) const {
  const Emitted none = block.zeros();
  frame.loop(begin, end, constant(step), [&](Emitted at) { frame.store(none, block.at(to, at)); });
}

} // namespace halftone::compiler
