// One phase of a row on a GPU: each thread's vectors, and the totals of the row.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/LongSums.h"
#include "compiler/targets/gpu/Row.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

/// Vectors that a thread has at a time of a row that registers do not hold.
constexpr int64_t longSteps = 2;

/// Both conditions; null stands for one that always holds.
Emitted both(Emitted a, Emitted b) { return !a ? b : !b ? a : a & b; }

void whereInside(CodeBuilder &builder, Emitted condition, llvm::function_ref<void()> code) {
  if (condition)
    builder.branch(condition, code);
  else
    code();
}

} // namespace

bool TeamRowEmitter::isOfRow(const Phase &phase, const TensorAccess &access) const {
  return llvm::none_of(access.dims, [&](int dim) { return llvm::is_contained(phase.inner, dim); });
}

const TeamRowEmitter::Held *TeamRowEmitter::heldOf(Value tensor, const TensorAccess &access) const {
  const auto found =
      llvm::find_if(held, [&](const Held &each) { return each.tensor == tensor && each.access == access; });
  return found == held.end() ? nullptr : &*found;
}

/// The elements at the present index; zero, and no access to memory, where the condition does not hold.
Emitted TeamRowEmitter::loadIf(Emitted condition, const TensorStorage &storage, const TensorAccess &access,
                               const Lanes &lanes) {
  if (!condition || !storage.pointer)
    return loadLanes(frame, storage, access, lanes);
  const bool varies = lanes.count > 0 && llvm::is_contained(access.dims, lanes.dim);
  const Type type = varies ? Type(VectorType::get(lanes.count, storage.element)) : storage.element;
  return frame.choose(
      condition, [&] { return Values{loadLanes(frame, storage, access, lanes)}; },
      [&] { return Values{frame.zero(type)}; })[0];
}

/// The vectors of this thread, `across` apart, from the row's element `begin` on.
SmallVector<TeamRowEmitter::Step> TeamRowEmitter::stepsFrom(const Phase &phase, Emitted begin) {
  const Emitted columns = frame.size(phase.inner);
  SmallVector<Step> steps;
  for (int64_t step = 0; step < (keepsRows() ? tile.steps : longSteps); ++step) {
    const Emitted column = begin + (threads.thread + step * tile.across) * tile.vector;
    frame.delinearize(column, phase.inner);
    Values index;
    for (int dim : phase.inner)
      index.push_back(frame.index[size_t(dim)]);
    steps.push_back({index, both(column < columns, isRowInside)});
  }
  return steps;
}

void TeamRowEmitter::standAt(const Phase &phase, const Step &step) {
  for (auto [dim, index] : llvm::zip(phase.inner, step.index))
    frame.index[size_t(dim)] = index;
}

/// Loads the inputs that are not at hand: those of the row, if there are no steps, else those of all steps.
void TeamRowEmitter::holdInputs(Phase &phase, ArrayRef<Step> steps) {
  for (auto [input, access] : llvm::enumerate(phase.inputAccesses)) {
    const Value tensor = phase.generic.getDpsInputs()[input];
    if (phase.generic.getBody()->getArgument(input).use_empty() || isOfRow(phase, access) != steps.empty() ||
        heldOf(tensor, access))
      continue;
    const TensorStorage storage = frame.storage.lookup(tensor);
    Values values;
    for (const Step &step : steps) {
      standAt(phase, step);
      values.push_back(loadIf(step.isInside, storage, access, phase.lanes));
    }
    if (steps.empty())
      values.push_back(loadIf(isRowInside, storage, access, {}));
    held.push_back({tensor, access, values});
  }
}

Values TeamRowEmitter::inputsAt(const Phase &phase, size_t step) {
  Values inputs;
  for (auto [input, access] : llvm::enumerate(phase.inputAccesses)) {
    const Held *values = heldOf(phase.generic->getOperand(unsigned(input)), access);
    inputs.push_back(values ? values->values[values->values.size() > 1 ? step : 0] : Emitted());
  }
  return inputs;
}

/// The values that the body yields at a step; accumulators take them in where the row has the step.
Values TeamRowEmitter::bodyAt(Phase &phase, size_t step, const Step &place) {
  Values arguments = inputsAt(phase, step);
  for (Output &output : phase.outputs) {
    if (output.combining == Combining::none)
      arguments.push_back({});
    else if (output.combining == Combining::memory)
      arguments.push_back(loadIf(place.isInside, output.storage, output.access, phase.lanes));
    else
      arguments.push_back(output.running[output.running.size() > 1 ? step : 0]);
  }
  const Values yields = emitBody(frame, phase.generic, arguments, phase.lanes);
  for (Output &output : phase.outputs)
    if (!output.running.empty()) {
      Emitted &running = output.running[output.running.size() > 1 ? step : 0];
      running = place.isInside ? select(place.isInside, yields[output.position], running) : yields[output.position];
    }
  return yields;
}

