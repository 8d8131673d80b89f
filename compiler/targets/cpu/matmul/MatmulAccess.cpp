// Offsets and lanes of tensors in a matmul kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulAccess.h"
#include "compiler/kernels/Lanes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

MatmulIndex MatmulAccess::indexAt(MatmulRole role, Emitted linear) const {
  MatmulIndex index;
  moveTo(index, batchRole, block.batch);
  moveTo(index, role, linear);
  return index;
}

void MatmulAccess::moveTo(MatmulIndex &index, MatmulRole role, Emitted linear) const {
  index.ofDim.resize(size_t(frame.dims));
  index.linear[role] = linear;
  Emitted rest = linear;
  for (int dim : llvm::reverse(plan.group[role])) {
    const bool isFirst = dim == plan.group[role].front();
    index.ofDim[size_t(dim)] = isFirst ? rest : rest % frame.extents[size_t(dim)];
    if (!isFirst)
      rest = rest / frame.extents[size_t(dim)];
  }
}

void MatmulAccess::setLanes(MatmulIndex &index, MatmulRole role, Emitted tileStart, Emitted start,
                            Emitted count) const {
  index.laneRole = role;
  index.start = start;
  index.count = count;
  moveTo(index, role, tileStart + start);
}

MatmulReach MatmulAccess::reach(const TensorAccess &access, const MatmulIndex &index) const {
  MatmulReach reach;
  reach.offset = frame.constant(0);
  Emitted stride = frame.constant(1);
  const ArrayRef<int> lanes = index.laneRole ? ArrayRef<int>(plan.group[*index.laneRole]) : ArrayRef<int>();
  for (size_t axis = access.dims.size(); axis-- > 0;) {
    const int dim = access.dims[axis];
    const Emitted here = dim < 0 ? frame.constant(access.constants[axis]) : index.ofDim[size_t(dim)];
    reach.offset = reach.offset + here * stride;
    if (dim < 0)
      continue; // leading, or of a tensor with only constants
    if (llvm::is_contained(lanes, dim)) {
      reach.varies = true;
      if (lanes.size() == 1)
        reach.stride = stride;
    }
    stride = stride * frame.extents[size_t(dim)];
  }
  // Adjacent lanes are contiguous in memory if their dims are the innermost axes, in order, or if the lanes lie in one
  // run of the innermost axis.
  const bool areInRun = reach.varies && *index.laneRole == depthRole && plan.wholeRuns;
  const size_t dims = areInRun ? 1 : lanes.size();
  reach.contiguous = reach.varies && access.dims.size() >= dims &&
                     llvm::equal(ArrayRef<int>(access.dims).take_back(dims), lanes.take_back(dims));
  return reach;
}

Emitted MatmulAccess::laneOffset(const MatmulReach &reach, const TensorAccess &access, const MatmulIndex &index,
                                 int64_t lane) const {
  // Lanes past the tile's end use the last index.
  const Emitted at = index.start + lane;
  const Emitted within = index.inside == LanesInside::all ? at : minimum(at, index.count - 1);
  if (reach.stride)
    return reach.offset + (within - index.start) * reach.stride;
  MatmulIndex there = index;
  there.laneRole.reset();
  moveTo(there, *index.laneRole, index.linear[*index.laneRole] + (within - index.start));
  return this->reach(access, there).offset;
}

Emitted MatmulAccess::laneMask(const MatmulIndex &index) const {
  const Type i32 = frame.getI32Type();
  const Emitted steps = frame.steps(i32, block.sizes.lanes);
  const Emitted left = minimum(index.count - index.start, frame.constant(block.sizes.lanes)).narrow(i32);
  return steps < block.splat(left);
}

/// For lanes along columns: the words that contain an index of K, and the index's position in its word.
std::pair<Emitted, Emitted> MatmulAccess::wordsOfPanels(Value tensor, const Panels &panels,
                                                        const MatmulIndex &index) const {
  const int64_t group = panels.group, half = group / 2;
  const Type word = frame.getI32Type();
  const Emitted members = frame.constant(group), k = index.linear[depthRole] - index.inWord;
  const Emitted panel = divideUnsigned(index.linear[columnRole], frame.constant(panels.columns));
  const Emitted line = panel * divideUnsigned(block.size[depthRole], members) + divideUnsigned(k, members);
  const Emitted words = block.load(frame.address(block.pointerOf(tensor), word, line * panels.columns)).bits();
  Emitted member = remainderUnsigned(k, members) + index.inWord;
  if (panels.bits != 0)
    member = remainderUnsigned(member, frame.constant(half)) * 2 + divideUnsigned(member, frame.constant(half));
  return {words, member.narrow(word)};
}

