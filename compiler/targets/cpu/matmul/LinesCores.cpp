// Emits the code of cores that read a window from its image.
// SPDX-License-Identifier: Apache-2.0
//
//   for line of the image, for group of adjacent positions:
//     for row of taps that is inside the image along all axes but the last:
//       for run of taps: the whole row if all positions see all its taps and these are contiguous, otherwise one tap
//         for k: accumulate, for the positions that see the tap
#include "compiler/targets/cpu/matmul/LinesCores.h"
#include "compiler/targets/cpu/matmul/SumsCode.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halftone::compiler {
using namespace mlir;

namespace {

class LinesCode : public SumsCode {
public:
  LinesCode(const LinesCore &core, ModuleOp module);
  void emit();

private:
  /// Adjacent positions on a line.
  struct Positions {
    WindowMap::Position first;
    int64_t count;
    Emitted sums; // of the first one
  };
  /// Columns of the matrix that are contiguous in memory at each position.
  struct Run {
    Emitted index;      // of the first tap on its line of the image, as the first position sees it
    Emitted from;       // the address of the first column at the first position
    Emitted b, columns; // the first column's vectors of B; the number of columns
  };

  void multiplyLine(const WindowMap &map, const WindowMap::Line &line);
  Emitted groupsOf(Emitted positions, int64_t count);
  void multiplyPositions(const WindowMap &map, const Positions &positions);
  Values multiplyRowOfTaps(const WindowMap &map, const Positions &positions, Emitted row, const WindowMap::Seen &outer,
                           const Values &sums);
  Values multiplySeen(const WindowMap::Axis &axis, const Positions &positions, const Run &run, const Values &sums);
  Values multiplyOneByOne(const WindowMap::Axis &axis, const Positions &positions, const Run &run, const Values &sums);
  Values multiplyRun(const Run &run, Emitted pitch, const Values &sums);

  const LinesCore &core;
  LinesCore::Call call;
  Emitted firstRow, endRow; // the rows of taps in the slice of K
};

LinesCode::LinesCode(const LinesCore &core, ModuleOp module)
    : SumsCode(module, core.accumulator, core.lanes, core.vectors), core(core) {
  const Type pointer = LLVM::LLVMPointerType::get(getContext()), index = getI64Type();
  SmallVector<Type> types{pointer, index, index, index, pointer, index, index, pointer, index, getI1Type()};
  constexpr size_t argumentsPerAxis = 6;
  types.append(argumentsPerAxis * core.rank, index);
  // Each position of a group has its own pointer.
  const Values all = start(core.core().symbol, types, {}, /*hasManyPointers=*/true);
  call = {all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7], all[8], all[9], {}};
  firstSums = call.sums, sumsPitch = call.sumsPitch;
  for (ArrayRef<Emitted> left = ArrayRef<Emitted>(all).drop_front(10); !left.empty();
       left = left.drop_front(argumentsPerAxis))
    call.axes.push_back({left[0], left[1], left[2], left[3], left[4], left[5]});
}

void LinesCode::emit() {
  const WindowMap map(*this, call.channels, call.axes);
  const Emitted width = map.last().taps * map.channels;
  firstRow = call.firstDepth / width;
  endRow = ceilDivide(call.firstDepth + call.countDepth, width);
  const auto loop = [&](Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body) {
    CodeBuilder::loop(begin, end, step, body);
  };
  map.forLines({call.first, call.rows}, loop, [&](const WindowMap::Line &line) { multiplyLine(map, line); });
  func::ReturnOp::create(*this);
}

void LinesCode::multiplyLine(const WindowMap &map, const WindowMap::Line &line) {
  Emitted begin = constant(0);
  for (const int64_t count : core.positions) {
    const Emitted end = begin + groupsOf(line.count - begin, count) * count;
    loop(begin, end, constant(count), [&](Emitted at) {
      Positions positions{line.first, count, sumsOf(line.number + at)};
      positions.first.along.back() = positions.first.along.back() + at;
      multiplyPositions(map, positions);
    });
    begin = end;
  }
}

/// The number of groups of `count` that the remaining `positions` positions are divided into.
Emitted LinesCode::groupsOf(Emitted positions, int64_t count) {
  const Emitted times = positions / constant(count);
  if (count != 6)
    return times;
  // A group of one or two positions waits for its sums. With one fewer group of six, groups of four and three remain.
  const Emitted rest = positions - times * count;
  const Emitted isAwkward = ((rest > 0) & (rest < 3)) | equal(rest, constant(5));
  return select((times > 0) & isAwkward, times - 1, times);
}

void LinesCode::multiplyPositions(const WindowMap &map, const Positions &positions) {
  const Emitted zeros = splat(zero(element), core.lanes);
  Values before = loadRows(positions.count, positions.sums);
  for (Emitted &sum : before)
    sum = select(call.continues, sum, zeros);
  const Values sums = loop(firstRow, endRow, constant(1), before, [&](Emitted row, const Values &now) {
    const WindowMap::Seen outer = map.alongOuter(positions.first.along, map.tapsOf(row), positions.first.example);
    return choose(
        outer.inside, [&] { return multiplyRowOfTaps(map, positions, row, outer, now); }, [&] { return now; });
  });
  storeRows(sums, positions.sums);
}

