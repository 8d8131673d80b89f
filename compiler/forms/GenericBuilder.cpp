// The function of a kernel's linalg form, one linalg.generic after another.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/GenericBuilder.h"
#include "compiler/kernels/Combiner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

GenericBuilder::GenericBuilder(KernelOp kernel, const IterationSpace &space, KernelForm form)
    : builder(kernel.getContext()), kernel(kernel), space(space), form(std::move(form)), numerics(this->form.numerics),
      blockSizes(static_cast<int>(this->form.blockSizes())),
      lookupArguments(static_cast<int>(this->form.lookupArguments)), loc(UnknownLoc::get(kernel.getContext())),
      ranks(kernel.getBody().getNumArguments(), 0) {}

SmallVector<ValueNode *> GenericBuilder::reachable(ArrayRef<ValueNode *> nodes) {
  llvm::SetVector<ValueNode *> found;
  found.insert(nodes.begin(), nodes.end());
  for (size_t i = 0; i < found.size(); ++i) {
    SmallVector<ValueNode *, 3> inputs = found[i]->inputs;
    found.insert(inputs.begin(), inputs.end());
  }
  SmallVector<ValueNode *> sorted = found.takeVector();
  llvm::sort(sorted, [](ValueNode *a, ValueNode *b) { return a->order < b->order; });
  return sorted;
}

LogicalResult GenericBuilder::declareOperands(ArrayRef<ValueNode *> nodes) {
  llvm::SmallBitVector loaded(ranks.size()), lookedUp(ranks.size());
  for (ValueNode *node : reachable(nodes)) {
    bool isLookup = node->kind == ValueNode::lookup;
    if (node->kind != ValueNode::load && !isLookup)
      continue;
    int rank = isLookup || node->element >= 0 ? 1 : node->access.size();
    if (loaded.test(node->operand) && (ranks[node->operand] != rank || lookedUp.test(node->operand) != isLookup))
      return emitError(kernel.getLoc(), "operand ")
             << node->operand << " of a kernel is read with different ranks, or both by loads and by lookups";
    loaded.set(node->operand);
    lookedUp[node->operand] = isLookup;
    ranks[node->operand] = rank;
  }
  return success();
}

RankedTensorType GenericBuilder::tensorType(int rank, Type element) {
  return RankedTensorType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic), element);
}

void GenericBuilder::begin(ArrayRef<KernelResult> results) {
  module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> inputs(space.size() + blockSizes + lookupArguments, builder.getIndexType()), outputs;
  const auto layout = [](PanelsAttr panels) -> std::optional<Panels> {
    return panels ? std::optional(Panels{panels.getDepth(), panels.getColumns(), panels.getGroup(), panels.getBits()})
                  : std::nullopt;
  };
  for (auto [argument, rank] : llvm::zip(kernel.getBody().getArguments(), ranks)) {
    inputs.push_back(tensorType(rank, storedType(cast<RankedTensorType>(argument.getType()).getElementType())));
    form.operands.push_back({layout(PanelsAttr::of(argument.getType())), "", {}});
    if (auto window = windows.find(int(argument.getArgNumber())); window != windows.end())
      form.operands.back().window = window->second;
  }
  for (const KernelResult &result : results) {
    outputs.push_back(tensorType(result.access.size(), result.element));
    form.results.push_back({layout(result.panels), result.combiner, {}});
  }
  function = func::FuncOp::create(builder, loc, "kernel", builder.getFunctionType(inputs, outputs));
  form.write(function);
  builder.setInsertionPointToEnd(function.addEntryBlock());
  extents64.assign(space.size() + lookupArguments, Value());
}

void GenericBuilder::provide(ValueNode *node, Value tensor, ArrayRef<int> access) {
  provided[node] = {tensor, Access(access.begin(), access.end())};
}

Value GenericBuilder::empty(ArrayRef<int> access, Type element) {
  SmallVector<Value> sizes;
  for (int dim : access)
    sizes.push_back(function.getArgument(dim));
  return tensor::EmptyOp::create(builder, loc, tensorType(access.size(), element), sizes);
}

