// Target-independent steps of a sort kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/SortParts.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

SortExtents::SortExtents(const KernelSource &source, ArrayRef<int64_t> extents)
    : length(1), count(extents[size_t(source.form.outer + source.form.reduced)]),
      keyBytes(elementBytes(getElementTypeOrSelf(linalg::GenericOp(source.generics[0]).getResult(0)))) {
  for (const int64_t extent : extents.slice(size_t(source.form.outer), size_t(source.form.reduced)))
    length *= extent;
}

SortParts::SortParts(BlockFrame &frame)
    : frame(frame), making(frame.source.generics[0]), storing(frame.source.generics[1]) {
  const auto begin = int(frame.source.form.outer);
  resultDim = begin + int(frame.source.form.reduced);
  for (int dim = 0; dim < frame.dims; ++dim)
    if (dim != resultDim)
      (dim >= begin && dim < resultDim ? sorted : rows).push_back(dim);
  keyType = getElementTypeOrSelf(making.getResult(0));
  hasLanes = sorted.size() == 1;
}

Values SortParts::emitOutputs(int64_t lanes) {
  const Lanes here{lanes, sorted.back()};
  Values arguments = loadInputs(frame, making, here);
  arguments.resize(arguments.size() + size_t(making.getNumDpsInits()));
  return emitBody(frame, making, arguments, here);
}

Emitted SortParts::key(Emitted position, int64_t lanes) {
  frame.delinearize(position, sorted);
  return emitOutputs(lanes)[0];
}

void SortParts::storeSorted(Emitted number, Emitted position) {
  frame.delinearize(position, sorted);
  for (auto [output, value] : llvm::enumerate(emitOutputs(0)))
    frame.storage[making.getResult(unsigned(output))] = {{}, value.type(), value};
  frame.index[size_t(resultDim)] = number;
  storeOutputs(frame, storing, {});
}

} // namespace halftone::compiler
