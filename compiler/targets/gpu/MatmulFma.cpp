// Multiply-adds for a tile.
// SPDX-License-Identifier: Apache-2.0
//
//   loaded = elements of the first stage
//   for each stage: store loaded to shared memory; load the elements of the next one; sums += products of the stage
#include "compiler/targets/gpu/MatmulFma.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace halftone::compiler {
using namespace mlir;

static int64_t vectorOf(const MatmulCta &cta) { return 16 / elementBytes(cta.source.accumulator); }

// Uses single elements unless vectors of them are aligned. Lines begin at different banks, so neighbours along K can be
// stored at the same time.
WidenedStage::WidenedStage(const MatmulCta &cta, int side)
    : MatmulStage(cta, side, std::max<int64_t>(lanesOf(cta, side, vectorOf(cta)).count, 1)),
      pitch(rows + vectorOf(cta)) {}

int64_t WidenedStage::bytes() const { return pitch * depth * elementBytes(source.accumulator); }

/// Adjacent threads that store chunks along K store one element of each chunk at a time, to lines of which every 8th
/// begins at the same bank. So the rows of each 8 lines are permuted, by the number of rows that these threads hold of
/// a line.
Emitted WidenedStage::addressOf(const Position &position) const {
  constexpr int64_t banksBytes = 128, linesInBanks = 8;
  Emitted row = position.row;
  if (alongDepth && chunk > 1 && depth > linesInBanks) {
    const int64_t threads = banksBytes / elementBytes(source.accumulator), rowsOfThreads = threads * chunk / depth;
    row = row ^ (divideUnsigned(position.depth, position.depth.like(linesInBanks)) * rowsOfThreads);
  }
  return frame.address(shared, source.accumulator, position.depth * pitch + row);
}

void WidenedStage::put(const Position &position, Emitted factors) const {
  if (chunk == 1 || !alongDepth)
    return frame.store(factors, addressOf(position), chunk * elementBytes(factors.type()));
  for (int64_t lane = 0; lane < chunk; ++lane)
    frame.store(laneOf(frame, factors, lane), addressOf({position.row, position.depth + lane}));
}

Emitted WidenedStage::factors(Emitted depth, Emitted row) const {
  return frame.load(VectorType::get(vectorOf(cta), source.accumulator), addressOf({row, depth}), 16);
}

MatmulFma::MatmulFma(const MatmulCta &cta)
    : cta(cta), frame(cta.frame), vector(vectorOf(cta)), stages{WidenedStage(cta, 0), WidenedStage(cta, 1)} {}

Emitted MatmulFma::rowOf(int64_t group) const {
  const Emitted thread = divideUnsigned(frame.thread, frame.constant(cta.tiling.across()));
  return (thread + group * cta.tiling.down()) * vector;
}

Emitted MatmulFma::columnOf(int64_t group) const {
  const Emitted thread = remainderUnsigned(frame.thread, frame.constant(cta.tiling.across()));
  return (thread + group * cta.tiling.across()) * vector;
}

void MatmulFma::multiplyAt(Emitted depth, MutableArrayRef<Emitted> sums) const {
  const auto factors = [&](int side, int64_t count) {
    Values scalars;
    for (int64_t group = 0; group < count / vector; ++group) {
      const Emitted lanes = stages[size_t(side)].factors(depth, side == 0 ? rowOf(group) : columnOf(group));
      for (int64_t element = 0; element < vector; ++element)
        scalars.push_back(laneOf(frame, lanes, element));
    }
    return scalars;
  };
  const Values a = factors(0, cta.tiling.partRows), b = factors(1, cta.tiling.partColumns);
  Emitted *sum = sums.begin();
  for (const Emitted &x : a)
    for (const Emitted &y : b) {
      *sum = cta.source.mayFuse ? frame.wrap(math::FmaOp::create(frame, x.value(), y.value(), sum->value()))
                                : *sum + x * y;
      ++sum;
    }
}

Values MatmulFma::multiply(const Values &sums) const {
  const int64_t unrolled =
      elementBytes(cta.source.accumulator) > 4 ? 1 : 4; // factors for which the sums leave registers
  return frame.loop(frame.constant(0), frame.constant(cta.tiling.depth), frame.constant(unrolled), sums,
                    [&](Emitted depth, const Values &now) {
                      Values next = now;
                      for (int64_t step = 0; step < unrolled; ++step)
                        multiplyAt(depth + step, next);
                      return next;
                    });
}

Values MatmulFma::load(Emitted firstDepth) const {
  Values loaded;
  for (const WidenedStage &stage : stages)
    for (int64_t chunk = 0; chunk < stage.chunks(); ++chunk)
      llvm::append_range(loaded, stage.load(frame.constant(chunk), firstDepth));
  return loaded;
}

void MatmulFma::store(ArrayRef<Emitted> loaded, Emitted firstDepth) const {
  for (const WidenedStage &stage : stages) {
    for (int64_t chunk = 0; chunk < stage.chunks(); ++chunk) {
      stage.store(frame.constant(chunk), loaded.take_front(stage.loads()), firstDepth);
      loaded = loaded.drop_front(stage.loads());
    }
  }
}

Values MatmulFma::sums(Emitted shared) {
  stages[0].place(shared);
  stages[1].place(frame.address(shared, frame.getI8Type(), frame.constant(stages[0].bytes())));
  const auto count = size_t(cta.tiling.partRows * cta.tiling.partColumns);
  const Emitted depth = cta.size[depthRole], step = frame.constant(cta.tiling.depth), zero = frame.constant(0);
  Values carried(count, frame.zero(cta.source.accumulator));
  Values atFirst;
  const auto loadFirst = [&] { return atFirst = load(zero); };
  const auto none = [&] {
    return Values(llvm::map_range(atFirst, [&](Emitted value) { return frame.zero(value.type()); }));
  };
  llvm::append_range(carried, frame.choose(zero < depth, loadFirst, none));
  Values done = frame.loop(zero, depth, step, carried, [&](Emitted first, const Values &now) {
    const ArrayRef<Emitted> loaded = ArrayRef<Emitted>(now).drop_front(count);
    frame.barrier(); // the threads have read the previous stage
    store(loaded, first);
    frame.barrier();
    const Emitted following = first + step;
    const Values ahead =
        frame.choose(following < depth, [&] { return load(following); }, [&] { return Values(loaded); });
    Values next = multiply(Values(ArrayRef<Emitted>(now).take_front(count)));
    llvm::append_range(next, ahead);
    return next;
  });
  done.truncate(count);
  return done;
}

void MatmulFma::put(const Values &sums, int64_t chunk, const MatmulTileEpilogue &epilogue) const {
  for (int64_t row = 0; row < cta.tiling.partRows; ++row) {
    const auto first = size_t(row * cta.tiling.partColumns + chunk * vector);
    epilogue.put(joined(frame, ArrayRef<Emitted>(sums).slice(first, size_t(vector))),
                 rowOf(row / vector) + row % vector, columnOf(0));
  }
}

} // namespace halftone::compiler