Emitted MatmulAccess::loadOfPanels(Value tensor, const Panels &panels, const MatmulIndex &index) const {
  const int64_t width = 32 / panels.group;
  const auto [words, member] = wordsOfPanels(tensor, panels, index);
  const Emitted up = (member.like(panels.group - 1) - member) * width;
  const Emitted highest = shiftSigned(words << block.splat(up), 32 - width);
  return frame.wrap(arith::TruncIOp::create(frame, block.lanesOf(getElementTypeOrSelf(tensor)), highest.value()));
}

/// Converts integers to f32. In the last bits of the float 2^23 / 2^shift, a bit field at `shift` adds its value. The
/// XOR with the pattern inverts the field's sign bit, so the difference is the signed integer.
Emitted MatmulAccess::floatsOfPanels(Value tensor, const Panels &panels, const MatmulIndex &index) const {
  constexpr int64_t exponentAt = 23, exponentOfOne = 127, half = 16; // bits
  const int64_t width = 32 / panels.group;
  auto [words, member] = wordsOfPanels(tensor, panels, index);
  const Emitted inWord = member * width, isHigh = inWord >= inWord.like(half);
  const Emitted shift = select(isHigh, inWord - half, inWord),
                down = select(isHigh, inWord.like(half), inWord.like(int64_t(0)));
  const Emitted mask = shift.like((int64_t(1) << width) - 1) << shift, sign = shift.like(int64_t(1) << (width - 1))
                                                                              << shift;
  const Emitted exponent = (shift.like(exponentOfOne + exponentAt) - shift) << shift.like(exponentAt);
  const Emitted pattern = block.splat(exponent | sign);
  const Type f32 = frame.getF32Type();
  const Emitted biased = ((words >> block.splat(down)) & block.splat(mask)) ^ pattern;
  return biased.bitsAs(f32) - pattern.bitsAs(f32);
}

/// Returns true if the generic uses the packed input only as f32.
static bool isReadAsFloats(linalg::GenericOp generic, OpOperand &input) {
  const BlockArgument argument = generic.getMatchingBlockArgument(&input);
  return !argument.use_empty() && llvm::all_of(argument.getUsers(), [](Operation *user) {
    return isa<arith::SIToFPOp>(user) && user->getResult(0).getType().isF32();
  });
}

Values MatmulAccess::loadInputs(linalg::GenericOp generic, const MatmulIndex &index) const {
  Values inputs;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    if (const std::optional<Panels> &panels = frame.source.formOf(input->get()).panels;
        panels && isReadAsFloats(generic, *input)) {
      inputs.push_back(floatsOfPanels(input->get(), *panels, index));
      continue;
    }
    const TensorAccess accessed = frame.source.accessOf(generic, *input);
    MatmulIndex there = index;
    if (index.sameLookups && liesAlongDepth(accessed))
      moveTo(there, depthRole, *index.sameLookups);
    const MatmulReach reach = this->reach(accessed, there);
    const Type element = getElementTypeOrSelf(input->get());
    inputs.push_back(reach.varies
                         ? load(input->get(), accessed, index)
                         : frame.load(element, frame.address(block.pointerOf(input->get()), element, reach.offset)));
  }
  return inputs;
}

bool MatmulAccess::liesAlongDepth(const TensorAccess &access) const {
  return plan.group[depthRole].size() == 1 && llvm::equal(access.dims, plan.group[depthRole]);
}

Emitted MatmulAccess::haveEqualLookups(linalg::GenericOp generic, Emitted first, int64_t count) const {
  Emitted all;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    const TensorAccess accessed = frame.source.accessOf(generic, *input);
    if (!liesAlongDepth(accessed))
      continue;
    const Type element = getElementTypeOrSelf(input->get());
    const Emitted at = frame.address(block.pointerOf(input->get()), element, first);
    const Emitted run = frame.load(VectorType::get(count, element), at).bits();
    const Emitted one = frame.splat(frame.load(element, at).bits(), count);
    const Emitted equals =
        frame.wrap(vector::ReductionOp::create(frame, vector::CombiningKind::AND, equal(run, one).value()));
    all = all ? all & equals : equals;
  }
  return all;
}

