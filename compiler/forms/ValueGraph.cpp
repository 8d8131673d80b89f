// Maps tensor ops to scalar values at accesses.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/ValueGraph.h"
#include "compiler/forms/KernelBody.h"
#include "compiler/forms/LookupReader.h"
#include "compiler/kernels/NarrowFloat.h"
#include "llvm/ADT/STLExtras.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// Runs of adjacent axes with the same label: labels and extents.
struct Runs {
  SmallVector<int64_t> labels, extents;
  void add(int64_t label, int64_t extent, bool join) {
    if (join && !labels.empty()) {
      extents.back() *= extent;
      return;
    }
    labels.push_back(label);
    extents.push_back(extent);
  }
};

/// Runs of axes that are in `chosen` (label 1) and of axes that are not (label 0).
Runs runsOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> chosen) {
  Runs runs;
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    int64_t label = llvm::is_contained(chosen, int64_t(axis));
    runs.add(label, extent, !runs.labels.empty() && (runs.labels.back() == label || extent == 1));
  }
  return runs;
}

void append(Access &to, ArrayRef<int> dims) { to.append(dims.begin(), dims.end()); }

} // namespace

Type storedType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type); integer && !integer.isSignless())
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

Type arithmeticType(Type type) { return isNarrowFloat(type) ? Float32Type::get(type.getContext()) : storedType(type); }

ValueNode *ValueGraph::fail(Operation *op, const Twine &message) {
  failed = true;
  op->emitError(message) << " in a " << stringifyKernelKind(kernel.getKind()) << " kernel";
  return nullptr;
}

std::optional<SmallVector<Access>> ValueGraph::cut(Operation *op, ArrayRef<int> access, ArrayRef<int64_t> extents) {
  // The space records a refinement until the caller takes it. Only a failure that no refinement can resolve is
  // reported.
  int before = space.size();
  auto parts = space.cut(access, extents);
  if (!parts && space.size() == before)
    fail(op, "the op groups axes in a way that does not nest with the other ops");
  return parts;
}

ValueNode *ValueGraph::make(ValueNode node) {
  node.dims.resize(space.size());
  for (int dim : node.access)
    if (dim != noDim)
      node.dims.set(dim);
  for (ValueNode *input : node.inputs) {
    node.dims |= input->dims;
    node.level = std::max(node.level, input->level);
    node.cost += input->cost;
  }
  if (node.kind == ValueNode::reduce || node.kind == ValueNode::argReduce) {
    ++node.level;
    node.cost = 0;
    for (int dim : scope.reduced)
      node.dims.reset(dim);
  }
  node.order = nodes.size();
  nodes.push_back(std::move(node));
  return &nodes.back();
}

ValueNode *ValueGraph::rounded(ValueNode *node, Type narrow) {
  if (!node || node->exact == narrow)
    return node;
  ValueNode result(ValueNode::round);
  result.inputs = {node};
  result.type = arithmeticType(narrow);
  result.exact = narrow;
  result.cost = 2;
  return make(std::move(result));
}

Access ValueGraph::longDims(ArrayRef<int> access) const {
  return llvm::to_vector<6>(llvm::make_filter_range(access, [&](int dim) { return space.extent(dim) != 1; }));
}

/// Adapts `access` to an operand that was first read at `first`: the long dims of `access`, and for each dim of extent
/// 1 in `first` a dim of extent 1 of `access`.
Access ValueGraph::aligned(ArrayRef<int> access, ArrayRef<int> first) const {
  SmallVector<int> ours = longDims(access), others;
  for (int dim : access)
    if (space.extent(dim) == 1 && !llvm::is_contained(first, dim))
      others.push_back(dim);
  Access result;
  size_t nextLong = 0, nextOther = 0;
  for (int dim : first) {
    if (space.extent(dim) != 1)
      result.push_back(ours[nextLong++]);
    else if (llvm::is_contained(access, dim))
      result.push_back(dim);
    else
      result.push_back(nextOther < others.size() ? others[nextOther++] : noDim);
  }
  return result;
}

