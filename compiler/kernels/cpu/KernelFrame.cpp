// The function around a kernel's blocks.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/cpu/KernelFrame.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

int64_t integerAttribute(func::FuncOp source, StringRef name) {
  auto attribute = source->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : 0;
}

/// Whether any value of the kernel needs 64-bit float lanes.
bool holdsF64(func::FuncOp source) {
  bool found = false;
  auto is64 = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  source.walk([&](Operation *op) {
    found |= llvm::any_of(op->getResultTypes(), is64) || llvm::any_of(op->getOperandTypes(), is64);
  });
  return found;
}

} // namespace

KernelFrame::KernelFrame(func::FuncOp source, const CpuTarget &target, OpBuilder &builder)
    : source(source), target(target), builder(builder), loc(source.getLoc()),
      strict(source->hasAttr("halftone.strict")), outer(integerAttribute(source, "halftone.outer")),
      reduced(integerAttribute(source, "halftone.reduced")) {
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), i64 = builder.getI64Type();
  builder.setInsertionPoint(source);
  code = func::FuncOp::create(builder, loc, source.getSymName(),
                              builder.getFunctionType({pointer, pointer, i64, i64, pointer}, {}));
  Block *entry = code.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  blockBegin = entry->getArgument(2);
  blockEnd = entry->getArgument(3);
  scratch = entry->getArgument(4);
  lanes = std::max<int64_t>(1, target.vectorBytes / (holdsF64(source) ? 8 : 4));

  StringRef kind = source->getAttrOfType<StringAttr>("halftone.kind").getValue();
  int64_t blockSizes = kind == "row" || kind == "scatter" ? 1 : 2;
  unsigned indices = llvm::count_if(source.getArgumentTypes(), [](Type type) { return isa<IndexType>(type); });
  dims = indices - blockSizes - integerAttribute(source, "halftone.numbers");
  for (unsigned number = 0; number < indices; ++number) {
    Value from = address(entry->getArgument(1), i64, constant(number));
    extents.push_back(LLVM::LoadOp::create(builder, loc, i64, from));
    outside.map(source.getArgument(number), extents.back());
  }
  index.resize(dims);
  auto elementOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType(); };
  for (BlockArgument argument : source.getArguments().drop_front(indices))
    homes[argument] = {buffer(argument.getArgNumber() - indices), elementOf(argument), {}};
  for (Operation &op : source.getBody().front()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      generics.push_back(generic);
    else if (isa<arith::IndexCastOp>(op))
      outside.map(op.getResult(0), outside.lookup(op.getOperand(0)));
  }
  unsigned operands = source.getNumArguments() - indices;
  for (auto [number, value] : llvm::enumerate(source.getBody().front().getTerminator()->getOperands()))
    homes[value] = {buffer(operands + number), elementOf(value), {}};
}

Value KernelFrame::buffer(unsigned number) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value at = address(code.getArgument(0), pointer, constant(number));
  return LLVM::LoadOp::create(builder, loc, pointer, at);
}

void KernelFrame::finish() {
  func::ReturnOp::create(builder, loc);
  source.erase();
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

SmallVector<int> KernelFrame::dimsOf(linalg::GenericOp generic) {
  auto numbers = generic->getAttrOfType<DenseI64ArrayAttr>("halftone.dims").asArrayRef();
  return SmallVector<int>(numbers.begin(), numbers.end());
}

TensorAccess KernelFrame::accessOf(linalg::GenericOp generic, OpOperand &operand) {
  SmallVector<int> numbers = dimsOf(generic);
  TensorAccess access;
  for (AffineExpr expr : generic.getMatchingIndexingMap(&operand).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    access.dims.push_back(dim ? numbers[dim.getPosition()] : -1);
    access.constants.push_back(dim ? 0 : cast<AffineConstantExpr>(expr).getValue());
  }
  return access;
}

SmallVector<std::string> KernelFrame::combinersOf(linalg::GenericOp generic) {
  SmallVector<std::string> combiners(generic.getNumDpsInits());
  if (auto names = generic->getAttrOfType<ArrayAttr>("halftone.combine"))
    for (auto [combiner, name] : llvm::zip(combiners, names))
      combiner = cast<StringAttr>(name).str();
  return combiners;
}

Value KernelFrame::initialOf(linalg::GenericOp generic, unsigned output) {
  auto fill = generic.getDpsInits()[output].getDefiningOp<linalg::FillOp>();
  Value initial = fill ? fill.getInputs()[0] : Value();
  // legalize-storage widens a bool after the constant.
  auto widened = initial ? initial.getDefiningOp<arith::ExtUIOp>() : arith::ExtUIOp();
  auto constant = (widened ? widened.getIn() : initial).getDefiningOp<arith::ConstantOp>();
  if (!widened)
    return scalar(constant.getValue());
  APInt value = cast<IntegerAttr>(constant.getValue()).getValue();
  return scalar(IntegerAttr::get(widened.getType(), value.zext(widened.getType().getIntOrFloatBitWidth())));
}

std::string KernelFrame::partialOf(Value value) {
  for (auto [number, result] : llvm::enumerate(source.getBody().front().getTerminator()->getOperands()))
    if (result == value)
      if (auto partial = source.getResultAttrOfType<StringAttr>(number, "halftone.partial"))
        return partial.str();
  return "";
}

} // namespace halftone::compiler
