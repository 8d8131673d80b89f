// Products by an instruction that takes several indices of K at once: four of i8, or two of bf16.
// SPDX-License-Identifier: Apache-2.0
//
// One element of the packed operands is a group: neighbours along K of a row of A or of a column of B, in 32 bits, the
// first in the lowest. Groups past K are 0.   i8    VNNI, exact in i32. It multiplies unsigned by signed numbers, so A
// is packed as a + 128, and a row of 128s after the         last one: the sums of that row are what the others have too
// much.   bf16  AVX512_BF16, summed in f32. It takes subnormal numbers for 0, so packing watches out for them: what was
// packed with         one among it is multiplied pair by pair in f32.
#include "compiler/targets/cpu/Matmul.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

LogicalResult MatmulEmitter::readInstruction() {
  const std::string &named = source.form.instruction;
  if (named.empty())
    return success();
  const auto found = matmulInstructionNamed(named);
  if (!found || !has(cpu, *found))
    return source.function.emitError() << named << " is no instruction of this CPU for products";
  instruction = *found;
  groupSize = depthOf(instruction);
  for (MatmulRole role : {rowRole, columnRole, depthRole})
    if (group[role].size() != 1)
      return source.function.emitError() << named << " with several dims of M, N or K; expected one of each";
  for (Value factor : contraction.getInputs())
    if (groupSize > 1 && !getElementTypeOrSelf(factor).isInteger(unsigned(32 / groupSize)))
      return source.function.emitError() << named << " with factors of " << getElementTypeOrSelf(factor);
  return success();
}

bool MatmulEmitter::readsRowPairsInPlace() {
  return groupSize == 2 && !prologue[0] && lanesAlongDepth(0) && source.form.evenDepth;
}

void MatmulEmitter::packBias(Emitted depth) {
  const VectorType bytes = VectorType::get(64, b.getI8Type());
  const Value signs = arith::ConstantOp::create(b, DenseElementsAttr::get(bytes, b.getI8IntegerAttr(-128)));
  loop(number(0), depth, number(sizes->lanes),
       [&](Emitted k) { storeValue(signs, address(packedA, accumulator, rows * sizes->depth + k), true); });
}

FailureOr<Value> MatmulEmitter::groupsAlongDepth(int side, MatmulPlace place, Emitted group) {
  const int64_t count = sizes->lanes * groupSize;
  const Type element = b.getIntegerType(unsigned(32 / groupSize));
  const VectorType members = VectorType::get(count, element);
  const Emitted first = group * groupSize;
  Value found;
  if (prologue[side]) {
    SmallVector<int64_t> all;
    for (int64_t lane = 0; lane < count; ++lane)
      all.push_back(lane);
    Lanes halves;
    for (int64_t half = 0; half < 2; ++half) {
      setLanes(place, depthRole, number(0), first + half * sizes->lanes, size[depthRole]);
      const FailureOr<Value> lanes = storedFactor(side, place);
      if (failed(lanes))
        return failure();
      const Emitted value = wrap(*lanes);
      halves.push_back(place.whole ? value.value() : select(laneMask(place), value, value.like(int64_t(0))).value());
    }
    found = vector::ShuffleOp::create(b, halves[0], halves[1], all);
  } else {
    moveTo(place, depthRole, first);
    OpOperand *input = contraction.getDpsInputOperand(side);
    const Reach reach = this->reach(contraction.getMatchingIndexingMap(input), dimsOf(contraction), place);
    const Emitted at = address(pointers.lookup(input->get()), element, reach.offset);
    if (place.whole) {
      found = loadValue(members, at);
    } else {
      SmallVector<int8_t> numbers;
      for (int64_t lane = 0; lane < count; ++lane)
        numbers.push_back(int8_t(lane));
      const VectorType bytes = VectorType::get(count, b.getI8Type());
      const Value steps = arith::ConstantOp::create(b, DenseElementsAttr::get(bytes, ArrayRef<int8_t>(numbers)));
      const Emitted left = minimum(size[depthRole] - first, number(count)).narrow(b.getI8Type());
      const Emitted mask = wrap(steps) < wrap(vector::BroadcastOp::create(b, bytes, left.value()));
      found = LLVM::MaskedLoadOp::create(b, members, at.value(), mask.value(),
                                         arith::ConstantOp::create(b, b.getZeroAttr(members)), unsigned(4 / groupSize));
    }
  }
  if (hasBiasRow() && side == 0)
    found = (wrap(found) ^ -128).value();
  return vector::BitCastOp::create(b, lanesOf(accumulator), found).getResult();
}

