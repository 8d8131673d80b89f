// The table of kernel forms, and lookups in it.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

extern const Form attentionForm, attentionGradForm, recurrenceForm, scatterForm, scanForm, sortForm, matmulForm,
    loopForm, finishForm, rowForm, reductionLoopForm;

namespace {

/// In order of preference: a row before a finish of one shape, and both before a reduction loop. `fits` and `classify`
/// may therefore accept kernels of an earlier form.
constexpr const Form *forms[] = {&attentionForm, &attentionGradForm, &recurrenceForm,   &scatterForm,
                                 &scanForm,      &sortForm,          &matmulForm,       &loopForm,
                                 &rowForm,       &finishForm,        &reductionLoopForm};

} // namespace

const Form &formOf(KernelKind kind) {
  return **llvm::find_if(forms, [&](const Form *form) { return form->kind == kind; });
}

KernelKind kindOf(Block &ops) {
  return (*llvm::find_if(forms, [&](const Form *form) { return form->fits(ops); }))->kind;
}

FusionDecision classify(const KernelBody &body, const Blocking &blocking) {
  FormOps ops{body, blocking, {}, {}, {}};
  for (Operation *op : body.ops) {
    if (isScatter(op))
      ops.scatters.push_back(op);
    else if (isa<ContractOp>(op))
      ops.contractions.push_back(op);
    else if (isa<ReduceOp, ArgReduceOp>(op))
      ops.reductions.push_back(op);
    else if (isa<PartialReduceOp>(op) &&
             llvm::any_of(op->getUsers(), [&](Operation *user) { return body.own.contains(user); }))
      return FusionDecision::declined("the kernel of a partial reduction reads its result", op);
    if (auto bits = dyn_cast<RandomBitsOp>(op); bits && llvm::is_contained(body.ops, bits.getKey().getDefiningOp()))
      return FusionDecision::declined("the key of random bits is not read from memory", op);
  }
  FusionDecision decision;
  for (const Form *form : forms) {
    FusionDecision found = form->classify(ops);
    if (found)
      return found;
    decision.append(found, form->kind);
  }
  return decision;
}

bool readsElementwise(KernelOp kernel, int64_t operand) {
  SmallVector<Value> open{kernel.getBody().front().getArgument(operand)};
  DenseSet<Value> seen;
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      if (isa<YieldOp, PartialReduceOp>(user))
        continue;
      if (!isa<ElementwiseOpInterface, PackOp>(user))
        return false;
      if (seen.insert(user->getResult(0)).second)
        open.push_back(user->getResult(0));
    }
  return true;
}

std::optional<PartialReduction> partialReductionOfRows(const KernelShape &kernel, Operation *, int64_t reduced,
                                                       const Blocking &blocking) {
  const int64_t blocked = blockedAxis(kernel.shape), rank = static_cast<int64_t>(kernel.shape.size());
  if (reduced == 0 || blocked >= reduced || reduced > rank)
    return std::nullopt;
  return PartialReduction{kernel.shape, blocking.partialReductionTile(kernel.shape, reduced)};
}

bool isPartialReduction(PartialReduceOp op, const KernelShape &kernel, Operation *contract, const Blocking &blocking) {
  for (auto [index, axis] : llvm::enumerate(op.getAxes()))
    if (axis != static_cast<int64_t>(index))
      return false;
  const PartialReductionOf tilingOf = formOf(kernel.kind).partialReduction;
  const ArrayRef<int64_t> shape = shapeOf(op.getX());
  const int64_t kept = static_cast<int64_t>(shape.size() - op.getAxes().size());
  const auto tiling =
      tilingOf ? tilingOf(kernel, contract, static_cast<int64_t>(kernel.shape.size()) - kept, blocking) : std::nullopt;
  return tiling && ArrayRef(tiling->shape) == shape && ArrayRef(tiling->tile) == op.getTile();
}

} // namespace halftone::compiler
