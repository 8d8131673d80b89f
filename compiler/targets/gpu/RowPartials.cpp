// Emits partial reductions over the rows of a block.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/RowPartials.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/targets/gpu/Reduce.h"

namespace halftone::compiler {
using namespace mlir;
using Combining = RowOutput::Combining;

void RowPartials::begin() {
  GridFrame &frame = teams.frame;
  bool clears = false;
  for (RowPhase &phase : phases)
    for (RowOutput &output : phase.outputs) {
      if (output.combiner.empty() || output.combining == Combining::row)
        continue;
      const Emitted neutral = frame.initialOf(phase.generic, output.position);
      const Emitted size = frame.size(output.access.dims);
      TensorStorage &storage = output.storage;
      storage.pointer = frame.address(storage.pointer, storage.element, frame.block * size);
      if (output.combining != Combining::memory) {
        const size_t count = output.combining == Combining::columns ? size_t(teams.tile.steps) : 1;
        output.running.assign(count, frame.splat(neutral, phase.lanes.count));
        continue;
      }
      clears = true;
      frame.loop(frame.thread, size, frame.constant(frame.threads),
                 [&](Emitted at) { frame.store(neutral, frame.address(storage.pointer, storage.element, at)); });
    }
  if (clears)
    frame.barrier();
}

void RowPartials::finish(RowPhase &phase, ArrayRef<RowOutput *> outputs) {
  GridFrame &frame = teams.frame;
  SmallVector<std::string> combiners;
  for (const RowOutput *output : outputs)
    combiners.push_back(output->combiner);
  const auto valuesOf = [&](size_t step) {
    Values values;
    for (const RowOutput *output : outputs)
      values.push_back(output->running[step]);
    return values;
  };
  const bool isOne = outputs.front()->combining == Combining::block;
  SmallVector<RowStep> steps(1);
  if (!isOne)
    steps = teams.stepsFrom(phase, frame.constant(0));
  for (auto [position, step] : llvm::enumerate(steps)) {
    Values values = valuesOf(position);
    if (isOne && !phase.inner.empty())
      values = teams.total(combiners, values);
    if (teams.tile.teams > 1)
      values = foldRows(frame, teams.threads, combiners, values);
    const Emitted isFirst = equal(teams.threads.rowThread, teams.threads.rowThread.like(0));
    const Emitted writes = isFirst & (isOne ? teams.isFirst() : step.isInside);
    frame.branch(writes, [&] {
      if (!isOne)
        teams.moveTo(phase, step);
      for (auto [output, value] : llvm::zip(outputs, values))
        storeLanes(frame, value, output->storage, output->access, isOne ? Lanes() : phase.lanes);
    });
  }
}

void RowPartials::finish() {
  for (RowPhase &phase : phases)
    for (size_t position = 0; position < phase.outputs.size(); ++position) {
      RowOutput &output = phase.outputs[position];
      if (!output.isPartialInRegisters())
        continue;
      SmallVector<RowOutput *> outputs{&output};
      if (isArgCombiner(output.combiner))
        outputs.push_back(&phase.outputs[++position]);
      finish(phase, outputs);
    }
}

Values RowPartials::running() const {
  Values totals;
  for (const RowPhase &phase : phases)
    for (const RowOutput &output : phase.outputs)
      if (output.isPartialInRegisters())
        totals.append(output.running);
  return totals;
}

SmallVector<std::string> RowPartials::combiners() const {
  SmallVector<std::string> combiners;
  for (const RowPhase &phase : phases)
    for (const RowOutput &output : phase.outputs)
      if (output.isPartialInRegisters())
        combiners.append(output.running.size(), output.combiner);
  return combiners;
}

void RowPartials::setRunning(ArrayRef<Emitted> values) {
  for (RowPhase &phase : phases)
    for (RowOutput &output : phase.outputs)
      if (output.isPartialInRegisters())
        for (Emitted &value : output.running) {
          value = values.front();
          values = values.drop_front();
        }
}

} // namespace halftone::compiler
