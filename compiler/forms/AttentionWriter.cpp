// The linalg forms of attention and of its gradient, one linalg.generic after another.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/AttentionWriter.h"
#include "dialect/TypeInference.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

static int64_t extentOf(Value value, int64_t axis) { return cast<RankedTensorType>(value.getType()).getDimSize(axis); }

AttentionTraits attentionTraits(const AttentionInputs &inputs) {
  return {*dtypeOf(getElementTypeOrSelf(inputs.q.getType())), extentOf(inputs.q, 1), extentOf(inputs.k, 1),
          extentOf(inputs.q, 3), extentOf(inputs.v, 3)};
}

AttentionWriter::AttentionWriter(KernelOp kernel, const AttentionInputs &inputs)
    : kernel(kernel), graph(kernel, space, Numerics::fast()), scoreType(inputs.scoreType()), causal(inputs.causal) {
  const SmallVector<int64_t, 4> scores = inputs.scoreShape();
  const int64_t groups = extentOf(inputs.k, 2);
  for (int64_t each :
       {scores[0], groups, scores[1] / groups, scores[2], scores[3], extentOf(inputs.q, 3), extentOf(inputs.v, 3)})
    space.addKeptGroup(each);
  graph.scope = {rows, {keyDim}, {}};
}

void AttentionWriter::declare(Value value, const Access &access) {
  if (ValueNode *found = node(value, access, {}))
    factors.emplace_back(value, found);
}

ValueNode *AttentionWriter::node(Value value, const Access &access, const Access &contracted) {
  if (mlir::failed(state()))
    return nullptr;
  graph.contractAccess = contracted;
  ValueNode *found = graph.get(value, access);
  if (!found && !graph.failed)
    emitError(kernel.getLoc(), "axes of an attention kernel do not nest");
  failed |= !found;
  return found;
}

void AttentionWriter::begin(KernelForm form, ArrayRef<KernelResult> results, ArrayRef<ValueNode *> others) {
  if (mlir::failed(state()))
    return;
  form.causal = causal;
  this->results.assign(results.begin(), results.end());
  builder.emplace(kernel, space, std::move(form));
  SmallVector<ValueNode *> nodes(others);
  llvm::append_range(nodes, nodesOf(results));
  llvm::append_range(nodes, llvm::make_second_range(factors));
  failed |= mlir::failed(builder->declareOperands(nodes));
  reached = GenericBuilder::reachable(nodes);
  for (ValueNode *each : reached)
    if (each->kind == ValueNode::contract)
      contractions.push_back(each);
  std::reverse(contractions.begin(), contractions.end());
  builder->begin(results);
}

/// A value may be read at accesses that differ in dims of extent 1; each access is a node.
void AttentionWriter::provide(ValueNode *node, Value tensor, const Access &access) {
  builder->provide(node, tensor, access);
  for (ValueNode *other : reached)
    if (other->op && other->op == node->op && other->kind == node->kind)
      builder->provide(other, tensor, access);
}

Value AttentionWriter::add(ValueNode *node, const Access &access) {
  if (mlir::failed(state()))
    return nullptr;
  Value tensor = builder->generic(node->kind == ValueNode::reduce ? points : access,
                                  {{node, node->type, access, node->combiner}})[0];
  provide(node, tensor, access);
  return tensor;
}

GenericBuilder::Factor AttentionWriter::operand(Value value) {
  if (mlir::failed(state()))
    return {};
  const ValueNode *node = llvm::find_if(factors, [&](const auto &each) { return each.first == value; })->second;
  return {builder->operand(node->operand), node->access, getElementTypeOrSelf(value.getType())};
}

void AttentionWriter::contract(const GenericBuilder::Factor &a, const GenericBuilder::Factor &b, const Access &kept,
                               const Access &reduced) {
  if (mlir::failed(state()))
    return;
  Access dims = kept;
  llvm::append_range(dims, reduced);
  Value tensor = builder->contraction(dims, a, b, kept, scoreType);
  while (builder->isProvided(contractions.back())) // the same as an earlier contraction, at another access
    contractions.pop_back();
  provide(contractions.pop_back_val(), tensor, kept);
}

FailureOr<KernelDescription> AttentionWriter::finish(const Target &target, ArrayRef<int64_t> blockSizes, int64_t grid,
                                                     double perScore) {
  if (mlir::failed(state()))
    return failure();
  SmallVector<Value> tensors;
  for (KernelResult &result : results) {
    result.combiner.clear();
    tensors.push_back(builder->generic(result.access, outputsOf(ArrayRef(result)))[0]);
  }
  func::FuncOp function = builder->function;
  KernelDescription description;
  description.module = builder->finish(tensors);
  for (int dim : space.all())
    description.extents.push_back(space.extent(dim));
  description.extents.insert(description.extents.end(), blockSizes.begin(), blockSizes.end());
  description.grid = grid;
  description.cost = perScore * double(space.extentOf(points)) / (causal ? 2 : 1);
  description.scratchBytes = target.scratchBytes(function, description.extents);
  return description;
}

} // namespace halftone::compiler