void GenericBuilder::needExtents(ArrayRef<int> access) {
  for (int dim : access.drop_front(access.empty() ? 0 : 1))
    needIndex(dim, dim);
}

/// Stores index argument `argument` as an i64 at index `position` of extents64, the values that bodies use.
void GenericBuilder::needIndex(int position, int argument) {
  if (extents64[position])
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  extents64[position] = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), function.getArgument(argument));
}

void GenericBuilder::collect(GenericBody &body, llvm::SmallPtrSetImpl<ValueNode *> &seen, ValueNode *node) {
  if (!seen.insert(node).second)
    return;
  if (auto it = provided.find(node); it != provided.end())
    return body.addInput(node, it->second.tensor, it->second.access);
  if (node->kind == ValueNode::load)
    return body.addInput(node, operand(node->operand), node->access, node->element);
  for (ValueNode *input : node->inputs)
    collect(body, seen, input);
  if (node->kind == ValueNode::index || node->kind == ValueNode::random || node->kind == ValueNode::table ||
      node->kind == ValueNode::concat)
    needExtents(node->access);
  auto needArgument = [&](int argument) {
    if (argument >= 0)
      needIndex(space.size() + argument, space.size() + blockSizes + argument);
  };
  needArgument(node->argument);
  llvm::for_each(node->starts, needArgument);
  if (node->kind == ValueNode::lookup)
    body.lookups.add(node, operand(node->operand));
  for (const LookupAxis &axis : node->position) {
    needExtents(axis.dims);
    if (axis.window)
      needExtents(axis.window->taps);
    needArgument(axis.extent);
    needArgument(axis.start);
  }
}

Value GenericBuilder::initial(const GenericOutput &output, bool isIndex) {
  if (output.start)
    return output.start;
  Value init = empty(output.access, output.element);
  if (output.combiner.empty())
    return init;
  TypedAttr neutral = isIndex ? builder.getI32IntegerAttr(std::numeric_limits<int32_t>::max())
                              : neutralElement(output.combiner, output.element);
  Value scalar = arith::ConstantOp::create(builder, loc, neutral);
  return linalg::FillOp::create(builder, loc, scalar, init).getResult(0);
}

SmallVector<Value> GenericBuilder::yieldsOf(GenericBody &body, OpBuilder &inner, ArrayRef<GenericOutput> outputs,
                                            ValueRange accumulators) {
  SmallVector<Value> yields;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const GenericOutput &output = outputs[i];
    if (output.combiner.empty()) {
      yields.push_back(body.stored(output.node, output.element));
      continue;
    }
    if (output.combiner == lastCombiner) {
      yields.push_back(body.hit(output.computed(), [&] { return accumulators[i]; }));
      continue;
    }
    if (isArgCombiner(output.combiner)) {
      Value value = body.emit(output.computed());
      Value index = arith::TruncIOp::create(inner, loc, inner.getI32Type(), body.linearIndex(output.node->access));
      auto [best, at] =
          buildArgCombine(inner, loc, output.combiner, {accumulators[i], accumulators[i + 1]}, {value, index});
      yields.append({best, at});
      ++i;
      continue;
    }
    Value value = body.emit(output.computed());
    yields.push_back(buildCombine(inner, loc, output.combiner, accumulators[i], value, numerics.mayFuse()));
  }
  return yields;
}

