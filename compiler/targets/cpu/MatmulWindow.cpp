// Rows of a window's matrix, copied run by run.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/MatmulWindow.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

MatmulWindow::MatmulWindow(const MatmulBlock &block)
    : block(block), frame(block.frame), element(block.problem.accumulator),
      step(block.sizes.lanes * block.problem.groupSize), image(block.problem.contraction.getInputs()[0]) {
  if (block.problem.groupSize > 1)
    element = getElementTypeOrSelf(image);
  const WindowForm &form = *block.problem.window;
  size_t next = size_t(frame.dims) + 2; // behind the extents and the tile
  const auto number = [&] { return frame.extents[next++]; };
  const auto divisor = [&] { return maximum(number(), constant(1)); }; // of a matrix without elements it may be 0
  Emitted examples = block.size[batchRole] * block.size[placesRole()];
  elements = constant(1);
  for (size_t axis = 0; axis < form.rank(); ++axis) {
    const Emitted places = divisor(), taps = divisor(), extent = number(), low = number();
    axes.push_back({places, taps, extent, low, form.stride[axis], form.dilation[axis], form.hole[axis]});
    examples = examples / places;
    elements = elements * extent;
  }
  channels = divisor();
  elements = elements * channels * examples;
}

MatmulWindow::Seen MatmulWindow::along(const Axis &axis, Emitted place, Emitted tap) const {
  Emitted index = place * axis.stride + tap * axis.dilation - axis.low;
  const Emitted begin = constant(0);
  if (axis.hole == 1)
    return {(index >= begin) & (index < axis.extent), index};
  const Emitted whole = index / constant(axis.hole);
  return {(index >= begin) & equal(whole * axis.hole, index) & (whole < axis.extent), whole};
}

MatmulWindow::Seen MatmulWindow::joined(const Seen &outer, const Seen &inner, const Axis &axis) const {
  return {outer.inside & inner.inside, outer.index * axis.extent + inner.index};
}

/// Along the axes before the last.
MatmulWindow::Seen MatmulWindow::alongOuter(const Values &places, const Values &taps, Emitted example) const {
  Seen seen{equal(example, example), example};
  for (size_t axis = 0; axis + 1 < axes.size(); ++axis)
    seen = joined(seen, along(axes[axis], places[axis], taps[axis]), axes[axis]);
  return seen;
}

void MatmulWindow::copy(Emitted place, Range columns, Emitted to) const {
  const size_t last = axes.size() - 1;
  // The place along each axis, and the example.
  Values placeOf(axes.size());
  Emitted example = place;
  for (size_t axis = axes.size(); axis-- > 0;) {
    placeOf[axis] = example % axes[axis].places;
    example = example / axes[axis].places;
  }
  const Emitted width = axes[last].taps * channels, end = columns.first + columns.count;
  frame.loop(columns.first / width, ceilDivide(end, width), constant(1), [&](Emitted row) {
    Values tapOf(last);
    Emitted rest = row;
    for (size_t axis = last; axis-- > 0;) {
      tapOf[axis] = axis == 0 ? rest : rest % axes[axis].taps;
      rest = axis == 0 ? rest : rest / axes[axis].taps;
    }
    copyRowOfTaps(alongOuter(placeOf, tapOf, example), placeOf[last], row * width, columns, to);
  });
}

/// The taps from column `begin` on that differ along the last axis alone. If all are inside and neighbours in memory,
/// they are one run.
void MatmulWindow::copyRowOfTaps(const Seen &outer, Emitted place, Emitted begin, Range columns, Emitted to) const {
  const Axis &axis = axes.back();
  const Emitted width = axis.taps * channels;
  Emitted length = channels;
  if (axis.dilation == 1 && axis.hole == 1) {
    const Emitted first = place * axis.stride - axis.low;
    length = select((first >= constant(0)) & (first + axis.taps <= axis.extent), width, channels);
  }
  frame.loop(constant(0), width, length, [&](Emitted at) {
    const Seen seen = joined(outer, along(axis, place, at / channels), axis);
    copyRun({seen, begin + at, length}, columns, to);
  });
}

void MatmulWindow::copyRun(const Run &run, Range columns, Emitted to) const {
  const Emitted begin = maximum(run.begin, columns.first);
  const Emitted end = minimum(run.begin + run.length, columns.first + columns.count);
  const Emitted target = at(to, begin - columns.first), count = end - begin;
  frame.branch(
      run.seen.inside, [&] { copyInside(run.seen.index * channels + (begin - run.begin), count, target); },
      [&] { copyOutside(count, target); });
}

void MatmulWindow::copyOutside(Emitted count, Emitted to) const {
  const Emitted vector = frame.splat(frame.zero(element), step);
  frame.loop(constant(0), count, constant(step), [&](Emitted offset) { frame.store(vector, at(to, offset)); });
}

