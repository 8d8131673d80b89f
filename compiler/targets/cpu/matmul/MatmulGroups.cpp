// Factors of products that take several indices of K at once: four i8 elements, or two bf16 elements.
// SPDX-License-Identifier: Apache-2.0
//
// A packed element is a group: adjacent elements along K of a row of A or of a column of B, in 32 bits, the first in
// the lowest bits. Elements past K are 0.
//   i8    Exact in i32. A product of unsigned by signed numbers takes B as b + 128, or as b + 8 for int4 elements. The
//         excess in the sums of a row of A is the same in all columns; the sums start with its negation.
//   bf16  Summed in f32. If the product treats subnormal numbers as 0, packing checks for them: an operand that
//         contains one is multiplied pair by pair in f32.
#include "compiler/targets/cpu/matmul/MatmulGroups.h"
#include "compiler/targets/cpu/matmul/PackingCores.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

Emitted MatmulGroups::sameBits(Emitted vector, Type type) const {
  return frame.wrap(vector::BitCastOp::create(frame, type, vector.value()));
}

Emitted MatmulGroups::throughPrologue(int side, MatmulIndex index, Emitted first) const {
  const Emitted depth = block.size[depthRole];
  Values halves;
  for (int64_t half = 0; half < 2; ++half) {
    access.setLanes(index, depthRole, frame.constant(0), first + half * block.sizes.lanes, depth);
    const Emitted lanes = operands.stored(side, index);
    halves.push_back(access.selectInside(index, lanes, lanes.like(int64_t(0))));
  }
  const auto all = llvm::to_vector(llvm::seq<int64_t>(0, 2 * block.sizes.lanes));
  return frame.wrap(vector::ShuffleOp::create(frame, halves[0].value(), halves[1].value(), all));
}

Emitted MatmulGroups::inMemory(int side, MatmulIndex index, Emitted first) const {
  const int64_t count = block.sizes.lanes * plan.groupSize;
  const Type element = frame.getIntegerType(unsigned(32 / plan.groupSize)), i8 = frame.getI8Type();
  const VectorType members = VectorType::get(count, element);
  access.moveTo(index, depthRole, first);
  OpOperand *input = plan.contraction.getDpsInputOperand(side);
  const MatmulReach reach = access.reach(frame.source.accessOf(plan.contraction, *input), index);
  const Emitted at = frame.address(block.pointerOf(input->get()), element, reach.offset);
  if (index.inside == LanesInside::all)
    return frame.load(members, at);
  const Emitted steps = frame.steps(i8, count);
  const Emitted left = minimum(block.size[depthRole] - first, frame.constant(count)).narrow(i8);
  return frame.loadMasked(members, at, steps < frame.splat(left, count));
}

Emitted MatmulGroups::alongDepth(int side, MatmulIndex index, Emitted group) const {
  const Emitted first = group * plan.groupSize;
  const Emitted found =
      plan.prologue[size_t(side)] ? throughPrologue(side, index, first) : inMemory(side, index, first);
  return biased(side, sameBits(found, block.lanesOf(plan.accumulator)));
}

Emitted MatmulGroups::across(int side, MatmulIndex index, Emitted group) const {
  const Emitted depth = block.size[depthRole];
  Values members;
  for (int64_t member = 0; member < plan.groupSize; ++member) {
    const Emitted k = group * plan.groupSize + member;
    const bool within = member == 0 || plan.evenDepth;
    access.moveTo(index, depthRole, within ? k : minimum(k, depth - 1));
    const Emitted lanes = operands.stored(side, index);
    members.push_back(within ? lanes : select(k < depth, lanes, lanes.like(int64_t(0))));
  }
  return biased(side, joined(members));
}

Emitted MatmulGroups::biased(int side, Emitted group) const {
  return side == 1 && plan.bias == 128 ? biasedBytes(group) : group;
}

Emitted MatmulGroups::joined(const Values &members) const { return compiler::joined(frame, members, plan.accumulator); }

} // namespace halftone::compiler
