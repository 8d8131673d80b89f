// The function around a kernel's blocks.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/KernelFrame.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

KernelFrame::KernelFrame(const KernelSource &source, const CpuTarget &target, OpBuilder &builder)
    : source(source), target(target), builder(builder), loc(source.function.getLoc()), dims(source.dims) {
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), i64 = builder.getI64Type();
  builder.setInsertionPoint(source.function);
  code = func::FuncOp::create(builder, loc, source.function.getSymName(),
                              builder.getFunctionType({pointer, pointer, i64, i64, pointer}, {}));
  Block *entry = code.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  blockBegin = entry->getArgument(2);
  blockEnd = entry->getArgument(3);
  scratch = entry->getArgument(4);
  lanes = std::max<int64_t>(1, target.vectorBytes / (source.holdsF64() ? 8 : 4));

  for (unsigned number = 0; number < source.indexArguments; ++number) {
    Value from = address(entry->getArgument(1), i64, constant(number));
    extents.push_back(LLVM::LoadOp::create(builder, loc, i64, from));
    outside.map(source.function.getArgument(number), extents.back());
  }
  index.resize(dims);
  auto elementOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType(); };
  for (BlockArgument argument : source.operands())
    homes[argument] = {buffer(argument.getArgNumber() - source.indexArguments), elementOf(argument), {}};
  for (auto cast : source.function.getBody().front().getOps<arith::IndexCastOp>())
    outside.map(cast.getResult(), outside.lookup(cast.getIn()));
  for (auto [number, value] : llvm::enumerate(source.results()))
    homes[value] = {buffer(unsigned(source.operands().size() + number)), elementOf(value), {}};
}

Value KernelFrame::buffer(unsigned number) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value at = address(code.getArgument(0), pointer, constant(number));
  return LLVM::LoadOp::create(builder, loc, pointer, at);
}

void KernelFrame::finish() {
  func::ReturnOp::create(builder, loc);
  source.function.erase();
}

Value KernelFrame::constant(int64_t value) { return scalar(builder.getI64IntegerAttr(value)); }
Value KernelFrame::scalar(TypedAttr value) { return arith::ConstantOp::create(builder, loc, value); }
Value KernelFrame::splat(Value scalar, int64_t lanes) {
  if (lanes == 0 || isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(builder, loc, VectorType::get(lanes, scalar.getType()), scalar);
}
Value KernelFrame::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value KernelFrame::sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value KernelFrame::mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
Value KernelFrame::divide(Value a, Value b) { return arith::DivUIOp::create(builder, loc, a, b); }
Value KernelFrame::rem(Value a, Value b) { return arith::RemUIOp::create(builder, loc, a, b); }
Value KernelFrame::ceilDivide(Value a, Value b) { return divide(add(a, sub(b, constant(1))), b); }
Value KernelFrame::min(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }

Value KernelFrame::size(ArrayRef<int> dims) {
  Value product = constant(1);
  for (auto [place, dim] : llvm::enumerate(dims))
    product = place == 0 ? extents[dim] : mul(product, extents[dim]);
  return product;
}

void KernelFrame::delinearize(Value linear, ArrayRef<int> dims) {
  for (size_t place = dims.size(); place-- > 0;) {
    int dim = dims[place];
    index[dim] = place == 0 ? linear : rem(linear, extents[dim]);
    if (place > 0)
      linear = divide(linear, extents[dim]);
  }
}

FailureOr<KernelFrame::Values> KernelFrame::loop(Value begin, Value end, Value step, ValueRange carried,
                                                 const LoopBody &body) {
  auto op = scf::ForOp::create(builder, loc, begin, end, step, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.getBody());
  FailureOr<Values> next = body(op.getInductionVar(), op.getRegionIterArgs());
  if (failed(next))
    return failure();
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, *next);
  return Values(op.getResults());
}

FailureOr<KernelFrame::Values> KernelFrame::loops(ArrayRef<int> dims, ValueRange carried,
                                                  const std::function<FailureOr<Values>(ValueRange)> &body) {
  if (dims.empty())
    return body(carried);
  return loop(constant(0), extents[dims.front()], constant(1), carried,
              [&](Value at, ValueRange inner) -> FailureOr<Values> {
                index[dims.front()] = at;
                return loops(dims.drop_front(), inner, body);
              });
}

Value KernelFrame::address(Value pointer, Type element, Value elements) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer, ArrayRef<LLVM::GEPArg>{elements});
}

Value KernelFrame::offset(const TensorAccess &access) {
  Value linear;
  for (auto [dim, number] : llvm::zip(access.dims, access.constants)) {
    if (linear && dim >= 0)
      linear = mul(linear, extents[dim]);
    Value here = dim < 0 ? constant(number) : index[dim];
    linear = linear ? add(linear, here) : here;
  }
  return linear ? linear : constant(0);
}

} // namespace halftone::compiler
