// The target-independent state of emitters.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/BlockFrame.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

/// Returns true if the body of a generic uses `value`, which is defined outside of it.
static bool isReadByBody(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isa<linalg::GenericOp>(user->getParentOp()); });
}

BlockFrame::BlockFrame(const KernelSource &source)
    : CodeBuilder(source.function.getLoc(), source.function.getOperation()), source(source), dims(source.dims) {
  index.resize(size_t(dims));
}

void BlockFrame::bind(Values values, llvm::function_ref<Emitted(unsigned)> buffer) {
  extents = llvm::map_to_vector(values, [&](Emitted value) { return asIndex(value); });
  // Bodies compute indices as i64.
  for (unsigned position = 0; position < source.indexArguments; ++position)
    outside.map(source.function.getArgument(position), values[position].value());
  for (BlockArgument argument : source.operands())
    storage[argument] = {buffer(argument.getArgNumber() - source.indexArguments), getElementTypeOrSelf(argument), {}};
  for (Operation &op : source.function.getBody().front()) {
    if (auto cast = dyn_cast<arith::IndexCastOp>(op))
      outside.map(cast.getResult(), wrap(outside.lookup(cast.getIn())).narrow(cast.getType()).value());
    else if (auto fixed = dyn_cast<arith::ConstantIndexOp>(op))
      outside.map(fixed.getResult(), constant(getI64IntegerAttr(fixed.value())).value());
    else if (isa<arith::ConstantOp>(op) && isReadByBody(op.getResult(0)))
      clone(op, outside);
  }
  for (auto [position, value] : llvm::enumerate(source.results()))
    storage[value] = {buffer(unsigned(source.operands().size() + position)), getElementTypeOrSelf(value), {}};
}

Emitted BlockFrame::size(ArrayRef<int> dims) {
  Emitted product = constant(1);
  for (auto [position, dim] : llvm::enumerate(dims))
    product = position == 0 ? extents[size_t(dim)] : product * extents[size_t(dim)];
  return product;
}

void BlockFrame::delinearize(Emitted linear, ArrayRef<int> dims) {
  for (size_t position = dims.size(); position-- > 0;) {
    const auto dim = size_t(dims[position]);
    index[dim] = position == 0 ? linear : remainderUnsigned(linear, extents[dim]);
    if (position > 0)
      linear = divideUnsigned(linear, extents[dim]);
  }
}

Values BlockFrame::loops(ArrayRef<int> dims, ArrayRef<Emitted> carried,
                         llvm::function_ref<Values(const Values &)> body) {
  if (dims.empty())
    return body(Values(carried));
  const auto dim = size_t(dims.front());
  return loop(constant(0), extents[dim], constant(1), carried, [&](Emitted at, const Values &inner) {
    index[dim] = at;
    return loops(dims.drop_front(), inner, body);
  });
}

Emitted BlockFrame::offset(const TensorAccess &access) {
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
