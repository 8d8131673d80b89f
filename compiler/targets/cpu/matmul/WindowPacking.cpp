// Packs rows of a window's matrix as A, along K, along positions, or in pairs of positions.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/WindowPacking.h"

namespace halftone::compiler {
using namespace mlir;

void WindowPacking::pack(const MatmulDepth &depth) {
  const MatmulRole positions = window.positionsRole();
  const Emitted firstPosition = block.batch * block.size[positions];
  if (plan.packsAlongPositions)
    return packPositions(firstPosition, depth);
  if (positions == rowRole)
    return packAlongDepth(firstPosition, depth);
  if (plan.groupSize > 1)
    return packPairs(firstPosition, depth);
  const auto loop = [&](Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body) {
    frame.loop(begin, end, step, body);
  };
  window.forPositions(
      {firstPosition + depth.first, depth.count}, loop, [&](const MatmulWindow::Position &position, Emitted k) {
        copy.copy(position, {block.firstRow, block.rows}, block.at(block.packedA, k * block.packedPitch));
      });
}

/// Packs one tap of one channel at a time, for adjacent positions.
void WindowPacking::packPositions(Emitted firstPosition, const MatmulDepth &depth) {
  const MatmulRole positions = window.positionsRole();
  const MatmulWindow::Range ofRows{block.firstRow, block.rows}, ofDepth{depth.first, depth.count};
  auto [seen, columns] = positions == rowRole ? std::pair(ofRows, ofDepth) : std::pair(ofDepth, ofRows);
  const Emitted pitch = positions == rowRole ? block.packedPitch : constant(block.sizes.rowPitch());
  seen.first = firstPosition + seen.first;
  frame.loop(constant(0), columns.count, constant(1), [&, seen = seen, first = columns.first](Emitted column) {
    copy.copyPositions(first + column, seen, block.at(block.packedA, column * pitch));
  });
}

void WindowPacking::packAlongDepth(Emitted firstPosition, const MatmulDepth &depth) {
  const Emitted group = constant(plan.groupSize), first = depth.first * group;
  const Emitted count = minimum(depth.count * group, block.size[depthRole] - first);
  const auto loop = [&](Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body) {
    watch.loop(begin, end, step, body);
  };
  const MatmulWindow::Range positions{firstPosition + block.firstRow, block.rows};
  window.forPositions(positions, loop, [&](const MatmulWindow::Position &position, Emitted row) {
    const Emitted to = block.at(block.packedA, row * block.sizes.rowPitch());
    copy.copy(position, {first, count}, to);
    if (plan.groupSize > 1)
      copy.copyOutside(constant(1), copy.at(to, count)); // past K
    if (watch.isOn())
      watch.loop(constant(0), depth.count, constant(lanes),
                 [&](Emitted k) { watch.check(block.load(block.at(to, k))); });
  });
}

/// Packs adjacent rows of the window as pairs along K. Some columns of two rows at a time are copied to the memory of
/// packed B, which is not yet in use, and joined from there into packed A, or into the lines after them, which are then
/// transposed.
void WindowPacking::packPairs(Emitted firstPosition, const MatmulDepth &depth) {
  const Emitted limit = constant(2048), pitch = limit + 4 * lanes; // room for a vector of each kind at the end
  const Emitted lines = block.at(block.packedB, pitch);            // after two rows of 16-bit elements
  const auto copyRow = [&](Emitted position, MatmulWindow::Range columns, Emitted to) {
    frame.branch(
        position < block.size[depthRole], [&] { copy.copy(window.positionAt(firstPosition + position), columns, to); },
        [&] { copy.copyOutside(columns.count, to); });
    copy.copyOutside(constant(1), copy.at(to, columns.count));
  };
  // Packs the columns from `begin` on of a pair of rows.
  const auto packPair = [&](Emitted pair, Emitted begin, Emitted count, Emitted to) {
    Values rows;
    for (int64_t member = 0; member < plan.groupSize; ++member) {
      rows.push_back(copy.at(block.packedB, pitch * member));
      const Emitted position = (depth.first + pair) * plan.groupSize + member;
      copyRow(position, {block.firstRow + begin, count}, rows.back());
    }
    watch.loop(constant(0), count, constant(lanes), [&](Emitted at) {
      Values members;
      for (Emitted row : rows)
        members.push_back(frame.load(block.lanesOf(frame.getI16Type()), copy.at(row, at)));
      const Emitted joined = groups.joined(members), address = block.at(to, at);
      watch.check(joined);
      block.store(joined, address);
    });
  };
  const auto forColumns = [&](llvm::function_ref<void(Emitted, Emitted)> body) {
    watch.loop(constant(0), block.rows, limit, [&](Emitted begin) { body(begin, minimum(limit, block.rows - begin)); });
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
      transposeLines(lines, pitch, count, block.at(block.packedA, begin * block.sizes.rowPitch() + first));
    });
  });
}

/// Transposes `lanes` lines of `count` packed elements to `count` rows of packed A.
void WindowPacking::transposeLines(Emitted lines, Emitted pitch, Emitted count, Emitted to) {
  frame.loop(constant(0), count, constant(lanes), [&](Emitted at) {
    Values square;
    for (int64_t line = 0; line < lanes; ++line)
      square.push_back(block.load(block.at(lines, pitch * line + at)));
    square = frame.transpose(square);
    for (int64_t lane = 0; lane < lanes; ++lane)
      block.store(square[size_t(lane)], block.at(to, (at + lane) * block.sizes.rowPitch()));
  });
}

void WindowPacking::watchImage() {
  const auto [first, count] = window.elementsOf({block.batch * block.size[rowRole] + block.firstRow, block.rows});
  const Emitted vector = constant(lanes * plan.groupSize), past = first + count, whole = count / vector * vector;
  watch.loop(first, first + whole, vector, [&](Emitted at) { watch.check(window.groupsAt(at)); });
  watch.loop(first + whole, past, constant(plan.groupSize),
             [&](Emitted at) { watch.check(block.splat(window.groupAt(at))); });
}

} // namespace halftone::compiler