/// Whole vectors are read, also where they go past the run, unless they would go past the image.
void MatmulWindow::copyInside(Emitted from, Emitted count, Emitted to) const {
  const Type stored = getElementTypeOrSelf(image);
  const VectorType vector = VectorType::get(step, stored);
  const auto addressOf = [&](Emitted offset) { return frame.address(block.pointerOf(image), stored, offset); };
  frame.loop(constant(0), count, constant(step), [&](Emitted offset) {
    const Emitted first = from + offset;
    const Emitted read = frame.choose(
        first + step <= elements, [&] { return Values{frame.load(vector, addressOf(first))}; },
        [&] {
          const Emitted left = minimum(elements - first, constant(step)).narrow(frame.getI32Type());
          const Emitted mask = frame.steps(frame.getI32Type(), step) < frame.splat(left, step);
          return Values{frame.loadMasked(vector, addressOf(first), mask)};
        })[0];
    const MatmulProblem &problem = block.problem;
    frame.store(problem.groupSize > 1 ? read : problem.factor(frame, 0, read, step), at(to, offset));
  });
}

void MatmulWindow::copyPlaces(Emitted column, Range places, Emitted to) const {
  const size_t last = axes.size() - 1;
  const Emitted channel = column % channels;
  Values taps(axes.size());
  Emitted rest = column / channels;
  for (size_t axis = axes.size(); axis-- > 0; rest = rest / axes[axis].taps)
    taps[axis] = rest % axes[axis].taps;
  const Emitted length = axes[last].places, end = places.first + places.count;
  frame.loop(places.first / length, ceilDivide(end, length), constant(1), [&](Emitted line) {
    Values placeOf(axes.size());
    Emitted example = line;
    for (size_t axis = last; axis-- > 0; example = example / axes[axis].places)
      placeOf[axis] = example % axes[axis].places;
    const Emitted begin = maximum(line * length, places.first), finish = minimum((line + 1) * length, end);
    const Range within{begin - line * length, finish - begin};
    copyLine(alongOuter(placeOf, taps, example), taps, channel, within, block.at(to, begin - places.first));
  });
}

/// One tap of one channel at neighbouring places of a line; `line` is that of the image that the tap sees.
void MatmulWindow::copyLine(const Seen &line, const Values &taps, Emitted channel, Range places, Emitted to) const {
  const Axis &axis = axes.back();
  const Emitted stride = constant(axis.stride), none = constant(0);
  const Emitted shift = taps.back() * axis.dilation - axis.low; // of the index that the first place sees
  const Emitted end = places.first + places.count;
  const auto clamped = [&](Emitted place, Emitted least) { return minimum(maximum(place, least), end); };
  const Emitted firstInside = ceilDivide(maximum(none - shift, none), stride);
  const Emitted endInside = ceilDivide(maximum(axis.extent - shift, none), stride);
  const Emitted first = clamped(firstInside, places.first);
  const Emitted past = select(line.inside, clamped(endInside, first), first);
  const auto at = [&](Emitted place) { return place - places.first; };
  zero(none, at(first), to);
  const Emitted from = (line.index * axis.extent + first * axis.stride + shift) * channels + channel;
  copyStrided(from, channels * axis.stride, past - first, block.at(to, at(first)));
  zero(at(past), places.count, to);
}

void MatmulWindow::copyStrided(Emitted from, Emitted pitch, Emitted count, Emitted to) const {
  const auto oneByOne = [&](Emitted begin) {
    frame.loop(begin, count, constant(1), [&](Emitted at) { copyElements(from + at * pitch, 1, block.at(to, at)); });
  };
  frame.branch(
      equal(pitch, constant(1)),
      [&] {
        const int64_t lanes = block.sizes.lanes;
        const Emitted whole = block.wholeOf(count, lanes);
        frame.loop(constant(0), whole, constant(lanes),
                   [&](Emitted at) { copyElements(from + at, lanes, block.at(to, at)); });
        oneByOne(whole);
      },
      [&] { oneByOne(constant(0)); });
}

void MatmulWindow::copyElements(Emitted from, int64_t lanes, Emitted to) const {
  const Type element = getElementTypeOrSelf(image);
  const Emitted read =
      frame.load(VectorType::get(lanes, element), frame.address(block.pointerOf(image), element, from));
  frame.store(block.problem.factor(frame, 0, read, lanes), to);
}

void MatmulWindow::zero(Emitted begin, Emitted end, Emitted to) const {
  const Emitted none = frame.zero(block.problem.accumulator);
  frame.loop(begin, end, constant(1), [&](Emitted at) { frame.store(none, block.at(to, at)); });
}

} // namespace halftone::compiler