SmallVector<Value> GenericBuilder::generic(ArrayRef<int> dims, ArrayRef<GenericOutput> outputs) {
  GenericBody body(space.size(), dims, loc, numerics);
  llvm::SmallPtrSet<ValueNode *, 16> seen;
  SmallVector<Value> inits;
  SmallVector<Type> types;
  SmallVector<AffineMap> outputMaps;
  SmallVector<std::string> combiners;
  llvm::SmallBitVector reduced(space.size()), covered(space.size());
  for (auto [number, output] : llvm::enumerate(outputs)) {
    bool isArg = isArgCombiner(output.combiner);
    collect(body, seen, output.computed());
    if (isArg)
      needExtents(output.node->access);
    bool isIndex = isArg && number > 0 && outputs[number - 1].node == output.node;
    inits.push_back(initial(output, isIndex));
    types.push_back(inits.back().getType());
    outputMaps.push_back(body.map(output.access));
    combiners.push_back(output.combiner);
    for (int dim : dims)
      if (!llvm::is_contained(output.access, dim))
        reduced.set(dim);
    for (int dim : output.access)
      covered.set(dim);
  }
  for (const GenericBody::Input &input : body.inputs)
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      if (input.map.isFunctionOfDim(dim))
        covered.set(dims[dim]);
  Access uncovered;
  for (int dim : dims)
    if (!covered.test(dim))
      uncovered.push_back(dim);
  if (!uncovered.empty()) // loop bounds come from tensors: adds an unread one
    body.inputs.push_back({empty(uncovered, builder.getI8Type()), body.map(uncovered)});

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const GenericBody::Input &input : body.inputs) {
    inputs.push_back(input.tensor);
    maps.push_back(input.map);
  }
  maps.append(outputMaps);
  SmallVector<utils::IteratorType> iterators;
  for (int dim : dims)
    iterators.push_back(reduced.test(dim) ? utils::IteratorType::reduction : utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      builder, loc, types, inputs, inits, maps, iterators, [&](OpBuilder &inner, Location, ValueRange arguments) {
        body.begin(inner, extents64);
        linalg::YieldOp::create(inner, loc, yieldsOf(body, inner, outputs, arguments.drop_front(inputs.size())));
      });
  GenericForm{SmallVector<int>(dims), combiners}.write(op);
  return op.getResults();
}

/// An element as a factor, widened to the accumulator's type.
static Value widenedFactor(OpBuilder &builder, Location loc, Value value, Type element, Type accumulator) {
  if (value.getType() == accumulator)
    return value;
  if (isa<FloatType>(accumulator))
    return arith::ExtFOp::create(builder, loc, accumulator, value);
  if (element.isUnsignedInteger())
    return arith::ExtUIOp::create(builder, loc, accumulator, value);
  return arith::ExtSIOp::create(builder, loc, accumulator, value);
}

Value GenericBuilder::contraction(ArrayRef<int> dims, const Factor &a, const Factor &b, ArrayRef<int> kept,
                                  Type accumulator) {
  GenericBody body(space.size(), dims, loc, numerics);
  Value init = initial({nullptr, accumulator, Access(kept.begin(), kept.end()), "sum"}, false);
  SmallVector<AffineMap> maps{body.map(a.access), body.map(b.access), body.map(kept)};
  SmallVector<utils::IteratorType> iterators(kept.size(), utils::IteratorType::parallel);
  iterators.resize(dims.size(), utils::IteratorType::reduction);
  const auto flags = numerics.mayFuse() ? arith::FastMathFlags::contract : arith::FastMathFlags::none;
  auto op = linalg::GenericOp::create(
      builder, loc, TypeRange{init.getType()}, ValueRange{a.tensor, b.tensor}, ValueRange{init}, maps, iterators,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        Value x = widenedFactor(inner, loc, arguments[0], a.element, accumulator);
        Value y = widenedFactor(inner, loc, arguments[1], b.element, accumulator), sum = arguments[2];
        if (isa<FloatType>(accumulator))
          sum = arith::AddFOp::create(inner, loc, sum, arith::MulFOp::create(inner, loc, x, y, flags), flags);
        else
          sum = arith::AddIOp::create(inner, loc, sum, arith::MulIOp::create(inner, loc, x, y));
        linalg::YieldOp::create(inner, loc, sum);
      });
  GenericForm{SmallVector<int>(dims), {"sum"}}.write(op);
  return op.getResult(0);
}

OwningOpRef<ModuleOp> GenericBuilder::finish(ValueRange results) {
  func::ReturnOp::create(builder, loc, results);
  return std::move(module);
}

} // namespace halftone::compiler
