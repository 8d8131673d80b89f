// Reduction loops.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: for kept row in block, or a few of them: for column, a few vectors at a time:
//     accumulators; for each reduced index, in order: body; then the epilogue's body on the totals
// A sum that rounds is split into chunks of reduced indices, whose totals are combined in pairs; the taps of a window
// are one chain. Code for a row at which no tap of a window leaves the image has no bounds tests of taps. If rows come
// after the reduced axes (the taps of a window, in the gradient with respect to a depthwise kernel), many rows share
// operands. A few rows are then accumulated together, and parts of the last reduced axis at which their taps are inside
// have code without tests. If lanes run along groups (`#halftone_cpu.grouped`), the code is unrolled over the channels
// of a group, which all use the same vector of the image. A few rows are then accumulated together, so they share the
// kernel's elements.
#include "compiler/kernels/CodeSize.h"
#include "compiler/kernels/LongSums.h"
#include "compiler/kernels/WindowInterior.h"
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/Schedules.h"
#include "mlir/IR/TypeUtilities.h"
#include <optional>

namespace halftone::compiler {
using namespace mlir;

namespace {

/// The maximum numbers of vectors of columns, and of rows, that are accumulated together.
constexpr int64_t maxVectors = 8, maxVectorsOfRows = 4;

/// The bytes for the totals of chunks of all accumulators.
int64_t chunkTotalsBytes(const KernelSource &source, const CpuTarget &target) {
  constexpr int64_t minBytes = 8, side = std::max(maxVectors, maxVectorsOfRows * sharedRows);
  linalg::GenericOp accumulation = source.generics.front();
  return PairwiseTotals::levels * side * accumulation.getNumDpsInits() * std::max(target.vectorBytes, minBytes);
}

/// The indices at the insertion point: of a few rows that are accumulated together, of the columns, and of the channel
/// within a group.
class RowPosition {
public:
  /// `rows`: the dims over which rows run.
  RowPosition(KernelFrame &frame, const SmallVector<int> &rows, LaneGroups &groups)
      : frame(frame), rows(rows), groups(groups) {}

  /// Sets the rows to the `count` rows from the linear index `row` on.
  void setRows(Emitted row, int64_t count);
  ArrayRef<Values> present() const { return present_; }
  void moveTo(const Values &row) {
    for (auto [dim, index] : llvm::zip_equal(rows, row))
      frame.index[size_t(dim)] = index;
  }
  void moveToColumn(Emitted column, const Lanes &lanes);
  void moveToChannel(int64_t channel) {
    groups.channel = channel;
    if (groups.channelDim >= 0)
      frame.index[size_t(groups.channelDim)] = frame.constant(channel);
  }
  /// Whether `holds` returns true at each row.
  Emitted holdsAtRows(llvm::function_ref<Emitted()> holds);

private:
  Values rowAfter(Values row);

