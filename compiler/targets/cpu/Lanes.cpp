// Vector steps of a kernel: memory, bodies, horizontal combination.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/Lanes.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/MathFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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

/// The access as it counts in memory: of a row, without its outer dims.
TensorAccess inMemory(KernelFrame &frame, const TensorHome &home, const TensorAccess &access) {
  if (!home.isRow)
    return access;
  TensorAccess inner;
  for (auto [dim, number] : llvm::zip(access.dims, access.constants))
    if (dim >= frame.source.form.outer) {
      inner.dims.push_back(dim);
      inner.constants.push_back(number);
    }
  return inner;
}

unsigned alignmentOf(Type element) { return std::max(1u, element.getIntOrFloatBitWidth() / 8); }

/// 0, 1, 2, ... as i64.
Value steps(KernelFrame &frame, int64_t count) {
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, count));
  auto type = VectorType::get(count, frame.builder.getI64Type());
  return frame.scalar(DenseElementsAttr::get(type, ArrayRef<int64_t>(numbers)));
}

} // namespace

Lanes maskedLanes(KernelFrame &frame, int64_t count, int dim, Value limit) {
  Value left = frame.splat(frame.sub(limit, frame.index[dim]), count);
  Value mask = arith::CmpIOp::create(frame.builder, frame.loc, arith::CmpIPredicate::slt, steps(frame, count), left);
  return {count, dim, mask, limit};
}

Value loadLanes(KernelFrame &frame, const TensorHome &home, const TensorAccess &outerAccess, const Lanes &lanes) {
  if (!home.pointer)
    return home.value;
  OpBuilder &builder = frame.builder;
  TensorAccess access = inMemory(frame, home, outerAccess);
  unsigned alignment = alignmentOf(home.element);
  Stride stride = strideOf(access, lanes.dim);
  auto loadAt = [&](Value elements, Type type) -> Value {
    return LLVM::LoadOp::create(builder, frame.loc, type, frame.address(home.pointer, home.element, elements),
                                alignment);
  };
  Value offset = frame.offset(access);
  if (lanes.count == 0 || stride == Stride::none)
    return loadAt(offset, home.element);
  auto type = VectorType::get(lanes.count, home.element);
  if (stride == Stride::one) {
    if (!lanes.mask)
      return loadAt(offset, type);
    Value zero = frame.scalar(DenseElementsAttr::get(type, builder.getZeroAttr(home.element)));
    return LLVM::MaskedLoadOp::create(builder, frame.loc, type, frame.address(home.pointer, home.element, offset),
                                      lanes.mask, zero, builder.getI32IntegerAttr(alignment));
  }
  Value vector = frame.scalar(DenseElementsAttr::get(type, builder.getZeroAttr(home.element)));
  Value start = frame.index[lanes.dim];
  for (int64_t lane = 0; lane < lanes.count; ++lane) {
    Value at = frame.add(start, frame.constant(lane));
    if (lanes.limit) // a lane outside reads the last element inside
      at = frame.min(at, frame.sub(lanes.limit, frame.constant(1)));
    frame.index[lanes.dim] = at;
    Value element = loadAt(frame.offset(access), home.element);
    vector = vector::InsertOp::create(builder, frame.loc, element, vector, lane);
  }
  frame.index[lanes.dim] = start;
  return vector;
}

void storeLanes(KernelFrame &frame, Value value, const TensorHome &home, const TensorAccess &outerAccess,
                const Lanes &lanes) {
  OpBuilder &builder = frame.builder;
  TensorAccess access = inMemory(frame, home, outerAccess);
  Value pointer = frame.address(home.pointer, home.element, frame.offset(access));
  unsigned alignment = alignmentOf(home.element);
  if (lanes.mask)
    LLVM::MaskedStoreOp::create(builder, frame.loc, value, pointer, lanes.mask, builder.getI32IntegerAttr(alignment));
  else
    LLVM::StoreOp::create(builder, frame.loc, value, pointer, alignment);
}

void streamLanes(KernelFrame &frame, Value value, const TensorHome &home, const TensorAccess &access) {
  Value pointer = frame.address(home.pointer, home.element, frame.offset(access));
  int64_t bytes = cast<VectorType>(value.getType()).getNumElements() * alignmentOf(home.element);
  LLVM::StoreOp::create(frame.builder, frame.loc, value, pointer, unsigned(std::min(bytes, bufferAlignment)),
                        /*isVolatile=*/false, /*isNonTemporal=*/true);
}