void TeamRowEmitter::storeAt(Phase &phase, const Values &yields) {
  for (const Output &output : phase.outputs)
    if (output.storage.pointer && (output.combining == Combining::none || output.combining == Combining::memory))
      storeLanes(frame, yields[output.position], output.storage, output.access, phase.lanes);
}

/// Loads of all steps, then bodies, then stores.
void TeamRowEmitter::emitSteps(Phase &phase, ArrayRef<Step> steps) {
  holdInputs(phase, steps);
  std::vector<Values> yields;
  for (auto [place, step] : llvm::enumerate(steps)) {
    standAt(phase, step);
    yields.push_back(bodyAt(phase, place, step));
  }
  for (auto [step, values] : llvm::zip(steps, yields)) {
    standAt(phase, step);
    whereInside(frame, step.isInside, [&] { storeAt(phase, values); });
  }
  for (const Output &output : phase.outputs) {
    if (output.combining != Combining::none)
      continue;
    Values values;
    for (const Values &each : yields)
      values.push_back(each[output.position]);
    held.push_back({phase.generic.getResult(output.position), output.access, values});
  }
}

Values TeamRowEmitter::running(Phase &phase) const {
  Values values;
  for (const Output &output : phase.outputs)
    values.append(output.running);
  return values;
}

void TeamRowEmitter::setRunning(Phase &phase, ArrayRef<Emitted> values) {
  for (Output &output : phase.outputs)
    for (Emitted &value : output.running) {
      value = values.front();
      values = values.drop_front();
    }
}

/// The totals of a team's scalars or vectors.
Values TeamRowEmitter::overTeam(ArrayRef<std::string> combiners, ArrayRef<Emitted> own) {
  const bool inVectors = !own.empty() && isa<VectorType>(own.front().type());
  return foldTeam(frame, tile.across, combiners, inVectors ? combineLanes(frame, combiners, own) : Values(own));
}

/// Combines the accumulators of the row over the team.
void TeamRowEmitter::totalRow(Phase &phase) {
  SmallVector<std::string> combiners;
  Values own;
  for (const Output &output : phase.outputs)
    if (output.combining == Combining::row) {
      combiners.push_back(output.combiner);
      own.append(output.running);
    }
  if (own.empty())
    return;
  const Values totals = overTeam(combiners, own);
  size_t next = 0;
  for (Output &output : phase.outputs)
    if (output.combining == Combining::row) {
      const Emitted total = totals[next++];
      frame.storage[phase.generic.getResult(output.position)] = {{}, total.type(), total};
      output.running.clear();
    }
}

void TeamRowEmitter::emitInner(Phase &phase) {
  holdInputs(phase, {});
  for (Output &output : phase.outputs)
    if (output.combining == Combining::row)
      output.running = {frame.splat(frame.initialOf(phase.generic, output.position), phase.lanes.count)};
  if (keepsRows()) {
    emitSteps(phase, stepsFrom(phase, frame.constant(0)));
  } else {
    const Emitted stride = frame.constant(longSteps * tile.across * tile.vector);
    const size_t known = held.size();
    const Values before = running(phase);
    Values neutral;
    SmallVector<std::string> combiners;
    for (const Output &output : phase.outputs)
      for (size_t place = 0; place < output.running.size(); ++place) {
        neutral.push_back(frame.splat(frame.initialOf(phase.generic, output.position), phase.lanes.count));
        combiners.push_back(output.combiner);
      }
    const Values totals = sumInRegisters(frame, combiners, frame.constant(0), frame.size(phase.inner), stride, neutral,
                                         [&](Emitted begin, const Values &values) {
                                           setRunning(phase, values);
                                           emitSteps(phase, stepsFrom(phase, begin));
                                           return running(phase);
                                         });
    setRunning(phase, combineAll(frame, combiners, before, totals));
    held.resize(known); // values of one turn
  }
  totalRow(phase);
}

/// A phase over the outer dims alone: the values of the team's first thread count.
void TeamRowEmitter::emitOuter(Phase &phase) {
  holdInputs(phase, {});
  const Step row{{}, both(equal(threads.thread, threads.thread.like(0)), isRowInside)};
  const Values yields = bodyAt(phase, 0, row);
  if (outer.empty()) // a result may lie where threads still read an operand
    frame.barrier();
  frame.branch(row.isInside, [&] { storeAt(phase, yields); });
}

} // namespace halftone::compiler
