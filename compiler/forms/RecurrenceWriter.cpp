// The linalg form of a recurrence.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/RecurrenceWriter.h"
#include "compiler/forms/KernelBody.h"
#include "compiler/kernels/RecurrenceDims.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

RecurrenceWriter::RecurrenceWriter(KernelOp kernel, ScanOp scan, RecurrenceBody body)
    : kernel(kernel), scan(scan), body(std::move(body)), graph(kernel, space, Numerics::fast()) {}

bool RecurrenceWriter::isMatrixOfWeights(Value value) const {
  return !body.hasRows.lookup(value) && shapeOf(value).size() == 2;
}

/// The extent of the axis that is not that of the rows; 1 if there is none.
int64_t RecurrenceWriter::columnsOf(Value value) const {
  const ArrayRef<int64_t> shape = shapeOf(value);
  return shape.size() > (body.hasRows.lookup(value) ? 1 : 0) ? shape.back() : 1;
}

Access RecurrenceWriter::accessOf(Value value) const {
  Access access;
  if (body.hasRows.lookup(value))
    access.push_back(rowDim);
  if (shapeOf(value).size() > access.size())
    access.push_back(columnDim(value));
  return access;
}

void RecurrenceWriter::findDims() {
  space.addKeptGroup(scan.getLength());
  space.addKeptGroup(body.traits.rows);
  const auto add = [&](std::map<int64_t, int> &dims, int64_t extent) {
    if (dims.try_emplace(extent, space.size()).second)
      space.addKeptGroup(extent);
  };
  const auto addColumns = [&](Value value) {
    if (body.hasRows.contains(value))
      add(columns, columnsOf(value));
  };
  Block &steps = scan.getBody().front();
  llvm::for_each(steps.getArguments(), addColumns);
  for (Operation &op : steps.without_terminator()) {
    addColumns(op.getResult(0));
    if (auto contract = dyn_cast<ContractOp>(op); contract && body.hasRows.contains(contract.getResult()))
      add(depths, shapeOf(contract.getLhs())[1]);
  }
  for (BlockArgument capture : kernel.getBody().getArguments())
    if (!isMatrixOfWeights(capture))
      addColumns(capture);
}

void RecurrenceWriter::findLookupArguments() {
  const bool reverse = scan.getReverse();
  graph.lookupArguments = {reverse ? int64_t(scan.getLength()) - 1 : 0, reverse ? -1 : 1};
  const auto add = [&](Operation *op, size_t index, int64_t value) {
    argumentOf[{op, index}] = int(graph.lookupArguments.size());
    graph.lookupArguments.push_back(value);
  };
  for (Operation &op : scan.getBody().front()) {
    if (auto slice = dyn_cast<SliceOp>(op))
      add(slice, 0, slice.getStart().back());
    int64_t begin = 0;
    if (auto concat = dyn_cast<ConcatOp>(op))
      for (auto [index, operand] : llvm::enumerate(concat.getXs())) {
        add(concat, index, begin);
        begin += shapeOf(operand).back();
      }
  }
}

/// Ops that end a level: their results are stored in memory.
static bool isProduct(Operation *op) { return isa_and_nonnull<ContractOp, ConcatOp>(op); }

int64_t RecurrenceWriter::levelOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &scan.getBody().front())
    return 0;
  if (const auto known = levels.find(value); known != levels.end())
    return known->second;
  int64_t level = 0;
  for (Value operand : op->getOperands())
    level = std::max(level, levelOf(operand));
  return levels[value] = level + (isProduct(op) ? 1 : 0);
}

void RecurrenceWriter::findResults() {
  const unsigned carryCount = scan.getInits().size();
  for (auto [number, yielded] : llvm::enumerate(kernel.getBody().front().getTerminator()->getOperands())) {
    const unsigned output = cast<OpResult>(yielded).getResultNumber();
    const Value value = scan.getTerminator()->getOperand(output);
    Access access = accessOf(value);
    if (output >= carryCount)
      access.insert(access.begin(), stepDim);
    const Type element = storedType(elementTypeOf(value));
    results.push_back({nullptr, element, access, "", {}});
    store({value, element, access, unsigned(number)});
    if (output < carryCount) {
      const auto init = cast<BlockArgument>(scan.getInits()[output]);
      carries.append({int64_t(init.getArgNumber()), int64_t(number)});
    }
  }
  tensors.resize(results.size());
}

void RecurrenceWriter::store(Stored entry) {
  generics[levelOf(entry.value)][columnDim(entry.value)].push_back(entry);
  keepForLater(entry.value, levelOf(entry.value));
}

