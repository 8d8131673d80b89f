// Rows of a window's matrix, copied run by run.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulWindow.h"
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

MatmulWindow::Place MatmulWindow::placeAt(Emitted linear) const {
  Place place{Values(axes.size()), linear};
  for (size_t axis = axes.size(); axis-- > 0; place.example = place.example / axes[axis].places)
    place.along[axis] = place.example % axes[axis].places;
  return place;
}

void MatmulWindow::forLines(Range places, Loop loop, llvm::function_ref<void(const Line &)> body) const {
  const Emitted length = axes.back().places, end = places.first + places.count;
  loop(places.first / length, ceilDivide(end, length), constant(1), [&](Emitted number) {
    const Emitted begin = maximum(number * length, places.first), finish = minimum((number + 1) * length, end);
    Line line{{Values(axes.size()), number}, finish - begin, begin - places.first};
    line.first.along.back() = begin - number * length;
    for (size_t axis = axes.size() - 1; axis-- > 0; line.first.example = line.first.example / axes[axis].places)
      line.first.along[axis] = line.first.example % axes[axis].places;
    body(line);
  });
}

void MatmulWindow::forPlaces(Range places, Loop loop, llvm::function_ref<void(const Place &, Emitted)> body) const {
  forLines(places, loop, [&](const Line &line) {
    loop(constant(0), line.count, constant(1), [&](Emitted number) {
      Place place = line.first;
      place.along.back() = place.along.back() + number;
      body(place, line.number + number);
    });
  });
}

/// The tap along each axis but the last, of a row of taps that differ along the last.
Values MatmulWindow::tapsOf(Emitted row) const {
  Values taps(axes.size() - 1);
  for (size_t axis = taps.size(); axis-- > 0;) {
    taps[axis] = axis == 0 ? row : row % axes[axis].taps;
    row = axis == 0 ? row : row / axes[axis].taps;
  }
  return taps;
}

Values MatmulWindow::forStretches(const Place &first, int64_t count, Range columns, ArrayRef<Emitted> carried,
                                  OfStretch body) const {
  const Emitted width = axes.back().taps * channels, end = columns.first + columns.count;
  return frame.loop(
      columns.first / width, ceilDivide(end, width), constant(1), carried, [&](Emitted number, const Values &now) {
        const Emitted begin = maximum(number * width, columns.first);
        const Emitted count_ = minimum((number + 1) * width, end) - begin;
        const RowOfTaps row{alongOuter(first.along, tapsOf(number), first.example), number * width, {begin, count_}};
        return frame.choose(
            row.outer.inside, [&] { return stretchesOf(row, first.along.back(), count, now, body); },
            [&] { return now; });
      });
}

/// If all places see all taps, and these are neighbours in memory, they are one stretch.
Values MatmulWindow::stretchesOf(const RowOfTaps &row, Emitted place, int64_t count, const Values &carried,
                                 OfStretch body) const {
  const Axis &axis = axes.back();
  const Emitted line = row.outer.index * axis.extent, seen = place * axis.stride - axis.low;
  const Emitted first = row.columns.first - row.begin, end = first + row.columns.count;
  const auto ofTap = [&](Emitted tap, const Values &now) {
    const Emitted shift = tap * axis.dilation - axis.low; // of the index that place 0 sees
    const auto placeFrom = [&](Emitted index) {           // the first that sees the index or a later one
      return minimum(
          maximum(ceilDivide(maximum(index - shift, constant(0)), constant(axis.stride)) - place, constant(0)),
          constant(count));
    };
    const Emitted begin = maximum(tap * channels, first), past = minimum((tap + 1) * channels, end);
    const Emitted from = (line + seen + tap * axis.dilation) * channels + (begin - tap * channels);
    return body({{row.begin + begin, past - begin}, from, placeFrom(constant(0)), placeFrom(axis.extent)}, now);
  };
  const auto tapByTap = [&] {
    return frame.loop(first / channels, ceilDivide(end, channels), constant(1), carried, ofTap);
  };
  if (axis.dilation != 1)
    return tapByTap();
  const Emitted isInside = (seen >= constant(0)) & (seen + (count - 1) * axis.stride + axis.taps <= axis.extent);
  return frame.choose(
      isInside, [&] { return body({row.columns, (line + seen) * channels + first, {}, {}}, carried); }, tapByTap);
}

