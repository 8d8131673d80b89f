// Reading tensors from within a matmul kernel: places, offsets, lanes.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/Matmul.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// The kernel dim of each axis of a tensor, or -1 and a constant index.
struct Axis {
  int64_t dim, constant;
};

SmallVector<Axis> axesOf(AffineMap map, ArrayRef<int> dims) {
  SmallVector<Axis> axes;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    axes.push_back({dim ? dims[dim.getPosition()] : -1, constant ? constant.getValue() : 0});
  }
  return axes;
}

} // namespace

void MatmulEmitter::moveTo(MatmulPlace &place, MatmulRole role, Emitted linear) {
  place.index.resize(extents.size());
  place.linear[role] = linear;
  Emitted rest = linear;
  for (int64_t dim : llvm::reverse(group[role])) {
    const bool isFirst = dim == group[role].front();
    place.index[size_t(dim)] = isFirst ? rest : rest % extents[size_t(dim)];
    if (!isFirst)
      rest = rest / extents[size_t(dim)];
  }
}

void MatmulEmitter::setLanes(MatmulPlace &place, MatmulRole role, Emitted tileStart, Emitted start, Emitted count) {
  place.laneRole = role;
  place.start = start;
  place.count = count;
  moveTo(place, role, tileStart + start);
}

MatmulEmitter::Reach MatmulEmitter::reach(AffineMap map, ArrayRef<int> dims, const MatmulPlace &place) {
  const SmallVector<Axis> axes = axesOf(map, dims);
  Reach reach;
  reach.offset = number(0);
  Emitted stride = number(1);
  ArrayRef<int> lanes = place.laneRole ? ArrayRef<int>(group[*place.laneRole]) : ArrayRef<int>();
  for (size_t i = axes.size(); i-- > 0;) {
    const Axis &axis = axes[i];
    reach.offset = reach.offset + (axis.dim < 0 ? number(axis.constant) : place.index[size_t(axis.dim)]) * stride;
    if (axis.dim < 0)
      continue; // leading, or of a tensor with constants only
    if (llvm::is_contained(lanes, axis.dim)) {
      reach.varies = true;
      if (lanes.size() == 1)
        reach.stride = stride;
    }
    stride = stride * extents[size_t(axis.dim)];
  }
  // Neighbouring lanes are neighbours in memory when their dims are the innermost axes, in order.
  if (reach.varies && axes.size() >= lanes.size()) {
    reach.contiguous = true;
    for (size_t i = 0; i < lanes.size(); ++i)
      reach.contiguous &= axes[axes.size() - lanes.size() + i].dim == lanes[i];
  }
  return reach;
}

Emitted MatmulEmitter::laneOffset(const Reach &reach, AffineMap map, ArrayRef<int> dims, const MatmulPlace &place,
                                  int64_t lane) {
  // Past the tile's end the last index stands in.
  const Emitted within = place.whole ? place.start + lane : minimum(place.start + lane, place.count - 1);
  if (reach.stride)
    return reach.offset + (within - place.start) * reach.stride;
  MatmulPlace there = place;
  there.laneRole.reset();
  moveTo(there, *place.laneRole, place.linear[*place.laneRole] + (within - place.start));
  return this->reach(map, dims, there).offset;
}

Emitted MatmulEmitter::laneMask(const MatmulPlace &place) {
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < sizes->lanes; ++lane)
    numbers.push_back(int32_t(lane));
  const Value steps =
      arith::ConstantOp::create(b, DenseElementsAttr::get(lanesOf(b.getI32Type()), ArrayRef<int32_t>(numbers)));
  const Emitted left = minimum(place.count - place.start, number(sizes->lanes)).narrow(b.getI32Type());
  return wrap(steps) < wrap(splat(left.value()));
}

Value MatmulEmitter::load(Value tensor, AffineMap map, ArrayRef<int> dims, const MatmulPlace &place) {
  const Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  const Emitted pointer = pointers.lookup(tensor);
  const Reach reach = this->reach(map, dims, place);
  if (!reach.varies)
    return splat(loadValue(element, address(pointer, element, reach.offset)));
  const VectorType type = lanesOf(element);
  if (!reach.contiguous) {
    Value lanes = ub::PoisonOp::create(b, type);
    for (int64_t lane = 0; lane < sizes->lanes; ++lane) {
      const Emitted offset = laneOffset(reach, map, dims, place, lane);
      lanes = vector::InsertOp::create(b, loadValue(element, address(pointer, element, offset)), lanes, lane);
    }
    return lanes;
  }
  const Emitted at = address(pointer, element, reach.offset);
  const auto masked = [&] {
    const unsigned bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
    const Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    return LLVM::MaskedLoadOp::create(b, type, at.value(), laneMask(place).value(), zero, bytes).getResult();
  };
  if (place.whole)
    return loadValue(type, at);
  if (cpu.hasMaskedMemory)
    return masked();
  auto branch = scf::IfOp::create(b, TypeRange(type), (place.start + sizes->lanes <= place.count).value(), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loadValue(type, at));
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, masked());
  return branch.getResult(0);
}

Value MatmulEmitter::indexLanes(int64_t dim, const MatmulPlace &place) {
  if (!place.laneRole || !llvm::is_contained(group[*place.laneRole], dim))
    return splat(place.index[size_t(dim)].value());
  SmallVector<int64_t> numbers;
  for (int64_t lane = 0; lane < sizes->lanes; ++lane)
    numbers.push_back(lane);
  Emitted rest =
      wrap(arith::ConstantOp::create(b, DenseElementsAttr::get(lanesOf(b.getI64Type()), ArrayRef<int64_t>(numbers)))) +
      wrap(splat(place.linear[*place.laneRole].value()));
  ArrayRef<int> dims = group[*place.laneRole];
  for (int64_t other : llvm::reverse(dims)) {
    const Emitted extent = wrap(splat(extents[size_t(other)].value()));
    if (other == dim)
      return other == dims.front() ? rest : rest % extent;
    rest = rest / extent;
  }
  return rest;
}

FailureOr<MatmulEmitter::Lanes> MatmulEmitter::body(linalg::GenericOp generic, Lanes arguments,
                                                    const MatmulPlace &place) {
  const SmallVector<int> dims = dimsOf(generic);
  BodyArguments at;
  at.lanes = sizes->lanes;
  at.values = arguments;
  at.index = [&](unsigned dim) { return indexLanes(dims[dim], place); };
  return cloneBody(b, generic, at, outside);
}