/// Stores expensive values of an earlier level, so that they are computed once. `level` is the level that reads
/// `value`.
void RecurrenceWriter::keepForLater(Value value, int64_t level) {
  constexpr int64_t minCost = 8;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &scan.getBody().front() || isProduct(op) || isa<SliceOp>(op) ||
      !visited.insert({op, level}).second)
    return;
  const int64_t own = levelOf(value);
  const bool isCostly = isTranscendental(op) || cast<ComputeOpInterface>(op).getCost() >= minCost;
  if (own < level && isCostly) {
    level = own;
    if (!kept.insert(op).second)
      return;
    generics[own][columnDim(value)].push_back(
        {value, arithmeticType(elementTypeOf(value)), accessOf(value), {}, /*isKept=*/true});
  }
  for (Value operand : op->getOperands())
    keepForLater(operand, level);
}

/// Stores the operands of contractions and concats, unless a contraction finds its operand in a tensor already.
void RecurrenceWriter::findStored() {
  findResults();
  for (Operation &op : scan.getBody().front()) {
    if (!isProduct(&op) || !body.hasRows.contains(op.getResult(0)))
      continue;
    products[levelOf(op.getResult(0)) - 1].push_back(&op);
    const auto stored = [&](Value value) { return Stored{value, storedType(elementTypeOf(value)), accessOf(value)}; };
    if (auto contract = dyn_cast<ContractOp>(op)) {
      if (const Value lhs = contract.getLhs();
          !graph.provided.contains(lhs) && factors.try_emplace(lhs, Value()).second)
        store(stored(lhs));
      continue;
    }
    for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
      Stored one = stored(operand);
      one.concatOperand = {&op, index};
      store(one);
    }
  }
}

void RecurrenceWriter::begin(const Target &target) {
  KernelForm form;
  form.kind = KernelKind::recurrence;
  form.outer = recurrenceOuterDims;
  form.lookupArguments = int64_t(graph.lookupArguments.size());
  form.carries = carries;
  form.schedule = target.schedule(kernel.getContext(), body.traits);
  builder.emplace(kernel, space, std::move(form));
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    builder->declareOperand(int(argument.getArgNumber()), int(shapeOf(argument).size()));
    const bool isCapture = body.hasRows.contains(argument) && !isMatrixOfWeights(argument);
    views[argument] = {{}, isCapture ? accessOf(argument) : Access()};
  }
  builder->begin(results);
  for (auto &[argument, view] : views)
    view.tensor = builder->operand(int(cast<BlockArgument>(argument).getArgNumber()));
  for (auto [carry, init] : llvm::zip_equal(scan.getCarries(), scan.getInits()))
    views[carry] = {views[init].tensor, accessOf(carry)};
  for (auto [slice, x] : llvm::zip_equal(scan.getSlices(), scan.getXs())) {
    Access access = accessOf(slice);
    access.insert(access.begin(), stepDim);
    views[slice] = {views[x].tensor, access};
  }
}

RecurrenceWriter::TensorView RecurrenceWriter::viewOf(Value value) {
  if (const auto known = views.find(value); known != views.end())
    return known->second;
  auto slice = value.getDefiningOp<SliceOp>();
  const TensorView whole = viewOf(slice.getX());
  Access access = whole.access;
  access.back() = columnDim(value);
  SmallVector<OpFoldResult> offsets(access.size(), builder->builder.getIndexAttr(0)), sizes,
      strides(access.size(), builder->builder.getIndexAttr(1));
  for (int dim : access)
    sizes.push_back(builder->extent(dim));
  offsets.back() = builder->lookupArgument(argumentOf.at({slice, 0}));
  auto extract =
      tensor::ExtractSliceOp::create(builder->builder, kernel.getLoc(), whole.tensor, offsets, sizes, strides);
  extract->setAttr("halftone.dims", builder->builder.getDenseI64ArrayAttr(llvm::to_vector_of<int64_t>(whole.access)));
  return views[value] = {extract, access};
}

/// Sets the tensors of the nodes of kind `provided`. A generic over `dim` lacks the other column dims, which have extent
/// 1.
void RecurrenceWriter::provideTensors(ArrayRef<ValueNode *> nodes, int dim) {
  for (ValueNode *node : GenericBuilder::reachable(nodes)) {
    if (node->kind != ValueNode::provided)
      continue;
    TensorView view = viewOf(node->value);
    for (int &each : view.access)
      if (each != dim && each >= recurrenceOuterDims)
        each = noDim;
    builder->provide(node, view.tensor, view.access);
  }
}