Emitted MatmulWindow::groupAt(Emitted offset) const {
  const Type stored = getElementTypeOrSelf(image);
  return frame.load(block.problem.accumulator, frame.address(block.pointerOf(image), stored, offset),
                    elementBytes(stored));
}

Emitted MatmulWindow::groupsAt(Emitted offset) const {
  const Type stored = getElementTypeOrSelf(image);
  return frame.load(block.lanesOf(block.problem.accumulator), frame.address(block.pointerOf(image), stored, offset),
                    elementBytes(stored));
}

MatmulWindow::Range MatmulWindow::elementsOf(Range places) const {
  const Axis &axis = axes.front();
  const Place first = placeAt(places.first), last = placeAt(places.first + places.count - 1);
  const Emitted none = constant(0), reach = (axis.taps - 1) * axis.dilation;
  const auto lineAt = [&](const Place &place, Emitted offset) {
    return minimum(maximum(place.along.front() * axis.stride - axis.low + offset, none), axis.extent);
  };
  // Places that go backwards may see all lines of their examples.
  const bool goesForward = axis.stride > 0;
  const Emitted begin = first.example * axis.extent + (goesForward ? lineAt(first, minimum(reach, none)) : none);
  const Emitted end = last.example * axis.extent + (goesForward ? lineAt(last, maximum(reach, none) + 1) : axis.extent);
  Emitted line = channels;
  for (size_t inner = 1; inner < axes.size(); ++inner)
    line = line * axes[inner].extent;
  return {begin * line, maximum(end - begin, none) * line};
}

Emitted MatmulWindow::partOfDepth(int64_t most) const {
  const Emitted depth = maximum(block.groups(), constant(1)), group = constant(block.problem.groupSize);
  const auto parts = [&](Emitted unit) { // of K, in units
    const Emitted units = ceilDivide(depth, unit), together = maximum(constant(most) / unit, constant(1));
    return ceilDivide(units, ceilDivide(units, together)) * unit;
  };
  const Emitted lanes = constant(block.sizes.lanes);
  const Emitted ofTap = maximum(channels / group, constant(1));
  return select(ofTap <= constant(most), parts(ofTap), parts(lanes));
}

void MatmulWindow::copy(const Place &place, Range columns, Emitted to) const {
  const size_t last = axes.size() - 1;
  const Emitted width = axes[last].taps * channels, end = columns.first + columns.count;
  frame.loop(columns.first / width, ceilDivide(end, width), constant(1), [&](Emitted row) {
    copyRowOfTaps(alongOuter(place.along, tapsOf(row), place.example), place.along[last], row * width, columns, to);
  });
}