void storeFence(KernelFrame &frame) {
  LLVM::CallIntrinsicOp::create(frame.builder, frame.loc, frame.builder.getStringAttr("llvm.x86.sse.sfence"),
                                ValueRange());
}

/// How the places that a body computes go along the lanes: all the same, each the next one, each the next or the same,
/// or any.
enum class Pace { same, next, nextOrSame, any };

static Pace paceOf(KernelFrame &frame, linalg::GenericOp generic, Value value, const Lanes &lanes) {
  if (value.getParentBlock() != generic.getBody())
    return Pace::same;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    OpOperand &operand = generic->getOpOperand(argument.getArgNumber());
    bool varies = llvm::is_contained(frame.source.accessOf(generic, operand).dims, lanes.dim);
    return varies ? Pace::any : Pace::same;
  }
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return dimsOf(generic)[index.getDim()] == lanes.dim ? Pace::next : Pace::same;
  SmallVector<Pace> paces =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return paceOf(frame, generic, operand, lanes); });
  if (llvm::all_of(paces, [](Pace pace) { return pace == Pace::same; }))
    return Pace::same;
  if (isa<arith::IndexCastOp>(op))
    return paces[0];
  if (!isa<arith::AddIOp, arith::MaxSIOp, arith::MinSIOp>(op))
    return Pace::any;
  if (paces[0] == Pace::same)
    std::swap(paces[0], paces[1]);
  if (paces[1] != Pace::same)
    return Pace::any;
  return paces[0] == Pace::next && !isa<arith::AddIOp>(op) ? Pace::nextOrSame : paces[0];
}

/// The elements of a flat tensor at `places`, which keep the pace.
static Value loadPlaces(KernelFrame &frame, const TensorHome &home, Value places, Pace pace, const Lanes &lanes) {
  OpBuilder &builder = frame.builder;
  unsigned alignment = alignmentOf(home.element);
  auto loadAt = [&](Value place, Type type) -> Value {
    return LLVM::LoadOp::create(builder, frame.loc, type, frame.address(home.pointer, home.element, place), alignment);
  };
  if (!isa<VectorType>(places.getType()))
    return loadAt(places, home.element);
  auto placeOf = [&](int64_t lane) -> Value { return vector::ExtractOp::create(builder, frame.loc, places, lane); };
  Value first = placeOf(0);
  auto type = VectorType::get(lanes.count, home.element);
  Value zero = frame.scalar(DenseElementsAttr::get(type, builder.getZeroAttr(home.element)));
  if (pace == Pace::next)
    return lanes.mask
               ? LLVM::MaskedLoadOp::create(builder, frame.loc, type, frame.address(home.pointer, home.element, first),
                                            lanes.mask, zero, builder.getI32IntegerAttr(alignment))
                     .getResult()
               : loadAt(first, type);
  auto oneByOne = [&] {
    Value vector = zero;
    for (int64_t lane = 0; lane < lanes.count; ++lane)
      vector = vector::InsertOp::create(builder, frame.loc, loadAt(placeOf(lane), home.element), vector, lane);
    return vector;
  };
  if (pace == Pace::any)
    return oneByOne();
  // Most vectors lie within one run, or outside of it.
  Value distance = frame.sub(placeOf(lanes.count - 1), first);
  auto ifDistance = [&](int64_t expected, llvm::function_ref<Value()> then, llvm::function_ref<Value()> otherwise) {
    Value holds =
        arith::CmpIOp::create(builder, frame.loc, arith::CmpIPredicate::eq, distance, frame.constant(expected));
    auto choice = scf::IfOp::create(builder, frame.loc, TypeRange{type}, holds, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    for (auto [block, value] : {std::pair(choice.thenBlock(), then), std::pair(choice.elseBlock(), otherwise)}) {
      builder.setInsertionPointToStart(block);
      scf::YieldOp::create(builder, frame.loc, value());
    }
    return choice.getResult(0);
  };
  return ifDistance(
      lanes.count - 1, [&] { return loadAt(first, type); },
      [&] { return ifDistance(0, [&] { return frame.splat(loadAt(first, home.element), lanes.count); }, oneByOne); });
}

Value selectInside(KernelFrame &frame, const Lanes &lanes, Value value, Value other) {
  return lanes.mask ? arith::SelectOp::create(frame.builder, frame.loc, lanes.mask, value, other).getResult() : value;
}

KernelFrame::Values transposeLanes(KernelFrame &frame, KernelFrame::Values vectors) {
  // Interleaving rows i and i + n/2 for all i, log2 n times, exchanges the bits of row and lane.
  const auto n = static_cast<int64_t>(vectors.size());
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < n / 2; ++i) {
    low.append({i, n + i});
    high.append({n / 2 + i, n + n / 2 + i});
  }
  for (int64_t round = 1; round < n; round *= 2) {
    KernelFrame::Values next;
    for (int64_t i = 0; i < n / 2; ++i)
      for (ArrayRef<int64_t> half : {ArrayRef<int64_t>(low), ArrayRef<int64_t>(high)})
        next.push_back(
            vector::ShuffleOp::create(frame.builder, frame.loc, vectors[size_t(i)], vectors[size_t(i + n / 2)], half));
    vectors = next;
  }
  return vectors;
}

