// Products of i8 by an instruction that takes four indices of K at once (VNNI), exact in i32.
// SPDX-License-Identifier: Apache-2.0
//
// The instruction multiplies unsigned by signed numbers, so A is packed as a + 128, and a row of 128s after the last one: the
// sums of that row are what the others have too much.
#include "compiler/kernels/cpu/Matmul.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

SmallVector<int64_t> dimsOf(linalg::GenericOp generic) {
  return SmallVector<int64_t>(generic->getAttrOfType<DenseI64ArrayAttr>("halftone.dims").asArrayRef());
}

} // namespace

bool MatmulEmitter::takesGroups() {
  if (!cpu.hasVnni || cpu.vectorBytes != 64 || !accumulator.isInteger(32) || prologue[0] || prologue[1])
    return false;
  for (MatmulRole role : {rowRole, columnRole, depthRole})
    if (group[role].size() != 1)
      return false;
  Operation *product = contraction.getBody()->getTerminator()->getOperand(0).getDefiningOp()->getOperand(1).getDefiningOp();
  for (unsigned side = 0; side < 2; ++side) {
    auto wide = product->getOperand(side).getDefiningOp<arith::ExtSIOp>();
    if (!wide || wide.getIn() != contraction.getBody()->getArgument(side) || !wide.getIn().getType().isInteger(8))
      return false;
  }
  return lanesAlongDepth(0);
}

void MatmulEmitter::packRowGroups(Number firstDepth, Number depth) {
  const VectorType bytes = VectorType::get(64, b.getI8Type());
  const Value signs = arith::ConstantOp::create(b, DenseElementsAttr::get(bytes, b.getI8IntegerAttr(-128)));
  const auto put = [&](Value value, Number row, Number k) {
    storeValue(value, address(packedA, accumulator, row * sizes->depth + k), true);
  };
  loop(number(0), rows, number(1), [&](Number row) {
    MatmulPlace place;
    moveTo(place, batchRole, batch);
    moveTo(place, rowRole, firstRow + row);
    loop(number(0), depth, number(sizes->lanes), [&](Number k) {
      const Value groups = vector::BitCastOp::create(b, bytes, groupsAlongDepth(0, place, firstDepth + k));
      put(arith::XOrIOp::create(b, groups, signs), row, k);
    });
  });
  loop(number(0), depth, number(sizes->lanes), [&](Number k) { put(signs, rows, k); });
}

Value MatmulEmitter::groupsAlongDepth(int side, MatmulPlace place, Number group) {
  OpOperand *input = contraction.getDpsInputOperand(side);
  const Number first = group * 4, left = minimum(size[depthRole] - first, number(64));
  moveTo(place, depthRole, first);
  const Reach reach = this->reach(contraction.getMatchingIndexingMap(input), dimsOf(contraction), place);
  const Type byte = b.getI8Type();
  const VectorType bytes = VectorType::get(64, byte);
  SmallVector<int8_t> numbers;
  for (int8_t lane = 0; lane < 64; ++lane)
    numbers.push_back(lane);
  const Value steps = arith::ConstantOp::create(b, DenseElementsAttr::get(bytes, ArrayRef<int8_t>(numbers)));
  const Value limit = vector::BroadcastOp::create(b, bytes, left.narrow(byte).value());
  const Value zero = arith::ConstantOp::create(b, b.getZeroAttr(bytes));
  const Value loaded =
      LLVM::MaskedLoadOp::create(b, bytes, address(pointers.lookup(input->get()), byte, reach.offset).value(),
                                 (wrap(steps) < wrap(limit)).value(), zero, 1);
  return vector::BitCastOp::create(b, lanesOf(accumulator), loaded);
}

Value MatmulEmitter::groupsAcross(MatmulPlace place, Number group) {
  OpOperand *input = contraction.getDpsInputOperand(1);
  SmallVector<Value> rows;
  for (int64_t member = 0; member < 4; ++member) {
    const Number k = group * 4 + member;
    moveTo(place, depthRole, minimum(k, size[depthRole] - 1));
    const Number row = wrap(load(input->get(), contraction.getMatchingIndexingMap(input), dimsOf(contraction), place));
    rows.push_back(select(k < size[depthRole], row, row.like(int64_t(0))).value());
  }
  const VectorType pairs = VectorType::get(16, b.getI16Type());
  const auto interleaved = [&](Value x, Value y, VectorType type) {
    return vector::BitCastOp::create(b, type, vector::InterleaveOp::create(b, x, y)).getResult();
  };
  return interleaved(interleaved(rows[0], rows[1], pairs), interleaved(rows[2], rows[3], pairs), lanesOf(accumulator));
}

Value MatmulEmitter::multiplyGroups(Value sums, Value a, Value b) {
  const VectorType bytes = VectorType::get(64, this->b.getI8Type());
  const Value left = vector::BitCastOp::create(this->b, bytes, a), right = vector::BitCastOp::create(this->b, bytes, b);
  return LLVM::CallIntrinsicOp::create(this->b, sums.getType(), this->b.getStringAttr("llvm.x86.avx512.vpdpbusd.512"),
                                       ValueRange{sums, left, right})
      .getResult(0);
}
