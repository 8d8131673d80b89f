// Packing: a tile's operands through their prologues into scratch.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulPack.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <bit>

namespace halftone::compiler {
using namespace mlir;

void MatmulPacking::store(Emitted vector, Emitted at) {
  watch.look(vector);
  block.store(vector, at);
}

void MatmulPacking::packRows(const MatmulDepth &depth) {
  if (plan.window)
    packWindow(depth);
  else if (plan.lanesAlongDepth(0))
    packRowsAlongDepth(depth);
  else if (plan.a == ReadA::packedRows)
    packRowsTurned(depth);
  else
    packAcross(0, depth);
}

void MatmulPacking::packColumns(const MatmulDepth &depth) {
  if (plan.lanesAlongDepth(1))
    packColumnsTransposed(constant(0), block.columns, depth);
  else
    packAcross(1, depth);
}

void MatmulPacking::packRowsAlongDepth(const MatmulDepth &depth) {
  const Emitted full = minimum(depth.count, block.size[depthRole] / constant(plan.groupSize) - depth.first);
  const Emitted wholeEnd = block.wholeOf(full, lanes);
  watch.loop(constant(0), block.rows, constant(1), [&](Emitted row) {
    MatmulIndex index = access.indexAt(rowRole, block.firstRow + row);
    for (bool whole : {true, false})
      watch.loop(whole ? constant(0) : wholeEnd, whole ? wholeEnd : depth.count, constant(lanes), [&](Emitted k) {
        access.setLanes(index, depthRole, depth.first, k, depth.count);
        index.whole = whole;
        const Emitted vector =
            plan.groupSize > 1 ? groups.alongDepth(0, index, depth.first + k) : operands.factor(0, index);
        store(vector, block.at(block.packedA, row * block.sizes.rowPitch() + k));
      });
  });
  packBias(depth);
}

void MatmulPacking::packWindow(const MatmulDepth &depth) {
  const MatmulWindow window(block);
  const WindowCopy copy(block, window);
  const MatmulRole places = window.placesRole();
  const Emitted firstPlace = block.batch * block.size[places];
  if (plan.packsAlongPlaces) {
    const MatmulWindow::Range ofRows{block.firstRow, block.rows}, ofDepth{depth.first, depth.count};
    auto [seen, columns] = places == rowRole ? std::pair(ofRows, ofDepth) : std::pair(ofDepth, ofRows);
    const Emitted pitch = places == rowRole ? block.packedPitch : constant(block.sizes.rowPitch());
    seen.first = firstPlace + seen.first;
    frame.loop(constant(0), columns.count, constant(1), [&, seen = seen, first = columns.first](Emitted column) {
      copy.copyPlaces(first + column, seen, block.at(block.packedA, column * pitch));
    });
    return;
  }
  if (places == rowRole)
    return packWindowAlongDepth(window, copy, firstPlace, depth);
  if (plan.groupSize > 1)
    return packWindowPairs(window, copy, firstPlace, depth);
  const auto loop = [&](Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body) {
    frame.loop(begin, end, step, body);
  };
  window.forPlaces({firstPlace + depth.first, depth.count}, loop, [&](const MatmulWindow::Place &place, Emitted k) {
    copy.copy(place, {block.firstRow, block.rows}, block.at(block.packedA, k * block.packedPitch));
  });
}

void MatmulPacking::packWindowAlongDepth(const MatmulWindow &window, const WindowCopy &copy, Emitted firstPlace,
                                         const MatmulDepth &depth) {
  const Emitted group = constant(plan.groupSize), first = depth.first * group;
  const Emitted count = minimum(depth.count * group, block.size[depthRole] - first);
  const auto loop = [&](Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body) {
    watch.loop(begin, end, step, body);
  };
  const MatmulWindow::Range places{firstPlace + block.firstRow, block.rows};
  window.forPlaces(places, loop, [&](const MatmulWindow::Place &place, Emitted row) {
    const Emitted to = block.at(block.packedA, row * block.sizes.rowPitch());
    copy.copy(place, {first, count}, to);
    if (plan.groupSize > 1)
      copy.copyOutside(constant(1), copy.at(to, count)); // past K
    if (watch.isOn())
      watch.loop(constant(0), depth.count, constant(lanes),
                 [&](Emitted k) { watch.look(block.load(block.at(to, k))); });
  });
  packBias(depth);
}

/// Neighbouring rows of the window are pairs along K. Some columns of two rows at a time go to the place of packed B, which
/// is not packed yet, and together from there to packed A, or to lines behind them that are turned.
void MatmulPacking::packWindowPairs(const MatmulWindow &window, const WindowCopy &copy, Emitted firstPlace,
                                    const MatmulDepth &depth) {
  const Emitted most = constant(2048), pitch = most + 4 * lanes; // a vector of each kind may lie behind
  const Emitted lines = block.at(block.packedB, pitch);          // behind two rows of 16-bit elements
  const auto copyRow = [&](Emitted place, MatmulWindow::Range columns, Emitted to) {
    frame.branch(
        place < block.size[depthRole], [&] { copy.copy(window.placeAt(firstPlace + place), columns, to); },
        [&] { copy.copyOutside(columns.count, to); });
    copy.copyOutside(constant(1), copy.at(to, columns.count));
  };
  // The columns from `begin` on of a pair of rows.
  const auto packPair = [&](Emitted pair, Emitted begin, Emitted count, Emitted to) {
    Values rows;
    for (int64_t member = 0; member < plan.groupSize; ++member) {
      rows.push_back(copy.at(block.packedB, pitch * member));
      const Emitted place = (depth.first + pair) * plan.groupSize + member;
      copyRow(place, {block.firstRow + begin, count}, rows.back());
    }
    watch.loop(constant(0), count, constant(lanes), [&](Emitted at) {
      Values members;
      for (Emitted row : rows)
        members.push_back(frame.load(block.lanesOf(frame.getI16Type()), copy.at(row, at)));
      store(groups.joined(members), block.at(to, at));
    });
  };
  const auto forColumns = [&](llvm::function_ref<void(Emitted, Emitted)> body) {
    watch.loop(constant(0), block.rows, most, [&](Emitted begin) { body(begin, minimum(most, block.rows - begin)); });
  };
  if (plan.a != ReadA::packedRows)
    return watch.loop(constant(0), depth.count, constant(1), [&](Emitted pair) {
      forColumns([&](Emitted begin, Emitted count) {
        packPair(pair, begin, count, block.at(block.packedA, pair * block.packedPitch + begin));
      });
    });
  watch.loop(constant(0), depth.count, constant(lanes), [&](Emitted first) {
    forColumns([&](Emitted begin, Emitted count) {
      watch.loop(constant(0), constant(lanes), constant(1),
                 [&](Emitted line) { packPair(first + line, begin, count, block.at(lines, line * pitch)); });
      turnLines(lines, pitch, count, block.at(block.packedA, begin * block.sizes.rowPitch() + first));
    });
  });
}

/// `lanes` lines of `count` packed elements become `count` rows of packed A.
void MatmulPacking::turnLines(Emitted lines, Emitted pitch, Emitted count, Emitted to) {
  frame.loop(constant(0), count, constant(lanes), [&](Emitted at) {
    Values square;
    for (int64_t line = 0; line < lanes; ++line)
      square.push_back(block.load(block.at(lines, pitch * line + at)));
    square = frame.transpose(square);
    for (int64_t lane = 0; lane < lanes; ++lane)
      block.store(square[size_t(lane)], block.at(to, (at + lane) * block.sizes.rowPitch()));
  });
}

/// The sum of each row's part of K times the raise of the columns, negated, in the room behind the row.
void MatmulPacking::packBias(const MatmulDepth &depth) {
  const int64_t raise = plan.raise;
  if (raise == 0)
    return;
  const Emitted raises =
      block.splat(frame.constant(frame.getI32IntegerAttr(std::bit_cast<int32_t>(uint32_t(raise) * 0x01010101U))));
  frame.loop(constant(0), block.rows, constant(1), [&](Emitted row) {
    const Emitted start = block.at(block.packedA, row * block.sizes.rowPitch());
    const Values sums =
        frame.loop(constant(0), depth.count, constant(lanes), block.zeros(), [&](Emitted k, const Values &now) {
          return Values{plan.product->multiply(frame, now[0], block.load(block.at(start, k)), raises)};
        });
    const Emitted sum = frame.wrap(vector::ReductionOp::create(frame, vector::CombiningKind::ADD, sums[0].value()));
    frame.store(sum.like(int64_t(0)) - sum, block.at(start, constant(block.sizes.depth)));
  });
}

void MatmulPacking::packRowsTurned(const MatmulDepth &depth) {
  watch.loop(constant(0), block.rows, constant(lanes), [&](Emitted row) {
    watch.loop(constant(0), depth.count, constant(lanes), [&](Emitted k) {
      frame.loop(constant(0), constant(lanes), constant(1), [&](Emitted member) {
        MatmulIndex index;
        access.moveTo(index, batchRole, block.batch);
        access.setLanes(index, rowRole, block.firstRow, row, block.rows);
        const Emitted vector = groups.across(0, index, depth.first + k + member);
        const Emitted isWithin = k + member < depth.count;
        block.store(select(isWithin, vector, vector.like(int64_t(0))), squareRow(member));
      });
      Values turned;
      for (int64_t member = 0; member < lanes; ++member)
        turned.push_back(block.load(squareRow(constant(member))));
      turned = frame.transpose(turned);
      for (int64_t lane = 0; lane < lanes; ++lane)
        store(turned[size_t(lane)], block.at(block.packedA, (row + lane) * block.sizes.rowPitch() + k));
    });
  });
}

Emitted MatmulPacking::rowsAcross(Emitted k, Emitted row) const {
  return plan.a == ReadA::packedPanels ? row * block.sizes.rowPitch() + k * lanes : k * block.packedPitch + row;
}

void MatmulPacking::packAcross(int side, const MatmulDepth &depth) {
  const bool isRows = side == 0;
  const MatmulRole role = isRows ? rowRole : columnRole;
  const Emitted count = isRows ? block.rows : block.columns, first = isRows ? block.firstRow : block.firstColumn;
  const auto copy = [&](Emitted k, Emitted begin, Emitted end, int64_t vectors, bool whole) {
    MatmulIndex index = access.indexAt(depthRole, depth.first + k);
    index.whole = whole;
    watch.loop(begin, end, constant(vectors * lanes), [&](Emitted start) {
      for (int64_t vector = 0; vector < vectors; ++vector) {
        const Emitted at = start + vector * lanes;
        access.setLanes(index, role, first, at, count);
        const Emitted packed =
            plan.groupSize > 1 ? groups.across(side, index, depth.first + k) : operands.factor(side, index);
        const Emitted offset = isRows ? rowsAcross(k, at) : start * block.sizes.depth + (k * vectors + vector) * lanes;
        store(packed, block.at(isRows ? block.packedA : block.packedB, offset));
      }
    });
  };
  const Emitted panels = block.wholeOf(count, block.sizes.columns()), vectors = block.wholeOf(count, lanes);
  watch.loop(constant(0), depth.count, constant(1), [&](Emitted k) {
    copy(k, constant(0), panels, block.sizes.vectors, true);
    copy(k, panels, vectors, 1, true);
    copy(k, vectors, count, 1, false);
  });
  if (plan.multiply == Multiply::amxTiles)
    packZerosPastDepth(depth);
}

void MatmulPacking::packZerosPastDepth(const MatmulDepth &depth) {
  const Emitted zeros = block.zeros(), end = ceilDivide(depth.count, constant(lanes)) * lanes;
  frame.loop(constant(0), block.columns, constant(lanes), [&](Emitted column) {
    const auto [start, pitch] = packedColumns(column, constant(0));
    const auto storeAt = [&, start = start, pitch = pitch](Emitted k) {
      block.store(zeros, block.at(start, k * pitch));
    };
    frame.loop(depth.count, end, constant(1), storeAt);
  });
}

std::pair<Emitted, Emitted> MatmulPacking::packedColumns(Emitted column, Emitted first) const {
  const Emitted panel = constant(block.sizes.columns());
  const Emitted within = column % panel, inPanel = column < block.wholeOf(block.columns, block.sizes.columns());
  const Emitted start = select(inPanel, column - within, column) - first;
  return {block.at(block.packedB, start * block.sizes.depth + select(inPanel, within, constant(0))),
          select(inPanel, panel, constant(lanes))};
}

Emitted MatmulPacking::columnAlongDepth(Emitted column, Emitted k, const MatmulDepth &depth) const {
  MatmulIndex index = access.indexAt(columnRole, block.firstColumn + minimum(column, block.columns - 1));
  if (plan.groupSize > 1)
    return groups.alongDepth(1, index, depth.first + k);
  access.setLanes(index, depthRole, depth.first, k, depth.count);
  return operands.factor(1, index);
}

/// The columns from `start` on, each a vector along K. With a prologue they pass through scratch, which keeps the code
/// short.
Values MatmulPacking::squareOfColumns(Emitted start, Emitted k, const MatmulDepth &depth) {
  const bool throughScratch = bool(plan.prologue[1]);
  if (throughScratch)
    frame.loop(constant(0), constant(lanes), constant(1),
               [&](Emitted lane) { block.store(columnAlongDepth(start + lane, k, depth), squareRow(lane)); });
  Values columns;
  for (int64_t lane = 0; lane < lanes; ++lane)
    columns.push_back(throughScratch ? block.load(squareRow(constant(lane)))
                                     : columnAlongDepth(start + lane, k, depth));
  return columns;
}

void MatmulPacking::packColumnsTransposed(Emitted begin, Emitted end, const MatmulDepth &depth) {
  watch.loop(begin, end, constant(lanes), [&](Emitted start) {
    const auto packed = packedColumns(start, begin);
    watch.loop(constant(0), depth.count, constant(lanes), [&](Emitted k) {
      const Values turned = frame.transpose(squareOfColumns(start, k, depth));
      for (int64_t lane = 0; lane < lanes; ++lane)
        store(turned[size_t(lane)], block.at(packed.first, (k + lane) * packed.second));
    });
  });
}

void MatmulPacking::watchRows(Emitted rows, Emitted rowPitch, const MatmulDepth &depth) {
  const Emitted wholeEnd = block.wholeOf(depth.count, lanes);
  const Type vector = block.lanesOf(plan.accumulator);
  watch.loop(constant(0), block.rows, constant(1), [&](Emitted row) {
    const MatmulIndex index = access.indexAt(rowRole, block.firstRow + row);
    const Emitted start = block.at(rows, row * rowPitch);
    watch.loop(constant(0), wholeEnd, constant(lanes),
               [&](Emitted k) { watch.look(frame.load(vector, block.at(start, k))); });
    watch.loop(wholeEnd, depth.count, constant(lanes),
               [&](Emitted k) { watch.look(groups.alongDepth(0, index, depth.first + k)); });
  });
}

void MatmulPacking::watchImage() {
  const MatmulWindow window(block);
  const auto [first, count] = window.elementsOf({block.batch * block.size[rowRole] + block.firstRow, block.rows});
  const Emitted vector = constant(lanes * plan.groupSize), past = first + count, whole = count / vector * vector;
  watch.loop(first, first + whole, vector, [&](Emitted at) { watch.look(window.groupsAt(at)); });
  watch.loop(first + whole, past, constant(plan.groupSize),
             [&](Emitted at) { watch.look(block.splat(window.groupAt(at))); });
}

} // namespace halftone::compiler
