// Vector steps of a kernel: memory accesses, bodies, horizontal reductions.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/Lanes.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/MathFunctions.h"
#include "compiler/kernels/WindowInterior.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "runtime/plan/Abi.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

enum class Stride { none, one, many };

Stride strideOf(const TensorAccess &access, int dim) {
  if (!llvm::is_contained(access.dims, dim))
    return Stride::none;
  return access.dims.back() == dim ? Stride::one : Stride::many;
}

/// The access within memory: for one row, without the outer dims.
TensorAccess inMemory(BlockFrame &frame, const TensorStorage &storage, const TensorAccess &access) {
  if (!storage.isRow)
    return access;
  TensorAccess inner;
  for (auto [dim, fixed] : llvm::zip(access.dims, access.constants))
    if (dim >= frame.source.form.outer) {
      inner.dims.push_back(dim);
      inner.constants.push_back(fixed);
    }
  return inner;
}

Emitted loadAt(BlockFrame &frame, const TensorStorage &storage, Emitted elements, Type type, int64_t alignment = 0) {
  return frame.load(type, frame.address(storage.pointer, storage.element, elements), alignment);
}

/// The index along the lanes' dims at which a step begins; with groups, the linear index.
Emitted beginOf(BlockFrame &frame, int dim, const LaneGroups &groups) {
  return groups.size == 0 ? frame.index[size_t(dim)]
                          : frame.index[size_t(groups.dim)] * groups.size + frame.index[size_t(dim)];
}

/// Calls `visit` with the index of each lane and the frame's index at that lane. Lanes outside use the last index
/// inside.
void forEachLane(BlockFrame &frame, const Lanes &lanes, llvm::function_ref<void(int64_t)> visit) {
  const int64_t size = std::max<int64_t>(lanes.groups.size, 1);
  const auto stepped = size_t(lanes.groups.size > 0 ? lanes.groups.dim : lanes.dim), own = size_t(lanes.dim);
  const Emitted start = frame.index[stepped], first = frame.index[own];
  for (int64_t lane = 0; lane < lanes.count; ++lane) {
    if (lanes.groups.size > 0)
      frame.index[own] = frame.constant(lane % size);
    Emitted at = start + lane / size;
    if (lanes.limit)
      at = minimum(at, divideUnsigned(lanes.limit, lanes.limit.like(size)) - 1);
    frame.index[stepped] = at;
    visit(lane);
  }
  frame.index[own] = first;
  frame.index[stepped] = start;
}

/// Returns true if lanes along groups are contiguous in memory.
bool isAlongGroups(const TensorAccess &access, const Lanes &lanes) {
  return access.dims.size() >= 2 && access.dims.back() == lanes.dim &&
         access.dims[access.dims.size() - 2] == lanes.groups.dim;
}

/// The alignment of a step's vector in memory along its dim, for CodeBuilder: 0 if only elements are aligned.
int64_t alignmentOf(const TensorStorage &storage, const Lanes &lanes) {
  return lanes.isAligned ? std::min(lanes.count * elementBytes(storage.element), bufferAlignment) : 0;
}

} // namespace

Lanes maskedLanes(BlockFrame &frame, int64_t count, int dim, Emitted limit, const LaneGroups &groups) {
  const Emitted left = frame.splat(limit - beginOf(frame, dim, groups), count);
  return {count, dim, frame.steps(frame.getI64Type(), count) < left, limit, false, groups};
}

Emitted loadLanes(BlockFrame &frame, const TensorStorage &storage, const TensorAccess &outerAccess,
                  const Lanes &lanes) {
  if (!storage.pointer)
    return storage.value;
  const TensorAccess access = inMemory(frame, storage, outerAccess);
  Stride stride = strideOf(access, lanes.dim);
  if (lanes.groups.size > 0 && !isAlongGroups(access, lanes))
    stride = stride == Stride::none && !llvm::is_contained(access.dims, lanes.groups.dim) ? Stride::none : Stride::many;
  const Emitted offset = frame.offset(access);
  if (lanes.count == 0 || stride == Stride::none)
    return loadAt(frame, storage, offset, storage.element);
  const auto type = VectorType::get(lanes.count, storage.element);
  if (stride == Stride::one)
    return lanes.mask ? frame.loadMasked(type, frame.address(storage.pointer, storage.element, offset), lanes.mask)
                      : loadAt(frame, storage, offset, type, alignmentOf(storage, lanes));
  Value vector = frame.zero(type);
  forEachLane(frame, lanes, [&](int64_t lane) {
    const Emitted element = loadAt(frame, storage, frame.offset(access), storage.element);
    vector = vector::InsertOp::create(frame, element.value(), vector, lane);
  });
  return frame.wrap(vector);
}