  KernelFrame &frame;
  const SmallVector<int> &rows;
  LaneGroups &groups;
  SmallVector<Values> present_; // the indices of each row
};

void RowPosition::setRows(Emitted row, int64_t count) {
  frame.delinearize(row, rows);
  present_.assign(1, llvm::map_to_vector(rows, [&](int dim) { return frame.index[size_t(dim)]; }));
  while (int64_t(present_.size()) < count)
    present_.push_back(rowAfter(present_.back()));
}

/// The next row, computed without a division.
Values RowPosition::rowAfter(Values row) {
  const Emitted zero = frame.constant(0), one = frame.constant(1);
  Emitted carry = one;
  for (size_t position = row.size(); position-- > 0;) {
    const Emitted next = row[position] + carry;
    if (position == 0) {
      row[position] = next;
      break;
    }
    const Emitted wraps = equal(next, frame.extents[size_t(rows[position])]);
    row[position] = select(wraps, zero, next);
    carry = select(wraps, one, zero);
  }
  return row;
}

void RowPosition::moveToColumn(Emitted column, const Lanes &lanes) {
  const auto vectorDim = size_t(frame.dims - 1);
  if (groups.size == 0) {
    frame.index[vectorDim] = column;
    return;
  }
  const Emitted size = frame.constant(groups.size);
  frame.index[size_t(groups.dim)] = divideUnsigned(column, size);
  frame.index[vectorDim] = lanes.count == 0 ? remainderUnsigned(column, size) : frame.constant(0);
}

Emitted RowPosition::holdsAtRows(llvm::function_ref<Emitted()> holds) {
  Emitted all;
  for (const Values &row : present_) {
    moveTo(row);
    const Emitted here = holds();
    all = all ? all & here : here;
  }
  return all;
}

class ReductionLoopEmitter {
public:
  explicit ReductionLoopEmitter(KernelFrame &frame)
      : frame(frame), vectorDim(int(frame.dims) - 1), accumulation(frame.source.generics[0]),
        epilogue(frame.source.generics[1]) {
    if (frame.source.form.schedule)
      setGroups(cast<cpu::GroupedScheduleAttr>(frame.source.form.schedule));
    for (int dim = 0; dim < frame.dims; ++dim)
      if (dim != groups.channelDim && dim != groups.dim && dim != vectorDim)
        (isReduced(dim) ? reduced : rows).push_back(dim);
    if (vectorsHoldGroup() && sumsChannels) { // channels are an additional reduced dim, the last
      reduced.push_back(std::exchange(groups.channelDim, -1));
      groups.channels = 1;
    }
    interior.emplace(frame, accumulation, reduced);
  }
  void emit();

private:
  bool isReduced(int dim) const {
    return dim >= frame.source.form.outer && dim < frame.source.form.outer + frame.source.form.reduced;
  }
  /// Makes the parameters of the schedule constants in the code.
  void setGroups(cpu::GroupedScheduleAttr schedule) {
    groups = {schedule.getFilters(), vectorDim - 1, int(schedule.getChannelDim()), schedule.getChannels()};
    frame.extents[size_t(vectorDim)] = frame.constant(groups.size);
    if (groups.channelDim < 0)
      return;
    frame.extents[size_t(groups.channelDim)] = frame.constant(groups.channels);
    sumsChannels = isReduced(groups.channelDim);
  }
  bool hasGroups() const { return groups.size > 0; }
  /// The number of lanes of a whole vector.
  int64_t laneCount() const { return std::max(frame.lanes, groups.size); }
  /// Returns true if each vector holds one group. Then there is no tail.
  bool vectorsHoldGroup() const { return hasGroups() && laneCount() == groups.size; }
  /// The maximum number of rows that are accumulated together, and of vectors of columns.
  int64_t maxRows() const;
  SmallVector<int64_t> vectorCounts();
  bool sharesRows() const { return !rows.empty() && !reduced.empty() && rows.back() > reduced.back(); }
  /// Emits `count` rows from `row` on, interleaved.
  void emitRows(Emitted row, int64_t count, Emitted columnBegin, Emitted columnEnd);
  /// Emits the columns of these rows, accumulated by `generic`.
  void emitRowsBy(linalg::GenericOp generic, Emitted columnBegin, Emitted columnEnd);
  /// Emits `vectors` interleaved steps with the given lanes, at the current rows and column.
  void emitColumns(Emitted column, const Lanes &lanes, int64_t vectors);
  Values accumulateAll(const Values &initial, llvm::function_ref<Values(const Values &)> step);
  bool sumsInChunks();
  Values accumulateChunks(const Values &initial, llvm::function_ref<Values(const Values &)> step);
  Values accumulateParts(const Values &initial, llvm::function_ref<Values(const Values &)> step);
  Values accumulate(ArrayRef<Emitted> accumulators, const Lanes &lanes);
  void finish(ArrayRef<Emitted> totals, const Lanes &lanes);
  KernelFrame &frame;
  int vectorDim;
  linalg::GenericOp accumulation, epilogue;
  linalg::GenericOp body; // of the current code: `accumulation`, possibly without the bounds of its windows
  SmallVector<int> reduced, rows;
  std::optional<WindowInterior> interior;
  LaneGroups groups;
  bool sumsChannels = false; // channels are reduced; otherwise each row has all of them
  RowPosition position{frame, rows, groups};
};

int64_t ReductionLoopEmitter::maxRows() const {
  if (!hasGroups())
    return sharesRows() ? sharedRows : 1;
  if (!sharesRows())
    return rows.empty() ? 1 : groupedRows;
  // A quarter of the registers holds values other than sums.
  const int64_t sums = frame.target.vectorRegisters * 3 / 4;
  return std::clamp<int64_t>(sums / groups.channels, 1, sharedRows);
}

/// The numbers of vectors to interleave, in order; a body without bounds leaves registers for many.
SmallVector<int64_t> ReductionLoopEmitter::vectorCounts() {
  if (hasGroups()) {
    const int64_t sums = int64_t(position.present().size()) * (sumsChannels ? 1 : groups.channels);
    const int64_t fitting = frame.target.vectorRegisters * 3 / 4 / sums, limit = vectorsHoldGroup() ? 4 : 2;
    const int64_t count = fitting >= limit ? limit : fitting >= 2 ? 2 : 1;
    if (count == 1 || (frame.target.hasMaskedMemory && !vectorsHoldGroup()))
      return {count}; // a single vector uses the tail code, since code for all channels is long
    return {count, 1};
  }
  const bool isSmall =
      (isShort(body) || body != accumulation) && body.getNumDpsInits() == 1 && position.present().size() == 1;
  const int64_t codeSize = int64_t(position.present().size()) * (codeSizeOf(body) + codeSizeOf(epilogue));
  const int64_t limit = boundedCopies(isSmall ? maxVectors : maxVectorsOfRows, codeSize);
  SmallVector<int64_t> counts;
  for (const int64_t count : {limit, std::min<int64_t>(limit, 4), int64_t(1)})
    if (counts.empty() || count < counts.back())
      counts.push_back(count);
  return counts;
}

Values ReductionLoopEmitter::accumulate(ArrayRef<Emitted> accumulators, const Lanes &lanes) {
  Values arguments = loadInputs(frame, body, lanes);
  arguments.append(accumulators.begin(), accumulators.end());
  return emitBody(frame, body, arguments, lanes);
}

void ReductionLoopEmitter::finish(ArrayRef<Emitted> totals, const Lanes &lanes) {
  for (auto [result, total] : llvm::zip(accumulation.getResults(), totals))
    frame.storage[result] = {{}, total.type(), total};
  storeOutputs(frame, epilogue, lanes);
}

void ReductionLoopEmitter::emitColumns(Emitted column, const Lanes &all, int64_t vectors) {
  const auto count = size_t(accumulation.getNumDpsInits());
  Lanes lanes = all;
  const auto forEach = [&](llvm::function_ref<void(size_t)> each) {
    size_t first = 0;
    for (const Values &row : position.present()) {
      position.moveTo(row);
      for (int64_t vector = 0; vector < vectors; ++vector) {
        position.moveToColumn(vector == 0 ? column : column + vector * lanes.count, lanes);
        for (int64_t channel = 0; channel < (sumsChannels ? 1 : groups.channels); ++channel, first += count) {
          if (!sumsChannels)
            position.moveToChannel(channel);
          lanes.groups = groups;
          each(first);
        }
      }
    }
  };
  Values initial;
  forEach([&](size_t) {
    for (unsigned output = 0; output < count; ++output)
      initial.push_back(frame.splat(frame.initialOf(accumulation, output), lanes.count));
  });
  const Values totals = accumulateAll(initial, [&](const Values &before) {
    Values now = before;
    for (int64_t channel = 0; channel < (sumsChannels ? groups.channels : 1); ++channel) {
      if (sumsChannels)
        position.moveToChannel(channel);
      forEach([&](size_t first) {
        llvm::copy(accumulate(ArrayRef<Emitted>(now).slice(first, count), lanes), now.begin() + int64_t(first));
      });
    }
    return now;
  });
  forEach([&](size_t first) { finish(ArrayRef<Emitted>(totals).slice(first, count), lanes); });
}

/// Accumulates one step after another, in the order of the reduced axes.
Values ReductionLoopEmitter::accumulateAll(const Values &initial, llvm::function_ref<Values(const Values &)> step) {
  if (sumsInChunks())
    return accumulateChunks(initial, step);
  if (!sharesRows() || !interior->isKnown(vectorDim))
    return frame.loops(reduced, initial, step);
  return frame.loops(ArrayRef(reduced).drop_back(), initial,
                     [&](const Values &now) { return accumulateParts(now, step); });
}

/// Returns true if totals are rounded and the reduced indices are not the taps of a window.
bool ReductionLoopEmitter::sumsInChunks() {
  if (hasGroups() || reduced.empty() || interior->isKnown(vectorDim))
    return false;
  return llvm::any_of(llvm::enumerate(combinersOf(accumulation)), [&](auto each) {
    return roundsTotals(each.value(), getElementTypeOrSelf(accumulation.getResult(unsigned(each.index()))));
  });
}

/// Accumulates chunks of the last reduced dim and of the lines before it.
Values ReductionLoopEmitter::accumulateChunks(const Values &initial, llvm::function_ref<Values(const Values &)> step) {
  SmallVector<std::string> combiners;
  while (combiners.size() < initial.size())
    combiners.append(combinersOf(accumulation));
  const Emitted zero = frame.constant(0), one = frame.constant(1), limit = frame.constant(maxAdditions);
  const auto dim = size_t(reduced.back());
  const ArrayRef<int> lineDims = ArrayRef(reduced).drop_back();
  const auto along = [&](Emitted begin, Emitted end, const Values &carried) {
    return frame.loop(begin, end, one, carried, [&](Emitted at, const Values &now) {
      frame.index[dim] = at;
      return step(now);
    });
  };
  const auto chunks = [&](llvm::function_ref<Values(Emitted, Emitted)> sum) {
    return sumInChunks(frame, combiners, frame.scratch, zero, frame.extents[dim], limit, initial, sum);
  };
  if (lineDims.empty())
    return chunks([&](Emitted begin, Emitted end) { return along(begin, end, initial); });
  const Emitted lines = divideUnsigned(limit, maximum(minimum(frame.extents[dim], limit), one));
  const Emitted lineTotals =
      frame.address(frame.scratch, frame.getI8Type(), frame.constant(chunkTotalsBytes(frame.source, frame.target)));
  return sumInChunks(frame, combiners, lineTotals, zero, frame.size(lineDims), lines, initial,
                     [&](Emitted first, Emitted last) {
                       return chunks([&](Emitted begin, Emitted end) {
                         return frame.loop(first, last, one, initial, [&](Emitted line, const Values &now) {
                           frame.delinearize(line, lineDims);
                           return along(begin, end, now);
                         });
                       });
                     });
}

/// Accumulates the last reduced axis in short parts.
Values ReductionLoopEmitter::accumulateParts(const Values &initial, llvm::function_ref<Values(const Values &)> step) {
  const auto dim = size_t(reduced.back());
  const Emitted one = frame.constant(1), length = frame.constant(8), extent = frame.extents[dim];
  return frame.loop(frame.constant(0), extent, length, initial, [&](Emitted begin, const Values &before) {
    const Emitted end = minimum(begin + length, extent);
    const Emitted inside = position.holdsAtRows([&] { // the index of a tap is monotonic in between
      frame.index[dim] = begin;
      const Emitted first = interior->holdsAtIndex();
      frame.index[dim] = end - 1;
      return first & interior->holdsAtIndex();
    });
    const auto by = [&](linalg::GenericOp generic) {
      return [&, generic] {
        body = generic;
        return frame.loop(begin, end, one, before, [&](Emitted at, const Values &now) {
          frame.index[dim] = at;
          return step(now);
        });
      };
    };
    return frame.choose(inside, by(interior->generic()), by(accumulation));
  });
}

void ReductionLoopEmitter::emitRows(Emitted row, int64_t count, Emitted columnBegin, Emitted columnEnd) {
  position.setRows(row, count);
  const auto by = [&](linalg::GenericOp generic) {
    return [&, generic] { emitRowsBy(generic, columnBegin, columnEnd); };
  };
  if (interior->isKnown(vectorDim) && !sharesRows())
    frame.branch(position.holdsAtRows([&] { return interior->holds(); }), by(interior->generic()), by(accumulation));
  else
    by(accumulation)();
}

void ReductionLoopEmitter::emitRowsBy(linalg::GenericOp generic, Emitted columnBegin, Emitted columnEnd) {
  body = generic;
  const int64_t width = laneCount();
  const auto segment = [&](Emitted begin, Emitted end, int64_t step, const Lanes &lanes, int64_t count) {
    frame.loop(begin, end, frame.constant(step), [&](Emitted column) {
      position.moveToColumn(column, lanes);
      emitColumns(column, lanes.limit ? maskedLanes(frame, lanes.count, vectorDim, lanes.limit, groups) : lanes, count);
    });
  };
  Emitted begin = columnBegin;
  for (int64_t count : vectorCounts()) {
    const int64_t step = count * width;
    const Emitted end = begin + divideUnsigned(columnEnd - begin, frame.constant(step)) * step;
    segment(begin, end, step, {width, vectorDim}, count);
    begin = end;
  }
  if (vectorsHoldGroup())
    return;
  if (frame.target.hasMaskedMemory)
    segment(begin, columnEnd, width, {width, vectorDim, {}, columnEnd}, 1);
  else
    segment(begin, columnEnd, 1, {0, vectorDim}, 1);
}

void ReductionLoopEmitter::emit() {
  const Emitted one = frame.constant(1), rowCount = frame.size(rows);
  const Emitted columns = hasGroups() ? frame.extents[groups.dim] * groups.size : frame.extents[vectorDim];
  const Emitted blockRows = frame.extents[frame.dims], blockColumns = frame.extents[frame.dims + 1];
  const Emitted columnBlocks = ceilDivideUnsigned(columns, blockColumns);
  const SmallVector<int64_t> counts = maxRows() > 1 ? SmallVector<int64_t>{maxRows(), 1} : SmallVector<int64_t>{1};
  frame.loop(frame.blockBegin, frame.blockEnd, one, [&](Emitted block) {
    const Emitted rowBegin = divideUnsigned(block, columnBlocks) * blockRows;
    const Emitted rowEnd = minimum(rowCount, rowBegin + blockRows);
    const Emitted columnBegin = remainderUnsigned(block, columnBlocks) * blockColumns;
    const Emitted columnEnd = minimum(columns, columnBegin + blockColumns);
    Emitted begin = rowBegin;
    for (const int64_t count : counts) {
      const Emitted step = frame.constant(count), end = begin + divideUnsigned(rowEnd - begin, step) * step;
      frame.loop(begin, end, step, [&](Emitted row) { emitRows(row, count, columnBegin, columnEnd); });
      begin = end;
    }
  });
}

} // namespace

int64_t reductionTotalsBytes(const KernelSource &source, ArrayRef<int64_t>, const CpuTarget &target) {
  return 2 * chunkTotalsBytes(source, target); // of chunks of a line, and of lines
}

void emitReductionLoop(KernelFrame &frame) { ReductionLoopEmitter(frame).emit(); }

} // namespace halftone::compiler
