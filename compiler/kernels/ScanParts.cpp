// Target-independent steps of a scan kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/ScanParts.h"
#include "compiler/kernels/Combiner.h"

namespace halftone::compiler {
using namespace mlir;

ScanParts::ScanParts(BlockFrame &frame)
    : reverse(frame.source.form.reverse), vectorDim(int(frame.dims) - 1), adding(frame.source.generics[0]),
      storing(frame.source.generics[1]), frame(frame), combiner(combinersOf(adding)[0]) {
  const int64_t outer = frame.source.form.outer;
  for (int dim = 0; dim < frame.dims; ++dim)
    if (dim >= outer && dim < outer + frame.source.form.reduced)
      scanned.push_back(dim);
    else if (dim != vectorDim)
      rows.push_back(dim);
  alongLanes = scanned.back() == vectorDim;
}

Values ScanParts::walk(ArrayRef<int> dims, ArrayRef<Emitted> carried, llvm::function_ref<Values(const Values &)> body) {
  if (dims.empty())
    return body(Values(carried));
  const Emitted extent = frame.extents[size_t(dims.front())];
  return frame.loop(frame.constant(0), extent, frame.constant(1), carried, [&](Emitted step, const Values &inner) {
    frame.index[size_t(dims.front())] = reverse ? extent - 1 - step : step;
    return walk(dims.drop_front(), inner, body);
  });
}

Emitted ScanParts::added(Emitted accumulator, const Lanes &lanes) {
  Values arguments = loadInputs(frame, adding, lanes);
  arguments.push_back(accumulator);
  return emitBody(frame, adding, arguments, lanes)[0];
}

void ScanParts::store(Emitted sums, const Lanes &lanes) {
  Values arguments(size_t(storing.getNumDpsInputs()), sums);
  arguments.push_back({});
  storeLanes(frame, emitBody(frame, storing, arguments, lanes)[0], frame.storage.lookup(storing.getResult(0)),
             frame.source.accessOf(storing, *storing.getDpsInitOperand(0)), lanes);
}

Emitted ScanParts::combine(Emitted a, Emitted b) {
  return frame.wrap(buildCombine(frame, frame.getLoc(), combiner, a.value(), b.value()));
}

} // namespace halftone::compiler