Values loadInputs(BlockFrame &frame, linalg::GenericOp generic, const Lanes &lanes,
                  llvm::function_ref<Emitted(unsigned)> provided) {
  Values inputs;
  for (auto [position, operand] : llvm::enumerate(generic.getDpsInputOperands())) {
    Emitted value;
    if (generic.getMatchingBlockArgument(operand).use_empty()) {
      inputs.push_back(value);
      continue;
    }
    if (provided)
      value = provided(unsigned(position));
    if (!value)
      value = loadLanes(frame, frame.storage.lookup(operand->get()), frame.source.accessOf(generic, *operand), lanes);
    inputs.push_back(value);
  }
  return inputs;
}

void storeLanes(BlockFrame &frame, Emitted value, const TensorStorage &storage, const TensorAccess &outerAccess,
                const Lanes &lanes) {
  const TensorAccess access = inMemory(frame, storage, outerAccess);
  const Emitted pointer = frame.address(storage.pointer, storage.element, frame.offset(access));
  if (lanes.mask)
    frame.storeMasked(value, pointer, lanes.mask);
  else
    frame.store(value, pointer, isa<VectorType>(value.type()) ? alignmentOf(storage, lanes) : 0);
}

/// How the linear indices that a body computes change from lane to lane: constant, by one, by one or not at all, or in
/// any way.
enum class LanePattern { same, next, nextOrSame, any };

static LanePattern patternOf(BlockFrame &frame, linalg::GenericOp generic, Value value, const Lanes &lanes) {
  if (value.getParentBlock() != generic.getBody())
    return LanePattern::same;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    OpOperand &operand = generic->getOpOperand(argument.getArgNumber());
    bool varies = llvm::is_contained(frame.source.accessOf(generic, operand).dims, lanes.dim);
    return varies ? LanePattern::any : LanePattern::same;
  }
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return dimsOf(generic)[index.getDim()] == lanes.dim ? LanePattern::next : LanePattern::same;
  SmallVector<LanePattern> patterns =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return patternOf(frame, generic, operand, lanes); });
  if (llvm::all_of(patterns, [](LanePattern pattern) { return pattern == LanePattern::same; }))
    return LanePattern::same;
  if (isa<arith::IndexCastOp>(op))
    return patterns[0];
  if (!isa<arith::AddIOp, arith::MaxSIOp, arith::MinSIOp>(op))
    return LanePattern::any;
  if (patterns[0] == LanePattern::same)
    std::swap(patterns[0], patterns[1]);
  if (patterns[1] != LanePattern::same)
    return LanePattern::any;
  return patterns[0] == LanePattern::next && !isa<arith::AddIOp>(op) ? LanePattern::nextOrSame : patterns[0];
}

/// Loads the elements of a flat tensor at `indices`, which change in this pattern.
static Emitted lookUp(BlockFrame &frame, const TensorStorage &storage, Emitted indices, LanePattern pattern,
                      const Lanes &lanes) {
  if (!isa<VectorType>(indices.type()))
    return loadAt(frame, storage, indices, storage.element);
  const auto indexOf = [&](int64_t lane) {
    return frame.wrap(vector::ExtractOp::create(frame, indices.value(), lane));
  };
  const Emitted first = indexOf(0);
  const auto type = VectorType::get(lanes.count, storage.element);
  if (pattern == LanePattern::next)
    return lanes.mask ? frame.loadMasked(type, frame.address(storage.pointer, storage.element, first), lanes.mask)
                      : loadAt(frame, storage, first, type);
  const auto oneByOne = [&] {
    Value vector = frame.zero(type);
    for (int64_t lane = 0; lane < lanes.count; ++lane) {
      const Emitted element = loadAt(frame, storage, indexOf(lane), storage.element);
      vector = vector::InsertOp::create(frame, element.value(), vector, lane);
    }
    return frame.wrap(vector);
  };
  if (pattern == LanePattern::any)
    return oneByOne();
  // Most vectors lie within one run or outside of it.
  const Emitted distance = indexOf(lanes.count - 1) - first;
  const auto isOne = [&] { return Values{loadAt(frame, storage, first, type)}; };
  const auto isSame = [&] { return Values{frame.splat(loadAt(frame, storage, first, storage.element), lanes.count)}; };
  return frame.choose(equal(distance, distance.like(lanes.count - 1)), isOne, [&] {
    return frame.choose(equal(distance, distance.like(0)), isSame, [&] { return Values{oneByOne()}; });
  })[0];
}