ValueNode *ValueGraph::load(BlockArgument argument, ArrayRef<int> access, int element) {
  // Every access to an operand has the same extents: a coarser access is split like the finer one, and dims of extent 1
  // stay at their first position.
  auto extentsOf = [&](ArrayRef<int> dims) {
    return llvm::map_to_vector(dims, [&](int dim) { return space.extent(dim); });
  };
  Access own(access.begin(), access.end());
  if (element < 0) { // not a single element, such as a word of a key
    auto [first, isNew] = loaded.try_emplace(argument.getArgNumber(), access.begin(), access.end());
    Access ours = longDims(access), theirs = longDims(first->second);
    if (!isNew && extentsOf(ours) != extentsOf(theirs)) {
      Operation *user = *argument.user_begin();
      if (!cut(user, ours, extentsOf(theirs)) || !cut(user, theirs, extentsOf(ours)))
        return nullptr;
    }
    if (!isNew && ours.size() == theirs.size())
      own = aligned(access, first->second);
  }
  ValueNode node(ValueNode::load);
  node.operand = argument.getArgNumber();
  node.access = std::move(own);
  node.element = element;
  node.type = arithmeticType(elementTypeOf(argument));
  node.cost = 1;
  if (isNarrowFloat(elementTypeOf(argument)))
    node.exact = elementTypeOf(argument);
  return make(std::move(node));
}

ValueNode *ValueGraph::constant(ConstantOp op, ArrayRef<int> access) {
  Type element = elementTypeOf(op.getResult());
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return fail(op, "expected a dense constant");
  ValueNode node(elements.isSplat() ? ValueNode::splat : ValueNode::table);
  node.op = op;
  node.type = arithmeticType(element);
  if (node.kind == ValueNode::table) {
    node.access.assign(access.begin(), access.end());
    node.cost = elements.getNumElements();
  }
  if (isNarrowFloat(element))
    node.exact = element;
  return make(std::move(node));
}

ValueNode *ValueGraph::random(RandomBitsOp op, ArrayRef<int> access) {
  Value key = op.getKey();
  while (auto reshape = key.getDefiningOp<ReshapeOp>())
    key = reshape.getX();
  auto argument = dyn_cast<BlockArgument>(key);
  if (!argument)
    return fail(op, "expected the key of random_bits to be an operand");
  ValueNode node(ValueNode::random);
  node.op = op;
  node.inputs = {load(argument, {}, 0), load(argument, {}, 1)};
  node.access.assign(access.begin(), access.end());
  node.type = storedType(elementTypeOf(op.getResult()));
  node.cost = double(op.getCost());
  return make(std::move(node));
}

std::string ValueGraph::combinerOf(ReduceKind kind, Type elementType) const {
  switch (kind) {
  case ReduceKind::sum:
    return "sum";
  case ReduceKind::prod:
    return "prod";
  case ReduceKind::and_:
    return "and";
  case ReduceKind::or_:
    return "or";
  case ReduceKind::max:
  case ReduceKind::min:
    break;
  }
  // bool orders false before true, like an unsigned integer.
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isSignlessInteger(1);
  return std::string(isUnsigned ? "u" : "") + (kind == ReduceKind::max ? "max" : "min");
}

