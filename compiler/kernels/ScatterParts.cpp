// Target-independent steps of a scatter kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/ScatterParts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace halftone::compiler {
using namespace mlir;

ScatterParts::ScatterParts(BlockFrame &frame)
    : rowDim(int(frame.source.form.outer)), vectorDim(int(frame.dims) - 1), indexing(frame.source.generics[0]),
      sum(frame.source.generics.back()), start(sum.getDpsInits()[0].getDefiningOp<linalg::GenericOp>()), frame(frame),
      storage(frame.storage.lookup(sum.getResult(0))), access(frame.source.accessOf(sum, *sum.getDpsInitOperand(0))) {
  const int64_t indices = frame.source.form.indices;
  for (int dim = 0; dim < frame.dims; ++dim)
    if (dim != rowDim)
      (dim < rowDim ? outer : dim <= rowDim + indices ? index : inner).push_back(dim);
}

Emitted ScatterParts::bodyOf(linalg::GenericOp generic, Emitted accumulator, const Lanes &lanes) {
  Values arguments = loadInputs(frame, generic, lanes);
  arguments.push_back(accumulator);
  return emitBody(frame, generic, arguments, lanes)[0];
}

Emitted ScatterParts::namedRow() { return bodyOf(indexing, {}, {}); }

void ScatterParts::moveToRow(Emitted row) {
  frame.index[size_t(rowDim)] = row;
  frame.storage[indexing.getResult(0)] = {{}, frame.getI64Type(), frame.asLong(row)};
}

/// The input of `start` that the result starts as a copy of, with the same access and stored type.
std::optional<unsigned> ScatterParts::copiedInput() {
  if (!start)
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(start.getBody()->getTerminator()->getOperand(0));
  if (!argument || argument.getArgNumber() >= start.getNumDpsInputs())
    return std::nullopt;
  OpOperand *input = start.getDpsInputOperand(argument.getArgNumber());
  const bool isSame =
      frame.source.accessOf(start, *input) == access && frame.storage.lookup(input->get()).element == storage.element;
  return isSame ? std::optional(argument.getArgNumber()) : std::nullopt;
}

void ScatterParts::clearWhereNeeded(llvm::function_ref<void()> clears) {
  const std::optional<unsigned> copied = copiedInput();
  const Emitted from = copied ? frame.storage.lookup(start.getDpsInputOperand(*copied)->get()).pointer : Emitted();
  if (!from)
    return clears();
  const auto asInteger = [&](Emitted pointer) {
    return frame.wrap(LLVM::PtrToIntOp::create(frame, frame.getI64Type(), pointer.value()));
  };
  frame.branch(negated(equal(asInteger(from), asInteger(storage.pointer))), clears);
}

void ScatterParts::clear(const Lanes &lanes) {
  const Emitted first = start ? bodyOf(start, {}, lanes) : frame.splat(frame.initialOf(sum, 0), lanes.count);
  storeLanes(frame, first, storage, access, lanes);
}

void ScatterParts::add(const Lanes &lanes) {
  storeLanes(frame, bodyOf(sum, loadLanes(frame, storage, access, lanes), lanes), storage, access, lanes);
}

} // namespace halftone::compiler
