// The division of a row kernel among threads, and the reductions of its outputs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/RowTeams.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/targets/gpu/Reduce.h"

namespace halftone::compiler {
using namespace mlir;
using Combining = RowOutput::Combining;

Emitted both(Emitted a, Emitted b) { return !a ? b : !b ? a : a & b; }

/// The block's threads as teams.
static ThreadTile teamsOf(GridFrame &frame, const RowTile &tile) {
  frame.threads = tile.teams * tile.across;
  return {frame, frame.constant(tile.across * tile.vector), tile.vector};
}

RowTeams::RowTeams(GridFrame &frame, const RowTile &tile) : frame(frame), tile(tile), threads(teamsOf(frame, tile)) {
  for (int dim = 0; dim < frame.dims; ++dim)
    (dim < frame.source.form.outer ? outer : inner).push_back(dim);
}

FailureOr<RowPhase> RowTeams::phaseOf(linalg::GenericOp generic) const {
  RowPhase phase;
  phase.generic = generic;
  for (OpOperand *operand : generic.getDpsInputOperands())
    phase.inputAccesses.push_back(frame.source.accessOf(generic, *operand));
  for (int dim : dimsOf(generic))
    if (dim >= frame.source.form.outer)
      phase.inner.push_back(dim);
  if (!phase.inner.empty())
    phase.lanes = {tile.vector > 1 ? tile.vector : 0, phase.inner.back(), {}, {}, /*isAligned=*/true};
  for (auto [position, combiner] : llvm::enumerate(combinersOf(generic))) {
    const Value result = generic.getResult(position);
    RowOutput output{unsigned(position), combiner,
                     frame.source.accessOf(generic, *generic.getDpsInitOperand(int64_t(position))),
                     frame.storage.lookup(result)};
    FailureOr<Combining> combining = combiningOf(phase, output);
    if (failed(combining))
      return failure();
    output.combining = *combining;
    phase.outputs.push_back(std::move(output));
  }
  return phase;
}

FailureOr<Combining> RowTeams::combiningOf(const RowPhase &phase, const RowOutput &output) const {
  linalg::GenericOp generic = phase.generic;
  if (output.combiner.empty())
    return Combining::none;
  if (frame.source.formOf(generic->getResult(output.position)).partial.empty()) {
    if (phase.inner.empty())
      return generic.emitError("a reduction of a row kernel reduces none of the row's axes");
    return Combining::row;
  }
  ArrayRef<int> kept = output.access.dims;
  if (kept.empty())
    return Combining::block;
  const int64_t innerKept = llvm::count_if(kept, [&](int dim) { return llvm::is_contained(phase.inner, dim); });
  if (innerKept != 0 && innerKept != int64_t(phase.inner.size()))
    return generic.emitError("a partial reduction of a row kernel keeps some of the row's axes; expected all or none");
  if (keepsRows() && innerKept == int64_t(kept.size()))
    return Combining::columns;
  if (tile.teams != 1 || (innerKept == 0 && !phase.inner.empty()))
    return generic.emitError(
        "a partial reduction of a row kernel keeps axes along which several threads share an index");
  return Combining::memory;
}

SmallVector<RowStep> RowTeams::stepsFrom(const RowPhase &phase, Emitted begin) const {
  const Emitted columns = frame.size(phase.inner);
  SmallVector<RowStep> steps;
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

void RowTeams::moveTo(const RowPhase &phase, const RowStep &step) const {
  for (auto [dim, index] : llvm::zip(phase.inner, step.index))
    frame.index[size_t(dim)] = index;
}

Values RowTeams::total(ArrayRef<std::string> combiners, ArrayRef<Emitted> own) const {
  const bool inVectors = !own.empty() && isa<VectorType>(own.front().type());
  return foldTeam(frame, tile.across, combiners, inVectors ? combineLanes(frame, combiners, own) : Values(own));
}

} // namespace halftone::compiler