/// The taps from column `begin` on that differ along the last axis alone. If all are inside and neighbours in memory,
/// they are one run.
void MatmulWindow::copyRowOfTaps(const Seen &outer, Emitted place, Emitted begin, Range columns, Emitted to) const {
  const Axis &axis = axes.back();
  const Emitted first = maximum(begin, columns.first);
  const Emitted count = minimum(begin + axis.taps * channels, columns.first + columns.count) - first;
  const Emitted target = at(to, first - columns.first);
  const auto copyTaps = [&] {
    frame.loop(constant(0), axis.taps, constant(1), [&](Emitted tap) {
      copyRun({joined(outer, along(axis, place, tap), axis), begin + tap * channels, channels}, columns, to);
    });
  };
  const auto copyLine = [&] {
    if (axis.dilation != 1 || axis.hole != 1)
      return copyTaps();
    const Emitted seen = place * axis.stride - axis.low;
    const Emitted from = (outer.index * axis.extent + seen) * channels + (first - begin);
    const Emitted isInside = (seen >= constant(0)) & (seen + axis.taps <= axis.extent);
    frame.branch(isInside & (from + count + step <= elements), [&] { copyVectors(from, count, target); }, copyTaps);
  };
  frame.branch(outer.inside, copyLine, [&] { copyOutside(count, target); });
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

Emitted MatmulWindow::read(Emitted from, VectorType vector) const {
  return frame.load(vector, frame.address(block.pointerOf(image), vector.getElementType(), from));
}

/// The same of a vector that may go past the image.
Emitted MatmulWindow::readBeforeEnd(Emitted from, VectorType vector) const {
  const int64_t lanes = vector.getNumElements();
  return frame.choose(
      from + lanes <= elements, [&] { return Values{read(from, vector)}; },
      [&] {
        const Emitted left = minimum(elements - from, constant(lanes)).narrow(frame.getI32Type());
        const Emitted mask = frame.steps(frame.getI32Type(), lanes) < frame.splat(left, lanes);
        return Values{
            frame.loadMasked(vector, frame.address(block.pointerOf(image), vector.getElementType(), from), mask)};
      })[0];
}

/// A vector of a copy.
Emitted MatmulWindow::factorOf(Emitted read) const {
  const MatmulProblem &problem = block.problem;
  return problem.groupSize == 1 ? problem.factor(frame, 0, read, step) : read;
}

/// Whole vectors are read, also where they go past the run, unless they would go past the image.
void MatmulWindow::copyInside(Emitted from, Emitted count, Emitted to) const {
  const VectorType vector = VectorType::get(step, getElementTypeOrSelf(image));
  const auto copyVector = [&](Emitted offset) {
    frame.store(factorOf(readBeforeEnd(from + offset, vector)), at(to, offset));
  };
  frame.branch(
      from + count + step <= elements, [&] { copyVectors(from, count, to); },
      [&] { frame.loop(constant(0), count, constant(step), copyVector); });
}

/// The same where no vector goes past the image.
void MatmulWindow::copyVectors(Emitted from, Emitted count, Emitted to) const {
  constexpr int64_t together = 4;
  const VectorType vector = VectorType::get(step, getElementTypeOrSelf(image));
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

void MatmulWindow::copyPlaces(Emitted column, Range places, Emitted to) const {
  const Emitted channel = column % channels;
  Values taps(axes.size());
  Emitted rest = column / channels;
  for (size_t axis = axes.size(); axis-- > 0; rest = rest / axes[axis].taps)
    taps[axis] = rest % axes[axis].taps;
  const auto loop = [&](Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body) {
    frame.loop(begin, end, step, body);
  };
  forLines(places, loop, [&](const Line &line) {
    const Seen seen = alongOuter(line.first.along, taps, line.first.example);
    copyLine(seen, taps, channel, {line.first.along.back(), line.count}, block.at(to, line.number));
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
  const Type stored = getElementTypeOrSelf(image);
  const auto copyVector = [&](Emitted at) {
    frame.store(factorOf(readBeforeEnd(from + at, VectorType::get(step, stored))), block.at(to, at));
  };
  const auto copyElement = [&](Emitted at) {
    const Emitted element = read(from + at * pitch, VectorType::get(1, stored));
    frame.store(block.problem.factor(frame, 0, element, 1), block.at(to, at));
  };
  frame.branch(
      equal(pitch, constant(1)), [&] { frame.loop(constant(0), count, constant(step), copyVector); },
      [&] { frame.loop(constant(0), count, constant(1), copyElement); });
}

void MatmulWindow::zero(Emitted begin, Emitted end, Emitted to) const {
  const Emitted none = block.zeros();
  frame.loop(begin, end, constant(step), [&](Emitted at) { frame.store(none, block.at(to, at)); });
}

} // namespace halftone::compiler
