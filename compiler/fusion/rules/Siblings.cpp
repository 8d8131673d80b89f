// Rules that merge kernels that do not read each other's results.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/FusionCandidates.h"
#include "compiler/fusion/rules/Rules.h"
#include <map>
#include <tuple>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

static bool isRow(const KernelShape &shape) {
  return shape.kind == KernelKind::row || shape.kind == KernelKind::finish;
}

/// The properties on which kernels must agree to be merged: the kind and, for row kernels, the number of outer axes and
/// the shape.
using SiblingKey = std::tuple<KernelKind, int64_t, std::vector<int64_t>>;

static SiblingKey siblingKeyOf(const KernelShape &shape) {
  return isRow(shape) ? SiblingKey(shape.kind, shape.outerRank, {shape.shape.begin(), shape.shape.end()})
                      : SiblingKey(shape.kind, 0, {});
}

/// Logs that kernels which read the same tensor differ in their Likeness.
static void declineOtherKeys(FusionState &state, FusionGroupId id,
                             const std::map<SiblingKey, FusionCandidates> &readers) {
  for (const auto &[key, candidates] : readers)
    if (const auto other = candidates.first(); other && key != siblingKeyOf(state.graph.group(id).shape))
      state.log->declined(id, *other, state.rule, "they read the same tensor, but differ in kind or shape");
}

/// Merges kernels that read the same large tensor, and small row kernels that read the same tensor of any size.
void mergeSiblings(FusionState &state) {
  DenseMap<Value, std::map<SiblingKey, FusionCandidates>> readers;
  for (FusionGroupId id = 0, end = state.graph.size(); id < end; ++id) {
    const FusionGroup &group = state.graph.group(id);
    if (!group.isKernel() || group.shape.kind == KernelKind::matmul || group.shape.kind == KernelKind::reduction_loop)
      continue;
    const bool isSmallRow =
        isRow(group.shape) && ShapedType::getNumElements(group.shape.shape) <= state.costs.smallRows;
    const llvm::SetVector<Value> inputs = state.cloned.inputsOf(group.ops, isSmallRow ? 2 : state.costs.largeInput);
    const SiblingKey own = siblingKeyOf(group.shape);
    const auto joins = [&](FusionGroupId other) {
      return siblingKeyOf(state.graph.group(other).shape) == own && state.tryMerge(other, id);
    };
    std::optional<FusionGroupId> sibling;
    for (Value input : inputs)
      if (!sibling)
        sibling = readers[input][own].find(joins);
    if (state.log && !sibling)
      for (Value input : inputs)
        declineOtherKeys(state, id, readers[input]);
    const FusionGroupId reader = sibling.value_or(id);
    for (Value input : inputs)
      readers[input][siblingKeyOf(state.graph.group(reader).shape)].add(reader);
  }
}

/// Merges kernels whose results are all scalars.
void mergeScalars(FusionState &state) {
  FusionCandidates kernels;
  for (FusionGroupId id = 0, end = state.graph.size(); id < end; ++id) {
    const FusionGroup &group = state.graph.group(id);
    if (!group.isKernel() || group.shape.kind == KernelKind::matmul)
      continue;
    const KernelBody body = state.cloned.bodyOf(group.ops);
    if (!llvm::all_of(body.results, [](Value result) { return shapeOf(result).empty(); }))
      continue;
    if (!kernels.find([&](FusionGroupId other) { return state.tryMerge(other, id); }))
      kernels.add(id);
  }
}

} // namespace halftone::compiler