ValueNode *ValueGraph::reduction(Operation *op, Value x, ArrayRef<int64_t> axes, ArrayRef<int> access) {
  Runs runs = runsOf(shapeOf(x), axes);
  SmallVector<int64_t> keptExtents, reducedExtents;
  int64_t reducedSize = 1;
  for (auto [label, extent] : llvm::zip(runs.labels, runs.extents)) {
    (label ? reducedExtents : keptExtents).push_back(extent);
    if (label)
      reducedSize *= extent;
  }
  Type resultElement = elementTypeOf(op->getResult(0));
  auto argReduce = dyn_cast<ArgReduceOp>(op);
  if (reducedSize == 1) { // the reduction of one element is that element
    if (argReduce) {
      ValueNode zero(ValueNode::splat);
      zero.type = resultElement;
      return make(std::move(zero));
    }
    return get(x, access);
  }
  if (longDims(scope.kept) != longDims(access))
    return fail(op, "expected a reduction's result to have the kept axes");
  auto kept = cut(op, scope.kept, keptExtents);
  if (!kept)
    return nullptr;
  auto row = scope.rows.find(std::vector<int64_t>(shapeOf(x)));
  auto reduced = cut(op, row == scope.rows.end() ? scope.reduced : row->second, reducedExtents);
  if (!reduced)
    return nullptr;
  Access from, along;
  size_t nextKept = 0, nextReduced = 0;
  for (int64_t label : runs.labels) {
    const Access &part = label ? (*reduced)[nextReduced++] : (*kept)[nextKept++];
    append(from, part);
    if (label)
      append(along, part);
  }
  ValueNode *input = get(x, from);
  if (!input)
    return nullptr;
  ValueNode node(argReduce ? ValueNode::argReduce : ValueNode::reduce);
  node.op = op;
  node.inputs = {input};
  node.type = arithmeticType(resultElement);
  node.access = along;
  if (argReduce) {
    std::string order = combinerOf(argReduce.getKind(), elementTypeOf(x));
    node.combiner = order.starts_with("u") ? "uarg" + order.substr(1) : "arg" + order;
    return make(std::move(node));
  }
  node.combiner = combinerOf(cast<ReduceOp>(op).getKind(), elementTypeOf(x));
  if (numerics.roundsEachOp() && isNarrowFloat(resultElement) && (node.combiner == "max" || node.combiner == "min"))
    node.exact = input->exact == resultElement ? resultElement : Type();
  ValueNode *result = make(std::move(node));
  return numerics.roundsEachOp() && isNarrowFloat(resultElement) ? rounded(result, resultElement) : result;
}

ValueNode *ValueGraph::elementwise(Operation *op, ArrayRef<int> access) {
  ValueNode node(ValueNode::compute);
  node.op = op;
  Type element = elementTypeOf(op->getResult(0));
  bool allExact = true;
  for (Value operand : op->getOperands()) {
    ValueNode *input = get(operand, access);
    if (!input)
      return nullptr;
    node.inputs.push_back(input);
    allExact &= input->exact == element || elementTypeOf(operand).isInteger(1);
  }
  auto cast = dyn_cast<CastOp>(op);
  if (cast && arithmeticType(elementTypeOf(cast.getX())) == arithmeticType(element) && !cast.getSaturate() &&
      isa<FloatType>(element)) { // widening, or narrowing without rounding
    ValueNode *input = node.inputs[0];
    bool rounds = isNarrowFloat(element) && (numerics.roundsEachOp() || cast.getKind() == CastKind::rounding);
    return rounds ? rounded(input, element) : input;
  }
  node.type = arithmeticType(element);
  auto compute = llvm::cast<ComputeOpInterface>(op);
  node.cost = double(compute.getCost());
  // A cast from another arithmetic type rounds once, at the conversion (GenericBody::castToNarrow).
  bool converts = cast && arithmeticType(elementTypeOf(cast.getX())) != arithmeticType(element);
  if (isNarrowFloat(element) && (converts || (allExact && compute.keepsDtype() && !compute.isDecision())))
    node.exact = element;
  ValueNode *result = make(std::move(node));
  bool rounds = isNarrowFloat(element) && (numerics.roundsEachOp() || (cast && cast.getKind() == CastKind::rounding));
  return rounds ? rounded(result, element) : result;
}

ValueNode *ValueGraph::broadcasted(BroadcastOp op, ArrayRef<int> access) {
  Runs runs = runsOf(shapeOf(op.getY()), op.getAxes());
  auto parts = cut(op, access, runs.extents);
  if (!parts)
    return nullptr;
  Access kept;
  for (auto [label, part] : llvm::zip(runs.labels, *parts))
    if (label)
      append(kept, part);
  return get(op.getX(), kept);
}

ValueNode *ValueGraph::transposed(TransposeOp op, ArrayRef<int> access) {
  ArrayRef<int64_t> permutation = op.getPermutation();
  Runs runs; // of axes that stay adjacent, labelled by their first axis in x
  int64_t next = -1;
  for (auto [axis, extent] : llvm::enumerate(shapeOf(op.getY()))) {
    if (extent == 1)
      continue;
    runs.add(permutation[axis], extent, permutation[axis] == next);
    next = permutation[axis] + 1;
    while (next < int64_t(permutation.size()) && shapeOf(op.getX())[next] == 1)
      ++next;
  }
  if (runs.extents.empty()) // one element does not move
    return get(op.getX(), access);
  auto parts = cut(op, access, runs.extents);
  if (!parts)
    return nullptr;
  auto order = llvm::to_vector(llvm::seq<size_t>(0, parts->size()));
  llvm::sort(order, [&](size_t a, size_t b) { return runs.labels[a] < runs.labels[b]; });
  Access from;
  for (size_t part : order)
    append(from, (*parts)[part]);
  return get(op.getX(), from);
}