FailureOr<Value> MatmulEmitter::groupsAcross(int side, MatmulPlace place, Emitted group) {
  Lanes members;
  for (int64_t member = 0; member < groupSize; ++member) {
    const Emitted k = group * groupSize + member;
    const bool within = member == 0 || source.form.evenDepth;
    moveTo(place, depthRole, within ? k : minimum(k, size[depthRole] - 1));
    const FailureOr<Value> lanes = storedFactor(side, place);
    if (failed(lanes))
      return failure();
    const Emitted value = wrap(*lanes);
    members.push_back(within ? value.value() : select(k < size[depthRole], value, value.like(int64_t(0))).value());
  }
  const auto interleaved = [&](Value x, Value y, Type type) {
    return vector::BitCastOp::create(b, type, vector::InterleaveOp::create(b, x, y)).getResult();
  };
  if (groupSize == 2)
    return interleaved(members[0], members[1], lanesOf(accumulator));
  const Type pairs = lanesOf(b.getI16Type());
  return interleaved(interleaved(members[0], members[1], pairs), interleaved(members[2], members[3], pairs),
                     lanesOf(accumulator));
}

Value MatmulEmitter::multiplyGroups(Value sums, Value a, Value b) {
  const auto call = [&](StringRef intrinsic, Type element) {
    const VectorType type = VectorType::get(sizes->lanes * groupSize, element);
    const Value left = vector::BitCastOp::create(this->b, type, a), right = vector::BitCastOp::create(this->b, type, b);
    return LLVM::CallIntrinsicOp::create(this->b, sums.getType(), this->b.getStringAttr(intrinsic),
                                         ValueRange{sums, left, right})
        .getResult(0);
  };
  if (instruction == MatmulInstruction::vpdpbusd)
    return call("llvm.x86.avx512.vpdpbusd.512", this->b.getI8Type());
  if (!widens)
    return call("llvm.x86.avx512bf16.dpbf16ps.512", this->b.getBF16Type());
  const auto first = [&](Value pairs) { return (wrap(pairs).bits() << 16).bitsAs(accumulator); };
  const auto second = [&](Value pairs) { return (wrap(pairs).bits() & int64_t(0xffff0000)).bitsAs(accumulator); };
  const Value sum = math::FmaOp::create(this->b, second(a), second(b), sums);
  return math::FmaOp::create(this->b, first(a), first(b), sum);
}

MatmulEmitter::Lanes MatmulEmitter::nothingWatched() {
  if (groupSize != 2)
    return {};
  const VectorType halves = VectorType::get(2 * sizes->lanes, b.getI16Type());
  return {arith::ConstantOp::create(b, DenseElementsAttr::get(halves, b.getI16IntegerAttr(-1))).getResult()};
}

void MatmulEmitter::watch(Value groups) {
  if (watched.empty())
    return;
  // Without the sign bit and less 1, zeros are the largest numbers and subnormal ones the smallest.
  const Emitted halves = wrap(vector::BitCastOp::create(b, watched[0].getType(), groups));
  watched[0] = arith::MinUIOp::create(b, watched[0], (halves + halves) - 1);
}

LogicalResult MatmulEmitter::watchRows(Emitted firstDepth, Emitted depth) {
  const MatmulFactors factors = rowFactors(firstDepth);
  const Emitted whole = depth / number(sizes->lanes) * sizes->lanes;
  packingLoop(number(0), rows, number(1), [&](Emitted row) {
    MatmulPlace place;
    moveTo(place, batchRole, batch);
    moveTo(place, rowRole, firstRow + row);
    const Emitted start = address(factors.a, accumulator, row * factors.rowPitch);
    packingLoop(number(0), whole, number(sizes->lanes),
                [&](Emitted k) { watch(loadValue(lanesOf(accumulator), address(start, accumulator, k))); });
    packingLoop(whole, depth, number(sizes->lanes), [&](Emitted k) {
      const FailureOr<Value> rest = groupsAlongDepth(0, place, firstDepth + k);
      if (succeeded(sticky(rest)))
        watch(*rest);
    });
  });
  return failure(broken);
}

Emitted MatmulEmitter::sawSubnormal() {
  constexpr int64_t smallestNormal = 2 * 0x80 - 1;
  const Value both = arith::MinUIOp::create(b, watched[0], loadValue(watched[0].getType(), watchedAt, true));
  const Value least = vector::ReductionOp::create(b, vector::CombiningKind::MINUI, both);
  return wrap(arith::CmpIOp::create(b, arith::CmpIPredicate::ult, least, wrap(least).like(smallestNormal)));
}
