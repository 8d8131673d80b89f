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
using Likeness = std::tuple<KernelKind, int64_t, std::vector<int64_t>>;

static Likeness likenessOf(const KernelShape &shape) {
  return isRow(shape) ? Likeness(shape.kind, shape.outerRank, {shape.shape.begin(), shape.shape.end()})
                      : Likeness(shape.kind, 0, {});
}

/// Logs that kernels which read the same tensor differ in their Likeness.
static void declineUnlike(FusionState &state, FusionGroupId id, const std::map<Likeness, FusionCandidates> &readers) {
  for (const auto &[likeness, candidates] : readers)
    if (const auto other = candidates.first(); other && likeness != likenessOf(state.graph.group(id).shape))
      state.log->declined(id, *other, state.rule, "they read the same tensor, but differ in kind or shape");
}

/// Merges kernels that read the same large tensor, and small row kernels that read the same tensor of any size.
void mergeSiblings(FusionState &state) {
  DenseMap<Value, std::map<Likeness, FusionCandidates>> readers;
  for (FusionGroupId id = 0, end = state.graph.size(); id < end; ++id) {
    const FusionGroup &group = state.graph.group(id);
    if (!group.isKernel() || group.shape.kind == KernelKind::matmul || group.shape.kind == KernelKind::reduction_loop)
      continue;
    const bool isSmallRow =
        isRow(group.shape) && ShapedType::getNumElements(group.shape.shape) <= state.costs.smallRows;
    const llvm::SetVector<Value> inputs = state.cloned.inputsOf(group.ops, isSmallRow ? 2 : state.costs.bigInput);
    const Likeness own = likenessOf(group.shape);
    const auto joins = [&](FusionGroupId other) {
      return likenessOf(state.graph.group(other).shape) == own && state.tryMerge(other, id);
    };
    std::optional<FusionGroupId> sibling;
    for (Value input : inputs)
      if (!sibling)
        sibling = readers[input][own].find(joins);
    if (state.log && !sibling)
      for (Value input : inputs)
        declineUnlike(state, id, readers[input]);
    const FusionGroupId reader = sibling.value_or(id);
    for (Value input : inputs)
      readers[input][likenessOf(state.graph.group(reader).shape)].add(reader);
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