/// The distance of a linear index, computed in a body from indices and launch arguments, between adjacent groups of
/// lanes, if it is constant and the index is uniform within a group.
static std::optional<int64_t> stepOfGroups(linalg::GenericOp generic, Value value, const Lanes &lanes) {
  Operation *op = value.getDefiningOp();
  if (value.getParentBlock() != generic.getBody() || isa_and_nonnull<arith::ConstantOp>(op))
    return 0;
  if (!op) // an element of a tensor
    return std::nullopt;
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    const int dim = dimsOf(generic)[index.getDim()];
    return dim == lanes.dim ? std::nullopt : std::optional<int64_t>(dim == lanes.groups.dim ? 1 : 0);
  }
  SmallVector<int64_t> steps;
  for (Value operand : op->getOperands()) {
    const std::optional<int64_t> step = stepOfGroups(generic, operand, lanes);
    if (!step)
      return std::nullopt;
    steps.push_back(*step);
  }
  if (llvm::all_of(steps, [](int64_t step) { return step == 0; }))
    return 0;
  if (isa<arith::IndexCastOp>(op))
    return steps[0];
  if (isa<arith::AddIOp>(op))
    return steps[0] + steps[1];
  if (isa<arith::MulIOp>(op))
    for (const unsigned factor : {0U, 1U})
      if (auto constant = op->getOperand(factor).getDefiningOp<arith::ConstantOp>())
        return steps[1 - factor] * cast<IntegerAttr>(constant.getValue()).getInt();
  return std::nullopt;
}

/// Broadcasts each group's element of the current channel to all lanes of the group. The flat tensor holds the channels
/// of all groups contiguously. `index` is the linear index in the body of `generic`. The code for each channel loads
/// the same vector; LLVM merges these loads.
static Emitted lookUpGroups(BlockFrame &frame, linalg::GenericOp generic, const TensorStorage &storage, Value index,
                            const Lanes &lanes) {
  const LaneGroups &groups = lanes.groups;
  if (lanes.count == groups.size) { // one group: one element for all lanes
    IRMapping known = frame.outside;
    const Emitted at = valueAtIndex(frame, generic, index, known);
    return frame.splat(loadAt(frame, storage, at, storage.element), lanes.count);
  }
  const int64_t count = lanes.count / groups.size * groups.channels;
  const auto type = VectorType::get(count, storage.element);
  if (groups.channelDim >= 0)
    frame.index[size_t(groups.channelDim)] = frame.constant(0);
  IRMapping known = frame.outside;
  const Emitted pointer = frame.address(storage.pointer, storage.element, valueAtIndex(frame, generic, index, known));
  if (groups.channelDim >= 0)
    frame.index[size_t(groups.channelDim)] = frame.constant(groups.channel);
  Emitted all;
  if (lanes.mask) {
    const Emitted end = divideUnsigned(lanes.limit, lanes.limit.like(groups.size));
    const Emitted left = (end - frame.index[size_t(groups.dim)]) * groups.channels;
    all = frame.loadMasked(type, pointer, frame.steps(left.type(), count) < frame.splat(left, count));
  } else {
    all = frame.load(type, pointer);
  }
  SmallVector<int64_t> picks;
  for (int64_t lane = 0; lane < lanes.count; ++lane)
    picks.push_back(lane / groups.size * groups.channels + groups.channel);
  return frame.wrap(vector::ShuffleOp::create(frame, all.value(), all.value(), picks));
}

Emitted lookUpLanes(BlockFrame &frame, linalg::GenericOp generic, tensor::ExtractOp op, Emitted indices,
                    const Lanes &lanes) {
  if (lanes.groups.size > 0 && isa<VectorType>(indices.type())) {
    const TensorStorage storage = frame.storage.lookup(op.getTensor());
    const std::optional<int64_t> step = stepOfGroups(generic, op.getIndices()[0], lanes);
    return step && (*step == lanes.groups.channels || lanes.count == lanes.groups.size)
               ? lookUpGroups(frame, generic, storage, op.getIndices()[0], lanes)
               : lookUp(frame, storage, indices, LanePattern::any, lanes);
  }
  const LanePattern pattern = patternOf(frame, generic, op.getIndices()[0], lanes);
  return lookUp(frame, frame.storage.lookup(op.getTensor()), indices, pattern, lanes);
}

Emitted selectInside(const Lanes &lanes, Emitted value, Emitted other) {
  return lanes.mask ? select(lanes.mask, value, other) : value;
}

bool hasLongFunction(linalg::GenericOp generic) { return llvm::any_of(*generic.getBody(), isLongFunction); }

