// Loads of a row's elements, each once.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/RowHeld.h"

namespace halftone::compiler {
using namespace mlir;

static bool isOfRow(const RowPhase &phase, const TensorAccess &access) {
  return llvm::none_of(access.dims, [&](int dim) { return llvm::is_contained(phase.inner, dim); });
}

const RowHeld::Held *RowHeld::find(Value tensor, const TensorAccess &access) const {
  const auto found =
      llvm::find_if(held, [&](const Held &each) { return each.tensor == tensor && each.access == access; });
  return found == held.end() ? nullptr : &*found;
}

Emitted RowHeld::loadIf(Emitted condition, const TensorStorage &storage, const TensorAccess &access,
                        const Lanes &lanes) const {
  GridFrame &frame = teams.frame;
  if (!condition || !storage.pointer)
    return loadLanes(frame, storage, access, lanes);
  const bool varies = lanes.count > 0 && llvm::is_contained(access.dims, lanes.dim);
  const Type type = varies ? Type(VectorType::get(lanes.count, storage.element)) : storage.element;
  return frame.choose(
      condition, [&] { return Values{loadLanes(frame, storage, access, lanes)}; },
      [&] { return Values{frame.zero(type)}; })[0];
}

void RowHeld::load(RowPhase &phase, ArrayRef<RowStep> steps) {
  for (auto [input, access] : llvm::enumerate(phase.inputAccesses)) {
    const Value tensor = phase.generic.getDpsInputs()[input];
    if (phase.generic.getBody()->getArgument(input).use_empty() || isOfRow(phase, access) != steps.empty() ||
        find(tensor, access))
      continue;
    const TensorStorage storage = teams.frame.storage.lookup(tensor);
    Values values;
    for (const RowStep &step : steps) {
      teams.moveTo(phase, step);
      values.push_back(loadIf(step.isInside, storage, access, phase.lanes));
    }
    if (steps.empty())
      values.push_back(loadIf(teams.isRowInside, storage, access, {}));
    held.push_back({tensor, access, values});
  }
}

void RowHeld::keep(RowPhase &phase, const RowOutput &output, const Values &values) {
  held.push_back({phase.generic.getResult(output.position), output.access, values});
}

Values RowHeld::inputsAt(const RowPhase &phase, size_t step) const {
  Values inputs;
  for (auto [input, access] : llvm::enumerate(phase.inputAccesses)) {
    const Held *values = find(phase.generic->getOperand(unsigned(input)), access);
    inputs.push_back(values ? values->values[values->values.size() > 1 ? step : 0] : Emitted());
  }
  return inputs;
}

} // namespace halftone::compiler