ValueNode *ValueGraph::index(IotaOp op, ArrayRef<int> access) {
  Runs runs = runsOf(shapeOf(op.getResult()), {int64_t(op.getAxis())});
  auto parts = cut(op, access, runs.extents);
  if (!parts)
    return nullptr;
  Type element = elementTypeOf(op.getResult());
  ValueNode node(ValueNode::index);
  node.op = op;
  for (auto [label, part] : llvm::zip(runs.labels, *parts))
    if (label)
      node.access = part;
  node.type = arithmeticType(element);
  node.cost = double(op.getCost());
  ValueNode *result = make(std::move(node));
  return isNarrowFloat(element) ? rounded(result, element) : result;
}

ValueNode *ValueGraph::contraction(ContractOp op, ArrayRef<int> access) {
  if (longDims(contractAccess) != longDims(access))
    return fail(op, "expected the contraction's result to have the axes of the product");
  ValueNode node(ValueNode::contract);
  node.op = op;
  node.access = contractAccess;
  node.type = op.getAccumulatorType();
  ValueNode *result = make(std::move(node));
  Type element = elementTypeOf(op.getResult());
  return numerics.roundsEachOp() && isNarrowFloat(element) ? rounded(result, element) : result;
}

ValueNode *ValueGraph::element(Value value, ArrayRef<int> access) {
  const Type element = elementTypeOf(value);
  ValueNode node(ValueNode::provided);
  node.value = value;
  node.access.assign(access.begin(), access.end());
  node.type = arithmeticType(element);
  node.cost = 1;
  Value whole = value;
  while (auto slice = whole.getDefiningOp<SliceOp>())
    whole = slice.getX();
  if (isNarrowFloat(element) && !whole.getDefiningOp<ContractOp>()) // the sums of a contraction are wide
    node.exact = element;
  return make(std::move(node));
}

ValueNode *ValueGraph::get(Value value, ArrayRef<int> access) {
  std::pair<void *, std::vector<int>> key{value.getAsOpaquePointer(), {access.begin(), access.end()}};
  if (auto it = known.find(key); it != known.end())
    return it->second;
  ValueNode *node = nullptr;
  Operation *op = value.getDefiningOp();
  if (llvm::is_contained(shapeOf(value), 0) &&
      !isa_and_nonnull<ContractOp, ElementwiseOpInterface, ReshapeOp>(op)) { // nobody reads its elements
    ValueNode zero(ValueNode::splat);
    zero.type = arithmeticType(elementTypeOf(value));
    node = make(std::move(zero));
  } else if (provided.contains(value)) {
    node = element(value, access);
  } else if (!op) {
    node = load(llvm::cast<BlockArgument>(value), access, -1);
  } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    node = get(reshape.getX(), access);
  } else if (auto stop = dyn_cast<StopGradientOp>(op)) {
    node = get(stop.getX(), access);
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    node = broadcasted(broadcast, access);
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    node = transposed(transpose, access);
  } else if (auto constantOp = dyn_cast<ConstantOp>(op)) {
    node = constant(constantOp, access);
  } else if (auto iota = dyn_cast<IotaOp>(op)) {
    node = index(iota, access);
  } else if (auto bits = dyn_cast<RandomBitsOp>(op)) {
    node = random(bits, access);
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    node = reduction(op, reduce.getX(), reduce.getAxes(), access);
  } else if (auto arg = dyn_cast<ArgReduceOp>(op)) {
    node = reduction(op, arg.getX(), {int64_t(arg.getAxis())}, access);
  } else if (auto contract = dyn_cast<ContractOp>(op)) {
    node = contraction(contract, access);
  } else if (isLookup(op)) {
    node = LookupReader(*this).read(op, access);
  } else if (isa<ElementwiseOpInterface>(op)) {
    node = elementwise(op, access);
  } else {
    return fail(op, "the op is not supported");
  }
  if (node)
    known[key] = node;
  return node;
}

} // namespace halftone::compiler