bool RecurrenceWriter::writeGeneric(int dim, ArrayRef<Stored> all) {
  SmallVector<GenericOutput> outputs;
  SmallVector<ValueNode *> nodes;
  for (const Stored &each : all) {
    ValueNode *node = graph.get(each.value, accessOf(each.value));
    if (!node) {
      if (!graph.failed)
        emitError(kernel.getLoc(), "axes of a recurrence kernel do not nest");
      return false;
    }
    nodes.push_back(node);
    outputs.push_back({node, each.element, each.access, ""});
  }
  provideTensors(nodes, dim);
  const SmallVector<Value> created = builder->generic({stepDim, rowDim, dim}, outputs);
  for (auto [each, node, tensor] : llvm::zip_equal(all, nodes, created)) {
    if (each.result)
      tensors[*each.result] = tensor;
    else if (each.isKept)
      builder->provide(node, tensor, each.access);
    else if (each.concatOperand)
      concatOperands[*each.concatOperand] = tensor;
    else
      factors[each.value] = tensor;
  }
  return true;
}

void RecurrenceWriter::writeProduct(ContractOp op) {
  const int depth = depths.at(shapeOf(op.getLhs())[1]), column = columnDim(op.getResult());
  const Value stored = factors.lookup(op.getLhs());
  TensorView lhs = stored ? TensorView{stored, accessOf(op.getLhs())} : viewOf(op.getLhs());
  lhs.access.back() = depth;
  const Access kept{rowDim, column};
  Access dims{rowDim, column, depth}, rhs{depth, column};
  if (lhs.access.size() > 2)
    dims.push_back(stepDim);
  if (op.getRhsContract()[0] == 1)
    std::swap(rhs[0], rhs[1]);
  const Value weights = views[op.getRhs()].tensor;
  views[op.getResult()] = {builder->contraction(dims, {lhs.tensor, lhs.access, elementTypeOf(op.getLhs())},
                                                {weights, rhs, elementTypeOf(op.getRhs())}, kept,
                                                op.getAccumulatorType()),
                           kept};
}

void RecurrenceWriter::writeConcat(ConcatOp op) {
  const Access access = accessOf(op.getY());
  OpBuilder &inner = builder->builder;
  Value whole = builder->empty(access, storedType(elementTypeOf(op.getY())));
  const SmallVector<OpFoldResult> strides(access.size(), inner.getIndexAttr(1));
  for (auto [index, operand] : llvm::enumerate(op.getXs())) {
    const Value part = concatOperands.at({op, index});
    const SmallVector<OpFoldResult> offsets{inner.getIndexAttr(0), builder->lookupArgument(argumentOf.at({op, index}))};
    const SmallVector<OpFoldResult> sizes{builder->extent(rowDim), builder->extent(columnDim(operand))};
    whole = tensor::InsertSliceOp::create(inner, kernel.getLoc(), part, whole, offsets, sizes, strides);
  }
  views[op.getY()] = {whole, access};
}

/// Estimated nanoseconds on one core.
double RecurrenceWriter::costOfStep() {
  constexpr double perMultiplyAdd = 0.015, perOp = 0.05;
  double cost = 0;
  for (Operation &op : scan.getBody().front()) {
    if (auto contract = dyn_cast<ContractOp>(op))
      cost += perMultiplyAdd * double(elementsOf(contract.getRhs())) * double(body.traits.rows);
    else if (auto compute = dyn_cast<ComputeOpInterface>(op))
      cost += perOp * double(compute.getCost() * elementsOf(op.getResult(0)));
  }
  return cost;
}

FailureOr<KernelDescription> RecurrenceWriter::write(const Target &target, int64_t blockRows) {
  for (Value value : llvm::make_first_range(body.hasRows))
    if (Operation *op = value.getDefiningOp(); !op || isProduct(op) || isa<SliceOp>(op))
      graph.provided.insert(value);
  findDims();
  findLookupArguments();
  findStored();
  begin(target);
  const int64_t last = generics.rbegin()->first; // the level of a result
  for (int64_t level = 0; level <= last; ++level) {
    for (auto &[dim, all] : generics[level])
      if (!writeGeneric(dim, all))
        return failure();
    for (Operation *op : products[level])
      if (auto contract = dyn_cast<ContractOp>(op))
        writeProduct(contract);
      else
        writeConcat(cast<ConcatOp>(op));
  }
  func::FuncOp function = builder->function;
  KernelDescription description;
  description.module = builder->finish(tensors);
  for (int dim : space.all())
    description.extents.push_back(space.extent(dim));
  description.extents.push_back(blockRows);
  llvm::append_range(description.extents, graph.lookupArguments);
  description.grid = ceilDivide(body.traits.rows, blockRows);
  description.cost = double(scan.getLength()) * costOfStep();
  description.scratchBytes = target.scratchBytes(function, description.extents);
  return description;
}

} // namespace halftone::compiler