Emitted MatmulAccess::load(Value tensor, const TensorAccess &access, const MatmulIndex &index) const {
  if (const std::optional<Panels> &panels = frame.source.formOf(tensor).panels)
    return loadOfPanels(tensor, *panels, index);
  const Type element = getElementTypeOrSelf(tensor);
  const Emitted pointer = block.pointerOf(tensor);
  const MatmulReach reach = this->reach(access, index);
  const auto addressOf = [&](Emitted offset) { return frame.address(pointer, element, offset); };
  if (!reach.varies)
    return block.splat(frame.load(element, addressOf(reach.offset)));
  const VectorType type = block.lanesOf(element);
  if (!reach.contiguous) {
    Value lanes = ub::PoisonOp::create(frame, type);
    for (int64_t lane = 0; lane < block.sizes.lanes; ++lane) {
      const Emitted scalar = frame.load(element, addressOf(laneOffset(reach, access, index, lane)));
      lanes = vector::InsertOp::create(frame, scalar.value(), lanes, lane);
    }
    return frame.wrap(lanes);
  }
  const Emitted at = addressOf(reach.offset);
  if (index.inside == LanesInside::all)
    return frame.load(type, at);
  const auto inside = [&] { return Values{frame.loadMasked(type, at, laneMask(index))}; };
  if (plan.cpu.hasMaskedMemory || index.inside == LanesInside::notAll)
    return inside()[0];
  return frame.choose(areAllInside(index), [&] { return Values{frame.load(type, at)}; }, inside)[0];
}

void MatmulAccess::store(Emitted lanes, Value tensor, const TensorAccess &access, const MatmulIndex &index) const {
  const Emitted pointer = block.pointerOf(tensor);
  const Type element = getElementTypeOrSelf(lanes.type());
  const MatmulReach reach = this->reach(access, index);
  if (!reach.contiguous) {
    // Lanes past the end would store the last element again, so each lane is stored only if it is inside.
    for (int64_t lane = 0; lane < block.sizes.lanes; ++lane)
      frame.branch(index.start + lane < index.count, [&] {
        const Emitted scalar = frame.wrap(vector::ExtractOp::create(frame, lanes.value(), lane));
        frame.store(scalar, frame.address(pointer, element, laneOffset(reach, access, index, lane)));
      });
    return;
  }
  storeRun(lanes, frame.address(pointer, element, reach.offset), index);
}

void MatmulAccess::storeRun(Emitted lanes, Emitted at, const MatmulIndex &index) const {
  if (index.inside == LanesInside::all)
    return frame.store(lanes, at);
  const auto inside = [&] { frame.storeMasked(lanes, at, laneMask(index)); };
  if (plan.cpu.hasMaskedMemory || index.inside == LanesInside::notAll)
    return inside();
  frame.branch(areAllInside(index), [&] { frame.store(lanes, at); }, inside);
}

Emitted MatmulAccess::indexLanes(int dim, const MatmulIndex &index) const {
  if (!index.laneRole || !llvm::is_contained(plan.group[*index.laneRole], dim))
    return block.splat(index.ofDim[size_t(dim)]);
  Emitted rest = frame.steps(frame.getI64Type(), block.sizes.lanes) + block.splat(index.linear[*index.laneRole]);
  const ArrayRef<int> dims = plan.group[*index.laneRole];
  for (int other : llvm::reverse(dims)) {
    const Emitted extent = block.splat(frame.extents[size_t(other)]);
    if (other == dim)
      return other == dims.front() ? rest : rest % extent;
    rest = rest / extent;
  }
  return rest;
}

Values MatmulAccess::body(linalg::GenericOp generic, const Values &arguments, const MatmulIndex &index) const {
  const SmallVector<int> dims = dimsOf(generic);
  BodyArguments at;
  at.lanes = block.sizes.lanes;
  at.values = arguments;
  const bool looksUp = !generic.getBody()->getOps<tensor::ExtractOp>().empty();
  const int laneDim = index.laneRole ? plan.group[*index.laneRole].back() : -1;
  at.index = [&](unsigned dim) {
    return looksUp && dims[dim] != laneDim ? index.ofDim[size_t(dims[dim])] : indexLanes(dims[dim], index);
  };
  at.lookup = [&](tensor::ExtractOp op, Emitted indices) {
    const Emitted mask = index.inside == LanesInside::all ? Emitted() : laneMask(index);
    return lookUpLanes(frame, generic, op, indices, {at.lanes, laneDim, mask});
  };
  return cloneBody(frame, generic, at, frame.outside);
}

} // namespace halftone::compiler
