// The phases of a loop or row kernel on CPUs: accumulators, tensors in scratch, prefetches and non-temporal stores.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/RowPlan.h"
#include "compiler/kernels/CodeSize.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/LongSums.h"
#include "runtime/plan/Abi.h"

namespace halftone::compiler {
using namespace mlir;

RowPlan::RowPlan(KernelFrame &frame) : frame(frame) {
  for (int dim = 0; dim < frame.dims; ++dim)
    (dim < frame.source.form.outer ? outer : inner).push_back(dim);
}

void RowPlan::readPhases() {
  for (linalg::GenericOp generic : frame.source.generics)
    phases.push_back(phaseOf(generic));
}

RowPlan::Phase RowPlan::phaseOf(linalg::GenericOp generic) {
  Phase phase;
  phase.generic = generic;
  phase.codeSize = codeSizeOf(generic);
  for (OpOperand *operand : generic.getDpsInputOperands())
    phase.inputAccesses.push_back(frame.source.accessOf(generic, *operand));
  for (int dim : dimsOf(generic))
    if (dim >= frame.source.form.outer)
      phase.inner.push_back(dim);
  SmallVector<std::string> combiners = combinersOf(generic);
  for (unsigned position = 0; position < combiners.size(); ++position) {
    Value result = generic.getResult(position);
    Output output{position, combiners[position], frame.source.accessOf(generic, *generic.getDpsInitOperand(position)),
                  frame.storage.lookup(result)};
    output.isPartial = !frame.source.formOf(result).partial.empty();
    // Along the lanes, a partial reduction that keeps the vector dim adds to memory; every other one is carried.
    output.isCarried =
        !phase.inner.empty() && !output.combiner.empty() && !llvm::is_contained(output.access.dims, phase.inner.back());
    if (output.isCarried) {
      output.accumulator = int(phase.combiners.size());
      phase.combiners.push_back(output.combiner);
      phase.neutral.push_back(frame.initialOf(generic, position));
      phase.isRounded |= roundsTotals(output.combiner, phase.neutral.back().type());
    }
    phase.outputs.push_back(std::move(output));
  }
  if (frame.target.hasMaskedMemory)
    for (Output &output : phase.outputs)
      flagNan(phase, output);
  return phase;
}

/// Computes the maximum or minimum of floats with an instruction that ignores NaN and a separate flag, instead of a
/// select that waits for two comparisons. The body then yields the value to be combined.
void RowPlan::flagNan(Phase &phase, Output &output) {
  if (!output.isCarried || (output.combiner != "max" && output.combiner != "min"))
    return;
  Operation *yield = phase.generic.getBody()->getTerminator();
  auto choice = yield->getOperand(output.position).getDefiningOp<arith::SelectOp>();
  if (!choice || !isa<FloatType>(choice.getType()))
    return;
  yield->setOperand(output.position, choice.getTrueValue());
  phase.combiners[size_t(output.accumulator)] = output.combiner == "max" ? "most" : "least";
  output.nanFlag = int(phase.combiners.size());
  phase.combiners.push_back("or");
  phase.neutral.push_back(frame.constant(frame.getBoolAttr(false)));
}

/// Returns true if the tensor has an element for each index of the kernel.
bool RowPlan::isWhole(const TensorAccess &access) const {
  return llvm::equal(access.dims, llvm::seq(0, int(frame.dims)));
}

/// When a phase reads a row for the second time, the row is in the cache and memory is idle: it prefetches the next
/// row.
void RowPlan::choosePrefetches() {
  llvm::SmallDenseSet<Value> read, prefetched;
  for (Phase &phase : phases) {
    auto inputs = phase.generic.getDpsInputs();
    for (auto [position, access] : llvm::enumerate(phase.inputAccesses)) {
      Value input = inputs[position];
      if (isa<BlockArgument>(input) && isWhole(access) && !outer.empty() && read.contains(input) &&
          prefetched.insert(input).second)
        phase.prefetched.push_back(position);
    }
    read.insert(inputs.begin(), inputs.end());
  }
}

/// The operands and results of a large launch exceed the caches, so results are stored non-temporally: a cache line is
/// then not read before it is written, and does not evict an operand. Results that a later phase reads are excluded.
void RowPlan::chooseStreams() {
  constexpr int64_t streamingBytes = int64_t(16) << 20; // half of a last-level cache; the rest is for other data
  if (!frame.target.hasStreaming || outer.empty())
    return;
  auto bytesOf = [](Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); };
  int64_t bytes = 0, smallest = 0; // bytes accessed at one index; of a result's element
  llvm::SmallDenseSet<Value> seen;
  for (Phase &phase : phases) {
    for (auto [input, access] : llvm::zip(phase.generic.getDpsInputs(), phase.inputAccesses))
      if (isa<BlockArgument>(input) && isWhole(access) && seen.insert(input).second)
        bytes += bytesOf(frame.storage.lookup(input).element);
    for (Output &output : phase.outputs) {
      if (!output.combiner.empty() || output.storage.isRow || !isWhole(output.access))
        continue;
      int64_t own = bytesOf(output.storage.element);
      bytes += own;
      constexpr int64_t minVector = 16;
      auto reads = [](Operation *user) { return isa<linalg::GenericOp>(user); };
      if (phase.inner.empty() || hasLongFunction(phase.generic) || phase.codeSize > maxInterleavedCode ||
          frame.lanes * own < minVector || llvm::any_of(phase.generic.getResult(output.position).getUsers(), reads))
        continue;
      output.mayStream = true;
      smallest = smallest == 0 ? own : std::min(smallest, own);
    }
  }
  if (smallest == 0)
    return;
  const Emitted touched = frame.size(llvm::to_vector(llvm::seq(0, int(frame.dims)))) * bytes;
  const Emitted past = remainderUnsigned(frame.extents[size_t(frame.dims - 1)] * smallest,
                                         frame.constant(bufferAlignment)); // the last whole line of a row, in bytes
  streams = (touched > streamingBytes) & equal(past, past.like(0));
}

Emitted RowPlan::placeScratch() {
  constexpr int64_t line = 64;
  Emitted next = frame.constant(0);
  for (Phase &phase : phases)
    for (Output &output : phase.outputs) {
      if (output.storage.pointer || !output.combiner.empty())
        continue;
      Value result = phase.generic.getResult(output.position);
      const Type element = getElementTypeOrSelf(result);
      output.storage = {frame.address(frame.scratch, frame.getI8Type(), next), element, {}, true};
      frame.storage[result] = output.storage;
      const Emitted bytes = frame.size(inner) * elementBytes(element);
      next = next + ceilDivideUnsigned(bytes, frame.constant(line)) * line;
    }
  return next;
}

LogicalResult RowPlan::findPacked() {
  for (Phase &phase : phases)
    for (Output &output : phase.outputs) {
      auto store = PackedStore::of(frame, phase.generic.getResult(output.position), unsigned(packed.size()));
      if (failed(store))
        return failure();
      if (!*store)
        continue;
      output.access = {{int(frame.dims) - 1}, {0}};
      packed.emplace_back(&output, **store);
    }
  return success();
}

void RowPlan::findKept() {
  kept.emplace(frame, phases.front().generic);
  if (*kept)
    isInPlace = kept->isInPlace();
  else
    kept.reset();
}

} // namespace halftone::compiler
