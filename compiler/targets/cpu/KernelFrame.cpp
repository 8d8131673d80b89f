// The function around a kernel's blocks.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/KernelFrame.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

/// Whether the body of a generic reads `value`, which is defined outside of it.
static bool isReadByBody(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isa<linalg::GenericOp>(user->getParentOp()); });
}

KernelFrame::KernelFrame(const KernelSource &source, const CpuTarget &target)
    : CodeBuilder(source.function.getLoc(), source.function.getOperation()), source(source), target(target),
      dims(source.dims) {
  Type pointer = LLVM::LLVMPointerType::get(getContext()), i64 = getI64Type();
  code = func::FuncOp::create(*this, source.function.getSymName(),
                              getFunctionType({pointer, pointer, i64, i64, pointer}, {}));
  Block *entry = code.addEntryBlock();
  setInsertionPointToStart(entry);
  blockBegin = wrap(entry->getArgument(2));
  blockEnd = wrap(entry->getArgument(3));
  scratch = wrap(entry->getArgument(4));
  lanes = std::max<int64_t>(1, target.vectorBytes / (source.holdsF64() ? 8 : 4));

  for (unsigned position = 0; position < source.indexArguments; ++position) {
    extents.push_back(load(i64, address(wrap(entry->getArgument(1)), i64, constant(position))));
    outside.map(source.function.getArgument(position), extents.back().value());
  }
  index.resize(size_t(dims));
  for (BlockArgument argument : source.operands())
    homes[argument] = {buffer(argument.getArgNumber() - source.indexArguments), getElementTypeOrSelf(argument), {}};
  for (Operation &op : source.function.getBody().front()) {
    if (auto cast = dyn_cast<arith::IndexCastOp>(op))
      outside.map(cast.getResult(), wrap(outside.lookup(cast.getIn())).narrow(cast.getType()).value());
    else if (auto fixed = dyn_cast<arith::ConstantIndexOp>(op))
      outside.map(fixed.getResult(), constant(fixed.value()).value());
    else if (isa<arith::ConstantOp>(op) && isReadByBody(op.getResult(0)))
      clone(op, outside);
  }
  for (auto [position, value] : llvm::enumerate(source.results()))
    homes[value] = {buffer(unsigned(source.operands().size() + position)), getElementTypeOrSelf(value), {}};
}

KernelFrame::~KernelFrame() {
  if (code)
    code.erase();
}

Emitted KernelFrame::buffer(unsigned position) {
  Type pointer = LLVM::LLVMPointerType::get(getContext());
  return load(pointer, address(wrap(code.getArgument(0)), pointer, constant(position)));
}

void KernelFrame::finish() {
  func::ReturnOp::create(*this);
  source.function.erase();
  code = {};
}

Emitted KernelFrame::size(ArrayRef<int> dims) {
  Emitted product = constant(1);
  for (auto [place, dim] : llvm::enumerate(dims))
    product = place == 0 ? extents[size_t(dim)] : product * extents[size_t(dim)];
  return product;
}

void KernelFrame::delinearize(Emitted linear, ArrayRef<int> dims) {
  for (size_t place = dims.size(); place-- > 0;) {
    const auto dim = size_t(dims[place]);
    index[dim] = place == 0 ? linear : remainderUnsigned(linear, extents[dim]);
    if (place > 0)
      linear = divideUnsigned(linear, extents[dim]);
  }
}

Values KernelFrame::loops(ArrayRef<int> dims, ArrayRef<Emitted> carried,
                          llvm::function_ref<Values(const Values &)> body) {
  if (dims.empty())
    return body(Values(carried));
  const auto dim = size_t(dims.front());
  return loop(constant(0), extents[dim], constant(1), carried, [&](Emitted at, const Values &inner) {
    index[dim] = at;
    return loops(dims.drop_front(), inner, body);
  });
}

Emitted KernelFrame::offset(const TensorAccess &access) {
  Emitted linear;
  for (auto [dim, fixed] : llvm::zip(access.dims, access.constants)) {
    if (linear && dim >= 0)
      linear = linear * extents[size_t(dim)];
    const Emitted here = dim < 0 ? constant(fixed) : index[size_t(dim)];
    linear = linear ? linear + here : here;
  }
  return linear ? linear : constant(0);
}

} // namespace halftone::compiler