/// `outer` is the line of the image that the `row`-th row of taps reads.
Values LinesCode::multiplyRowOfTaps(const WindowMap &map, const Positions &positions, Emitted row,
                                    const WindowMap::Seen &outer, const Values &sums) {
  const WindowMap::Axis &axis = map.last();
  const Emitted width = axis.taps * map.channels, begin = row * width;
  const Emitted first = maximum(call.firstDepth - begin, constant(0)); // the columns of the slice, within the row
  const Emitted end = minimum(call.firstDepth + call.countDepth - begin, width);
  const Emitted seen = positions.first.along.back() * axis.stride - axis.paddingLow;
  const Emitted isOneRun = equal(axis.dilation, constant(1)) & (seen >= constant(0)) &
                           (seen + axis.stride * (positions.count - 1) + axis.taps <= axis.extent);
  const Values runs = choose(
      isOneRun, [&] { return Values{constant(0), constant(1)}; },
      [&] { return Values{first / map.channels, ceilDivide(end, map.channels)}; });
  const Emitted ofRun = select(isOneRun, width, map.channels);
  return loop(runs[0], runs[1], constant(1), sums, [&](Emitted number, const Values &now) {
    const Emitted start = number * ofRun, from = maximum(start, first), past = minimum(start + ofRun, end);
    const Emitted index = seen + number * axis.dilation; // the only run has the number 0
    const Emitted offset = (outer.index * axis.extent + index) * map.channels + (from - start);
    const Emitted depth = begin + from - call.firstDepth;
    return multiplySeen(axis, positions,
                        {index, at(call.image, offset), at(call.b, depth * (core.vectors * core.lanes)), past - from},
                        now);
  });
}

/// Usually all positions see a tap, or all but the first or the last.
Values LinesCode::multiplySeen(const WindowMap::Axis &axis, const Positions &positions, const Run &run,
                               const Values &sums) {
  const int64_t count = positions.count;
  const Emitted pitch = axis.stride * call.channels;
  const auto sees = [&](int64_t position) {
    const Emitted index = run.index + axis.stride * position;
    return (index >= constant(0)) & (index < axis.extent);
  };
  const auto multiplyFrom = [&](int64_t first, int64_t end) {
    Run part = run;
    part.from = at(run.from, pitch * first);
    const auto begin = size_t(first * core.vectors), many = size_t((end - first) * core.vectors);
    Values all = sums;
    llvm::copy(multiplyRun(part, pitch, Values(ArrayRef<Emitted>(sums).slice(begin, many))), all.begin() + begin);
    return all;
  };
  const auto oneByOne = [&] { return multiplyOneByOne(axis, positions, run, sums); };
  const auto some = [&] {
    if (count == 1)
      return sums;
    const Emitted seesFirst = sees(0), seesLast = sees(count - 1); // not both
    return choose(
        sees(1) & seesLast, [&] { return multiplyFrom(1, count); },
        [&] { return choose(sees(count - 2) & seesFirst, [&] { return multiplyFrom(0, count - 1); }, oneByOne); });
  };
  return choose(sees(0) & sees(count - 1), [&] { return multiplyFrom(0, count); }, some);
}

/// Stores the sums and processes the positions that see the tap one by one.
Values LinesCode::multiplyOneByOne(const WindowMap::Axis &axis, const Positions &positions, const Run &run,
                                   const Values &sums) {
  const Emitted pitch = axis.stride * call.channels;
  const auto positionFrom = [&](Emitted index) { // the first that sees the index or a later one
    return minimum(ceilDivide(maximum(index - run.index, constant(0)), axis.stride), constant(positions.count));
  };
  storeRows(sums, positions.sums);
  loop(positionFrom(constant(0)), positionFrom(axis.extent), constant(1), [&](Emitted position) {
    Run own = run;
    own.from = at(run.from, pitch * position);
    const Emitted ownSums = at(positions.sums, call.sumsPitch * position);
    storeRows(multiplyRun(own, pitch, loadRows(1, ownSums)), ownSums);
  });
  return loadRows(positions.count, positions.sums);
}

/// `sums` are those of the run's positions; positions are `pitch` apart.
Values LinesCode::multiplyRun(const Run &run, Emitted pitch, const Values &sums) {
  const MatmulSums products(*this, core.rule, lanes);
  const auto count = int64_t(sums.size()) / core.vectors;
  return loop(constant(0), run.columns, constant(1), sums, [&](Emitted k, const Values &now) {
    Values column, next;
    for (int64_t vector = 0; vector < core.vectors; ++vector)
      column.push_back(
          load(lanes, at(run.b, (k * core.vectors + vector) * core.lanes), core.lanes * elementBytes(element)));
    for (int64_t position = 0; position < count; ++position) {
      const Emitted one = splat(load(element, at(run.from, k + pitch * position)), core.lanes);
      for (int64_t vector = 0; vector < core.vectors; ++vector)
        next.push_back(products.multiplyAdd(one, column[size_t(vector)], now[next.size()]));
    }
    return next;
  });
}

} // namespace

Values LinesCore::Call::arguments() const {
  Values all{image, channels, first, rows, b, firstDepth, countDepth, sums, sumsPitch, continues};
  for (const WindowMap::Axis &axis : axes)
    all.append({axis.positions, axis.taps, axis.extent, axis.paddingLow, axis.stride, axis.dilation});
  return all;
}

Core LinesCore::core() const {
  const StringRef product = cpu::stringifyProduct(rule.product->product);
  std::string symbol = fmt::format("{}lines_{}_{}", Core::prefix.str(), product.str(), accumulator);
  for (const auto &[holds, word] : {std::pair(rule.fuses, "fused"), std::pair(rule.widens, "widened")})
    if (holds)
      symbol += fmt::format("_{}", word);
  symbol += fmt::format("_of_{}_axes_{}x{}", rank, fmt::join(positions, "_"), vectors);
  std::string method = fmt::format("{} x {} sums in registers", positions[0], vectors * lanes);
  return {std::move(symbol), std::move(method), [own = *this](ModuleOp module) { own.emit(module); }};
}

void LinesCore::emit(ModuleOp module) const { LinesCode(*this, module).emit(); }

} // namespace halftone::compiler
