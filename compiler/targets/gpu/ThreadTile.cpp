// How the threads of a block share rows of elements.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/ThreadTile.h"
#include "compiler/kernels/LongSums.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

ThreadTile::ThreadTile(GridFrame &frame, Emitted columns, int64_t vector, int64_t minSteps)
    : vector(vector), frame(frame) {
  const Emitted steps = ceilDivideUnsigned(columns, frame.constant(vector));
  // 2 to the power of the number of bits in the index of the last step.
  const Emitted bits = frame.constant(steps.width()) - countLeadingZeros(maximum(steps, steps.like(minSteps)) - 1);
  const Emitted acrossBits = minimum(bits, bits.like(llvm::Log2_64(uint64_t(frame.threads))));
  across = acrossBits.like(1) << acrossBits;
  down = frame.constant(frame.threads) >> acrossBits;
  rowThread = frame.thread >> acrossBits;
  thread = frame.thread & (across - 1);
}

void ThreadTile::eachRow(Span rows, llvm::function_ref<void(Emitted)> body) const {
  frame.loop(rows.begin + rowThread, rows.end, down, body);
}

void ThreadTile::eachStep(Span columns, llvm::function_ref<void(Emitted)> body) const {
  frame.loop(columns.begin + thread * vector, columns.end, across * vector, body);
}

Values ThreadTile::sumRows(Span rows, ArrayRef<std::string> combiners, ArrayRef<Emitted> neutral,
                           llvm::function_ref<Values(Emitted, const Values &)> body) const {
  return sumInRegisters(frame, combiners, rows.begin + rowThread, rows.end, down, neutral, body);
}

Values ThreadTile::sumSteps(Span columns, ArrayRef<std::string> combiners, ArrayRef<Emitted> neutral,
                            llvm::function_ref<Values(Emitted, const Values &)> body) const {
  return sumInRegisters(frame, combiners, columns.begin + thread * vector, columns.end, across * vector, neutral, body);
}

void ThreadTile::eachRound(Span columns, llvm::function_ref<void(Emitted, Emitted)> body) const {
  frame.loop(columns.begin, columns.end, across * vector, [&](Emitted first) {
    const Emitted own = first + thread * vector, isInside = own < columns.end;
    body(select(isInside, own, first), isInside);
  });
}

int64_t vectorOf(const BlockFrame &frame, linalg::GenericOp generic, int dim) {
  constexpr int64_t bytes = 16;
  const int64_t limit = hasLongFunction(generic) ? 2 : 8; // a long function needs registers for each element
  if (!generic.getBody()->getOps<tensor::ExtractOp>().empty())
    return 1;
  int64_t widest = 1;
  for (OpOperand &operand : generic->getOpOperands()) {
    const TensorAccess access = frame.source.accessOf(generic, operand);
    if (!access.dims.empty() && access.dims.back() == dim)
      widest = std::max(widest, elementBytes(getElementTypeOrSelf(operand.get())));
  }
  return std::min(limit, bytes / widest);
}

Values inVectors(GridFrame &frame, Emitted multiple, const Lanes &vectors,
                 llvm::function_ref<Values(const Lanes &)> body) {
  const Lanes single{0, vectors.dim};
  if (vectors.count <= 1)
    return body(single);
  const Emitted rest = remainderUnsigned(multiple, multiple.like(vectors.count));
  return frame.choose(
      equal(rest, rest.like(0)), [&] { return body({vectors.count, vectors.dim, {}, {}, /*isAligned=*/true}); },
      [&] { return body(single); });
}

} // namespace halftone::compiler
