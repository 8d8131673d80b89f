// Multiplying a few rows with a strip of columns.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulMicroKernel.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace halftone::compiler {
using namespace mlir;

MatmulMicroKernel::Place MatmulMicroKernel::placeOf(Emitted row, const MatmulStrip &strip) const {
  if (strip.vectors == 1 || !plan.sumsAreResult)
    return {block.at(block.sums, row * block.sumsPitch + strip.column), block.sumsPitch};
  const Emitted pitch = block.size[columnRole], line = block.batch * block.size[rowRole] + block.firstRow + row;
  const Emitted result = block.pointerOf(plan.epilogue.getResult(0));
  return {block.at(result, line * pitch + block.firstColumn + strip.column), pitch, false};
}

Emitted MatmulMicroKernel::addressIn(const Place &place, int64_t row, int64_t vector) const {
  return block.at(place.at, place.pitch * row + vector * block.sizes.lanes);
}

Values MatmulMicroKernel::load(int64_t rows, Emitted row, const MatmulStrip &strip) const {
  const Place place = placeOf(row, strip);
  const Type lanes = block.lanesOf(plan.accumulator);
  Values sums;
  for (int64_t line = 0; line < rows; ++line)
    for (int64_t vector = 0; vector < strip.vectors; ++vector)
      sums.push_back(frame.load(lanes, addressIn(place, line, vector), place.aligned ? plan.cpu.vectorBytes : 0));
  return sums;
}

/// Begins each row with the correction for the bias of B over this part of K (MatmulPlan::bias).
Values MatmulMicroKernel::begin(int64_t rows, Emitted row, const MatmulStrip &strip) const {
  const Emitted zeros = block.zeros(), continues = strip.depth.first > frame.constant(0);
  if (strip.scale)
    return Values(size_t(rows * strip.vectors), zeros);
  Values sums = load(rows, row, strip);
  for (auto [position, sum] : llvm::enumerate(sums)) {
    sum = select(continues, sum, zeros);
    if (plan.bias != 0) {
      const Emitted behind = (row + int64_t(position) / strip.vectors) * strip.rows.rowPitch + block.sizes.depth;
      sum = sum + block.splat(frame.load(plan.accumulator, block.at(strip.rows.a, behind)));
    }
  }
  return sums;
}

Values MatmulMicroKernel::multiply(int64_t rows, Emitted row, const MatmulStrip &strip) const {
  const auto many = size_t(rows * strip.vectors);
  // A few sums would wait for each other: then several of each, which take turns along K.
  const size_t turns = plan.ordered() ? 1 : std::max<size_t>(1, size_t(MatmulSizes::sumsInFlight) / many);
  Values carried = begin(rows, row, strip);
  carried.resize(turns * many, block.zeros());
  const Emitted firstOfRows = block.at(strip.rows.a, strip.rows.offsetOf(row));
  const auto step = [&](Emitted k, const Values &column, MutableArrayRef<Emitted> sums) {
    const Emitted fromA = block.at(firstOfRows, k * strip.rows.depthPitch);
    for (int64_t row = 0; row < rows; ++row) {
      const Emitted element = block.splat(frame.load(plan.accumulator, block.at(fromA, strip.rows.rowPitch * row)));
      for (int64_t vector = 0; vector < strip.vectors; ++vector) {
        Emitted &sum = sums[size_t(row * strip.vectors + vector)];
        sum = multiplyAdd(element, column[size_t(vector)], sum);
      }
    }
  };
  const int64_t steps = std::max(int64_t(turns), plan.depthOfWord); // so that places in words are constants
  const Emitted whole = block.wholeOf(strip.depth.count, steps);
  Values done = watch.loop(frame.constant(0), whole, frame.constant(steps), carried, [&](Emitted k, const Values &now) {
    const auto all = [&](std::optional<Emitted> sameLookups) {
      Values sums = now;
      for (int64_t place = 0; place < steps; ++place) {
        const Values column = strip.b({k + place, place % plan.depthOfWord, sameLookups});
        step(k + place, column, MutableArrayRef<Emitted>(sums).slice(size_t(place) % turns * many, many));
      }
      return sums;
    };
    if (!plan.looksUpInWords)
      return all(std::nullopt);
    return frame.choose(
        access.haveEqualLookups(plan.prologue[1], strip.depth.first + k, steps), [&] { return all(k); },
        [&] { return all(std::nullopt); });
  });
  if (steps > 1) {
    const ArrayRef<Emitted> once = ArrayRef<Emitted>(done).take_front(many);
    const Values first =
        watch.loop(whole, strip.depth.count, frame.constant(1), once, [&](Emitted k, const Values &now) {
          Values sums = now;
          step(k, strip.b({k}), sums);
          return sums;
        });
    llvm::copy(first, done.begin());
    for (size_t apart = turns / 2; apart > 0; apart /= 2)
      for (size_t i = 0; i < apart * many; ++i)
        done[i] = done[i] + done[i + apart * many];
  }
  done.truncate(many);
  return done;
}

void MatmulMicroKernel::store(const Values &sums, Emitted row, const MatmulStrip &strip) const {
  const Place place = placeOf(row, strip);
  for (auto [position, sum] : llvm::enumerate(sums)) {
    const auto [line, vector] = std::div(int64_t(position), strip.vectors);
    const Emitted at = addressIn(place, line, vector);
    const int64_t alignment = place.aligned ? plan.cpu.vectorBytes : 0;
    frame.store(strip.scale ? addUnscaled(sum, at, alignment, strip) : sum, at, alignment);
  }
}

/// Unscales the sum of this K slice, and adds the sum of the earlier slices, which is stored at `at`.
Emitted MatmulMicroKernel::addUnscaled(Emitted sum, Emitted at, int64_t alignment, const MatmulStrip &strip) const {
  const Emitted earlier = frame.load(block.lanesOf(plan.accumulator), at, alignment);
  const Emitted continues = strip.depth.first > frame.constant(0);
  return sum * block.splat(strip.unscale) + select(continues, earlier, block.zeros());
}

Emitted MatmulMicroKernel::multiplyAdd(Emitted x, Emitted y, Emitted sum) const {
  const ProductRow &product = *plan.product;
  if (product.group == 1 && plan.fuses)
    return frame.wrap(math::FmaOp::create(frame, x.value(), y.value(), sum.value()));
  return widens ? product.multiplyWidened(frame, sum, x, y) : product.multiply(frame, sum, x, y);
}

} // namespace halftone::compiler
