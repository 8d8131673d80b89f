// Multiplies a few rows by a strip of columns.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulMicroKernel.h"
#include "compiler/targets/cpu/matmul/MatmulWindow.h"

namespace halftone::compiler {
using namespace mlir;

MatmulMicroKernel::SumsMemory MatmulMicroKernel::memoryOf(Emitted row, const MatmulStrip &strip) const {
  if (strip.vectors == 1 || !plan.sumsAreResult)
    return {block.at(block.sums, row * block.sumsPitch + strip.column), block.sumsPitch};
  const Emitted pitch = block.size[columnRole], line = block.batch * block.size[rowRole] + block.firstRow + row;
  const Emitted result = block.pointerOf(plan.epilogue.getResult(0));
  return {block.at(result, line * pitch + block.firstColumn + strip.column), pitch, false};
}

Emitted MatmulMicroKernel::addressIn(const SumsMemory &memory, int64_t row, int64_t vector) const {
  return block.at(memory.at, memory.pitch * row + vector * block.sizes.lanes);
}

Values MatmulMicroKernel::load(int64_t rows, Emitted row, const MatmulStrip &strip) const {
  const SumsMemory memory = memoryOf(row, strip);
  const Type lanes = block.lanesOf(plan.accumulator);
  Values sums;
  for (int64_t line = 0; line < rows; ++line)
    for (int64_t vector = 0; vector < strip.vectors; ++vector)
      sums.push_back(frame.load(lanes, addressIn(memory, line, vector), memory.aligned ? plan.cpu.vectorBytes : 0));
  return sums;
}

/// Adds the correction for the bias of B over this slice of K to the initial sums of each row (MatmulPlan::bias).
Values MatmulMicroKernel::begin(int64_t rows, Emitted row, const MatmulStrip &strip) const {
  const Emitted zeros = block.zeros(), continues = strip.depth.first > frame.constant(0);
  if (strip.scale)
    return Values(size_t(rows * strip.vectors), zeros);
  Values sums = load(rows, row, strip);
  for (auto [position, sum] : llvm::enumerate(sums)) {
    sum = select(continues, sum, zeros);
    if (plan.bias != 0) {
      const Emitted sumAt = (row + int64_t(position) / strip.vectors) * strip.rows.rowPitch + block.sizes.depth;
      sum = sum + block.splat(frame.load(plan.accumulator, block.at(strip.rows.a, sumAt)));
    }
  }
  return sums;
}

Values MatmulMicroKernel::multiply(int64_t rows, Emitted row, const MatmulStrip &strip) const {
  MatmulSums sums = sumsOf(strip.vectors);
  sums.depthOfWord = plan.depthOfWord;
  if (plan.looksUpInWords)
    sums.haveSameLookups = [&](Emitted k, int64_t count) {
      return access.haveEqualLookups(plan.prologue[1], strip.depth.first + k, count);
    };
  const MatmulSums::Rows all{block.at(strip.rows.a, strip.rows.offsetOf(row)), strip.rows.rowPitch,
                             strip.rows.depthPitch};
  const auto loop = [&](Emitted begin, Emitted end, Emitted step, ArrayRef<Emitted> carried,
                        llvm::function_ref<Values(Emitted, const Values &)> body) {
    return watch.loop(begin, end, step, carried, body);
  };
  return sums.multiply(begin(rows, row, strip), all, strip.depth.count, strip.b, loop);
}

StripCore MatmulMicroKernel::coreOf(ArrayRef<int64_t> counts, const MatmulStrip &strip) const {
  StripCore core{ruleOfSums(), {}, block.sizes.lanes, strip.vectors, llvm::to_vector<4>(counts)};
  llvm::raw_string_ostream(core.accumulator) << plan.accumulator;
  core.correction = plan.bias != 0 ? block.sizes.depth : 0;
  core.inPlace = plan.readsMatrix();
  core.inPanels = plan.b == ReadB::inPlace && !core.inPlace;
  if (core.inPlace)
    core.operand.narrow = plan.narrowElement(1);
  core.biases = core.inPanels && plan.bias == 128;
  core.masks = plan.cpu.hasMaskedMemory;
  core.scales = bool(strip.scale);
  // For a strip of one vector, each element of a row is loaded once, so an indexed address costs no more than a
  // pointer.
  core.manyPointers = strip.vectors > 1 || plan.cpu.vectorRegisters < 32;
  return core;
}

StripCore::Call MatmulMicroKernel::callOf(Emitted row, Emitted b, const MatmulStrip &strip) const {
  const SumsMemory memory = memoryOf(frame.constant(0), strip);
  const MatmulRows &rows = strip.rows;
  StripCore::Call call{.a = rows.a,
                       .rowPitch = rows.rowPitch,
                       .depthPitch = rows.depthPitch,
                       .panelPitch = rows.panelRows ? rows.panelPitch : rows.rowPitch * block.sizes.lanes,
                       .b = b,
                       .count = strip.depth.count,
                       .sums = memory.at,
                       .sumsPitch = memory.pitch,
                       .continues = strip.depth.first > frame.constant(0),
                       .first = row,
                       .end = block.rows,
                       .unscale = strip.unscale};
  if (plan.readsMatrix())
    setUnpacked(call, b, strip);
  else if (plan.b == ReadB::inPlace)
    call.panel = block.size[depthRole] / frame.constant(plan.panels->group) * block.sizes.lanes;
  return call;
}

void MatmulMicroKernel::setUnpacked(StripCore::Call &call, Emitted from, const MatmulStrip &strip) const {
  call.from = from;
  call.fromPitch = block.size[columnRole];
  call.columns = block.columns - strip.column;
  call.scale = strip.scale;
}

void MatmulMicroKernel::multiplyStrip(ArrayRef<int64_t> counts, Emitted row, Emitted b,
                                      const MatmulStrip &strip) const {
  frame.call(coreOf(counts, strip).core(), callOf(row, b, strip).arguments());
}

void MatmulMicroKernel::multiplyLines(ArrayRef<int64_t> counts, Emitted b, const MatmulStrip &strip) const {
  const MatmulWindow window(block);
  LinesCore core{ruleOfSums(), {}, block.sizes.lanes, strip.vectors, llvm::to_vector<5>(counts), window.axes.size()};
  llvm::raw_string_ostream(core.accumulator) << plan.accumulator;
  const SumsMemory memory = memoryOf(frame.constant(0), strip);
  const LinesCore::Call call{.image = block.pointerOf(window.image),
                             .channels = maximum(window.channels / frame.constant(plan.groupSize), frame.constant(1)),
                             .first = block.batch * block.size[rowRole] + block.firstRow,
                             .rows = block.rows,
                             .b = b,
                             .firstDepth = strip.depth.first,
                             .countDepth = strip.depth.count,
                             .sums = memory.at,
                             .sumsPitch = memory.pitch,
                             .continues = strip.depth.first > frame.constant(0),
                             .axes = window.axes};
  frame.call(core.core(), call.arguments());
}

Emitted MatmulMicroKernel::multiplyWatching(ArrayRef<int64_t> counts, Emitted b, const MatmulStrip &strip) const {
  StripCore core = coreOf(counts, strip);
  core.watches = true;
  StripCore::Call call = callOf(frame.constant(0), b, strip);
  call.watched = block.watchedAt;
  return frame.call(core.core(), call.arguments(), TypeRange({frame.getI1Type()}))[0];
}

void MatmulMicroKernel::packAndMultiply(ArrayRef<int64_t> counts, Emitted from, Emitted b,
                                        const MatmulStrip &strip) const {
  StripCore core = coreOf(counts, strip);
  core.packs = true;
  core.operand.narrow = plan.narrowElement(1);
  StripCore::Call call = callOf(frame.constant(0), b, strip);
  setUnpacked(call, from, strip);
  frame.call(core.core(), call.arguments());
}

void MatmulMicroKernel::store(const Values &sums, Emitted row, const MatmulStrip &strip) const {
  const SumsMemory memory = memoryOf(row, strip);
  for (auto [position, sum] : llvm::enumerate(sums)) {
    const auto [line, vector] = std::div(int64_t(position), strip.vectors);
    const Emitted at = addressIn(memory, line, vector);
    const int64_t alignment = memory.aligned ? plan.cpu.vectorBytes : 0;
    frame.store(strip.scale ? addUnscaled(sum, at, alignment, strip) : sum, at, alignment);
  }
}

/// Unscales the sum of this slice of K and adds the sum of the earlier slices, which is stored at `at`.
Emitted MatmulMicroKernel::addUnscaled(Emitted sum, Emitted at, int64_t alignment, const MatmulStrip &strip) const {
  const Emitted earlier = frame.load(block.lanesOf(plan.accumulator), at, alignment);
  const Emitted continues = strip.depth.first > frame.constant(0);
  return sum * block.splat(strip.unscale) + select(continues, earlier, block.zeros());
}

SumRule MatmulMicroKernel::ruleOfSums() const { return {plan.product, plan.fuses, plan.ordered(), widens}; }

MatmulSums MatmulMicroKernel::sumsOf(int64_t vectors) const {
  MatmulSums sums(frame, ruleOfSums(), block.lanesOf(plan.accumulator));
  sums.vectors = vectors;
  return sums;
}

Emitted MatmulMicroKernel::multiplyAdd(Emitted x, Emitted y, Emitted sum) const {
  return sumsOf(1).multiplyAdd(x, y, sum);
}

} // namespace halftone::compiler