bool hasLongFunction(linalg::GenericOp generic) { return llvm::any_of(*generic.getBody(), isLongFunction); }

bool isShort(linalg::GenericOp generic) {
  constexpr size_t most = 8;
  return generic.getBody()->getOperations().size() <= most && !hasLongFunction(generic);
}

FailureOr<KernelFrame::Values> emitBody(KernelFrame &frame, linalg::GenericOp generic, ArrayRef<Value> values,
                                        const Lanes &lanes) {
  SmallVector<int> dims = dimsOf(generic);
  const bool looksUp = !generic.getBody()->getOps<tensor::ExtractOp>().empty();
  BodyArguments arguments;
  arguments.lanes = lanes.count;
  arguments.values.assign(values.begin(), values.end());
  arguments.index = [&](unsigned position) -> Value {
    int dim = dims[position];
    if (lanes.count == 0 || dim != lanes.dim)
      return frame.index[dim];
    Value index = frame.add(frame.splat(frame.index[dim], lanes.count), steps(frame, lanes.count));
    if (looksUp && lanes.limit) // a lane outside looks up the place of the last one inside
      index = frame.min(index, frame.splat(frame.sub(lanes.limit, frame.constant(1)), lanes.count));
    return index;
  };
  arguments.lookup = [&](tensor::ExtractOp op, Value places) {
    Pace pace = paceOf(frame, generic, op.getIndices()[0], lanes);
    return loadPlaces(frame, frame.homes.lookup(op.getTensor()), places, pace, lanes);
  };
  return cloneBody(frame.builder, generic, arguments, frame.outside);
}

KernelFrame::Values combineAll(KernelFrame &frame, ArrayRef<std::string> combiners, ArrayRef<Value> a,
                               ArrayRef<Value> b) {
  KernelFrame::Values result;
  for (size_t name = 0; name < combiners.size(); ++name) {
    size_t next = result.size();
    if (combiners[name].empty())
      continue;
    if (isArgCombiner(combiners[name])) {
      auto [value, index] =
          buildArgCombine(frame.builder, frame.loc, combiners[name], {a[next], a[next + 1]}, {b[next], b[next + 1]});
      result.append({value, index});
      ++name;
    } else {
      result.push_back(buildCombine(frame.builder, frame.loc, combiners[name], a[next], b[next]));
    }
  }
  return result;
}

KernelFrame::Values combineLanes(KernelFrame &frame, ArrayRef<std::string> combiners, ArrayRef<Value> vectors) {
  KernelFrame::Values current(vectors);
  if (vectors.empty())
    return current;
  if (combiners.back() == "or" && cast<VectorType>(vectors.back().getType()).getElementType().isInteger(1)) {
    // Flags: one test for all lanes.
    current = combineLanes(frame, combiners.drop_back(), vectors.drop_back());
    current.push_back(vector::ReductionOp::create(frame.builder, frame.loc, vector::CombiningKind::OR, vectors.back()));
    return current;
  }
  int64_t count = cast<VectorType>(vectors[0].getType()).getDimSize(0);
  for (; count > 1; count /= 2) {
    KernelFrame::Values low, high;
    for (Value vector : current) {
      auto half = [&](int64_t first) -> Value {
        auto picks = llvm::to_vector(llvm::seq<int64_t>(first, first + count / 2));
        return vector::ShuffleOp::create(frame.builder, frame.loc, vector, vector, picks);
      };
      low.push_back(half(0));
      high.push_back(half(count / 2));
    }
    current = combineAll(frame, combiners, low, high);
  }
  for (Value &vector : current)
    vector = vector::ExtractOp::create(frame.builder, frame.loc, vector, int64_t(0));
  return current;
}

} // namespace halftone::compiler