bool isShort(linalg::GenericOp generic) {
  constexpr size_t limit = 8;
  return generic.getBody()->getOperations().size() <= limit && !hasLongFunction(generic);
}
Values emitBody(BlockFrame &frame, linalg::GenericOp generic, const Values &values, const Lanes &lanes) {
  SmallVector<int> dims = dimsOf(generic);
  const bool looksUp = !generic.getBody()->getOps<tensor::ExtractOp>().empty();
  BodyArguments arguments;
  arguments.lanes = lanes.count;
  arguments.values = values;
  arguments.index = [&](unsigned position) {
    const int dim = dims[position];
    const Emitted start = frame.asLong(frame.index[dim]);
    const LaneGroups &groups = lanes.groups;
    if (lanes.count == 0 || (dim != lanes.dim && (groups.size == 0 || dim != groups.dim)))
      return start;
    if (groups.size > 0) {
      SmallVector<Attribute> steps;
      for (int64_t lane = 0; lane < lanes.count; ++lane)
        steps.push_back(frame.getI64IntegerAttr(dim == lanes.dim ? lane % groups.size : lane / groups.size));
      const auto type = VectorType::get(lanes.count, frame.getI64Type());
      Emitted index =
          frame.splat(start, lanes.count) + frame.constant(cast<TypedAttr>(DenseElementsAttr::get(type, steps)));
      if (looksUp && lanes.limit && dim == groups.dim)
        index =
            minimum(index, frame.splat(divideUnsigned(lanes.limit, lanes.limit.like(groups.size)) - 1, lanes.count));
      return index;
    }
    Emitted index = frame.splat(start, lanes.count) + frame.steps(start.type(), lanes.count);
    if (looksUp && lanes.limit) // a lane outside looks up the element of the last lane inside
      index = minimum(index, frame.splat(lanes.limit - 1, lanes.count));
    return index;
  };
  arguments.lookup = [&](tensor::ExtractOp op, Emitted indices) {
    return lookUpLanes(frame, generic, op, indices, lanes);
  };
  return cloneBody(frame, generic, arguments, frame.outside);
}

void storeOutputs(BlockFrame &frame, linalg::GenericOp generic, const Lanes &lanes) {
  Values arguments = loadInputs(frame, generic, lanes);
  arguments.resize(arguments.size() + size_t(generic.getNumDpsInits()));
  for (auto [output, value] : llvm::enumerate(emitBody(frame, generic, arguments, lanes)))
    storeLanes(frame, value, frame.storage.lookup(generic.getResult(unsigned(output))),
               frame.source.accessOf(generic, *generic.getDpsInitOperand(int64_t(output))), lanes);
}

Values combineAll(BlockFrame &frame, ArrayRef<std::string> combiners, ArrayRef<Emitted> a, ArrayRef<Emitted> b) {
  Values result;
  for (size_t name = 0; name < combiners.size(); ++name) {
    const size_t next = result.size();
    if (combiners[name].empty())
      continue;
    if (isArgCombiner(combiners[name])) {
      auto [value, index] =
          buildArgCombine(frame, frame.getLoc(), combiners[name], {a[next], a[next + 1]}, {b[next], b[next + 1]});
      result.append({frame.wrap(value), frame.wrap(index)});
      ++name;
    } else {
      result.push_back(frame.wrap(buildCombine(frame, frame.getLoc(), combiners[name], a[next], b[next])));
    }
  }
  return result;
}

Values combineLanes(BlockFrame &frame, ArrayRef<std::string> combiners, ArrayRef<Emitted> vectors) {
  Values current(vectors);
  if (vectors.empty())
    return current;
  if (combiners.back() == "or" && cast<VectorType>(vectors.back().type()).getElementType().isInteger(1)) {
    // Flags are tested for all lanes at once.
    current = combineLanes(frame, combiners.drop_back(), vectors.drop_back());
    current.push_back(
        frame.wrap(vector::ReductionOp::create(frame, vector::CombiningKind::OR, vectors.back().value())));
    return current;
  }
  int64_t count = cast<VectorType>(vectors[0].type()).getDimSize(0);
  for (; count > 1; count /= 2) {
    Values low, high;
    for (const Emitted &vector : current) {
      const auto half = [&](int64_t first) {
        auto picks = llvm::to_vector(llvm::seq<int64_t>(first, first + count / 2));
        return frame.wrap(vector::ShuffleOp::create(frame, vector.value(), vector.value(), picks));
      };
      low.push_back(half(0));
      high.push_back(half(count / 2));
    }
    current = combineAll(frame, combiners, low, high);
  }
  for (Emitted &vector : current)
    vector = frame.wrap(vector::ExtractOp::create(frame, vector.value(), int64_t(0)));
  return current;
}

} // namespace halftone::compiler
