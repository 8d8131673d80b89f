// Replaces carries that add up contractions and reductions by one op after the scan.
// SPDX-License-Identifier: Apache-2.0
//
//   %dw, %ys = scan (%zero) over (%xs) { ^bb0(%i, %acc, %x):
//     %0 = ... : tensor<8x4xf32>;  %1 = contract %x, %0 {lhs_contract = [0], rhs_contract = [0]};  %2 = add %acc, %1
//     yield %2, ...
//   }
// becomes
//   %last, %s, %ys = scan (%zero) over (%xs) { ... yield %2, %0, ... }    the carry has no reader
//   %sum = contract %xs, %s {lhs_contract = [0, 1], rhs_contract = [0, 1]};  %dw = add %zero, %sum
#include "compiler/passes/LoopSums.h"
#include "compiler/passes/LoopParts.h"
#include "dialect/TypeInference.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

bool isZero(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseFPElementsAttr();
  return elements && elements.isSplat() && elements.getSplatValue<APFloat>().isZero();
}

/// Returns the value whose first axis, the samples, is axis `fromBack` from the back of `operand`: the channel axis of
/// a convolution that is the gradient of another one with respect to its kernel. Returns null if there is none.
Value samplesOf(Value operand, int64_t fromBack) {
  auto transpose = operand.getDefiningOp<TransposeOp>();
  return transpose && *(transpose.getPermutation().end() - fromBack) == 0 ? transpose.getX() : Value();
}

/// The carries of a scan that are sums.
class ScanSums {
public:
  explicit ScanSums(ScanOp scan) : scan(scan), parts(scan), builder(scan) {}
  void run();

private:
  struct Sum {
    LoopParts::Carry *carry;
    SmallVector<Value> terms;
  };

  bool isInvariant(Value value) const { return !scan->isAncestor(value.getParentRegion()->getParentOp()); }
  bool mayStack(Value value, SmallVectorImpl<Value> &stacked);
  bool maySum(Value term, SmallVectorImpl<Value> &stacked);
  bool fits(ArrayRef<Value> values);
  void stack(ArrayRef<Value> values);
  Value sum(Value term, Type element);
  Value sumOfSamples(ConvolutionOp op, Type element);
  Value sumOfProducts(ContractOp op, Type element);

  ScanOp scan;
  LoopParts parts;
  OpBuilder builder;
  llvm::DenseMap<Value, Value> stacks;          // stacks of slices, and existing stacks of the scan
  llvm::MapVector<Value, LoopParts::Y *> added; // new stacks
};

bool ScanSums::mayStack(Value value, SmallVectorImpl<Value> &stacked) {
  if (isInvariant(value) || value == scan.getIndex() || isOfInnerLoop(value, scan))
    return false;
  stacked.push_back(value);
  return true;
}

/// Returns true if `sum` can add the term up; appends the values that it reads to `stacked`.
bool ScanSums::maySum(Value term, SmallVectorImpl<Value> &stacked) {
  Operation *op = term.getDefiningOp();
  if (isInvariant(term))
    return isZero(term);
  if (stacks.contains(term))
    return true;
  if (!op || !term.hasOneUse() || !isa<FloatType>(elementTypeOf(term)))
    return false;
  if (auto contract = dyn_cast<ContractOp>(op))
    return mayStack(contract.getLhs(), stacked) && mayStack(contract.getRhs(), stacked);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() == ReduceKind::sum && mayStack(reduce.getX(), stacked);
  if (auto convolution = dyn_cast<ConvolutionOp>(op)) {
    const auto mayJoin = [&](Value samples) { return samples && mayStack(samples, stacked); };
    return mayJoin(samplesOf(convolution.getX(), 1)) && mayJoin(samplesOf(convolution.getW(), 2));
  }
  if (auto scatter = dyn_cast<ScatterAddOp>(op))
    return scatter.getAxis() == 0 && mayStack(scatter.getIndices(), stacked) && mayStack(scatter.getUpdates(), stacked);
  if (auto cast = dyn_cast<CastOp>(op)) {
    auto from = dyn_cast<FloatType>(elementTypeOf(cast.getX()));
    return from && from.getWidth() < elementTypeOf(term).getIntOrFloatBitWidth() && maySum(cast.getX(), stacked);
  }
  return isa<AddOp, ReshapeOp, TransposeOp, SliceOp, ConcatOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return maySum(operand, stacked); });
}

/// Returns true if the scan may produce stacks of these values too.
bool ScanSums::fits(ArrayRef<Value> values) {
  const auto bytes = [](Value value) {
    return tensorTypeOf(value).getNumElements() * ((tensorTypeOf(value).getElementTypeBitWidth() + 7) / 8);
  };
  int64_t before = 0, more = 0;
  for (auto [value, each] : stacks)
    before += bytes(value);
  for (auto [value, y] : added)
    more += bytes(value);
  for (Value value : llvm::SmallDenseSet<Value>(values.begin(), values.end()))
    more += stacks.contains(value) || added.contains(value) ? 0 : bytes(value);
  return more <= 2 * before;
}

void ScanSums::stack(ArrayRef<Value> values) {
  for (Value value : values)
    if (!stacks.contains(value) && !added.contains(value))
      added.insert({value, &parts.addY(value)});
}

/// The contraction of the stacks, also over the steps.
Value ScanSums::sumOfProducts(ContractOp op, Type element) {
  return ContractOp::create(builder, op.getLoc(), RankedTensorType::get(op.getType().getShape(), element),
                            stacks.at(op.getLhs()), stacks.at(op.getRhs()), stackAxes(op.getLhsBatch()),
                            stackAxes(op.getRhsBatch()), afterSteps(op.getLhsContract()),
                            afterSteps(op.getRhsContract()), /*tile=*/DenseI64ArrayAttr());
}

/// The convolution whose channels are the samples of all steps.
Value ScanSums::sumOfSamples(ConvolutionOp op, Type element) {
  const auto joined = [&](Value operand, int64_t fromBack) {
    auto transpose = operand.getDefiningOp<TransposeOp>();
    const Value samples = joinSteps(builder, op.getLoc(), stacks.at(samplesOf(operand, fromBack)));
    SmallVector<int64_t> shape(shapeOf(operand));
    *(shape.end() - fromBack) = shapeOf(samples).front();
    return TransposeOp::create(builder, op.getLoc(), tensorTypeOf(operand).clone(shape), samples,
                               transpose.getPermutation());
  };
  return ConvolutionOp::create(builder, op.getLoc(), tensorTypeOf(op.getY()).clone(element), joined(op.getX(), 1),
                               joined(op.getW(), 2), op.getSteps());
}

/// The sum of a term over the steps.
Value ScanSums::sum(Value term, Type element) {
  Operation *op = term.getDefiningOp();
  const auto type = RankedTensorType::get(shapeOf(term), element);
  const Location loc = term.getLoc();
  if (isInvariant(term))
    return ConstantOp::create(builder, loc, type,
                              DenseElementsAttr::get(type, Attribute(builder.getFloatAttr(element, 0))));
  if (Value stack = stacks.lookup(term))
    return ReduceOp::create(builder, loc, type, ReduceKind::sum, stack, SmallVector<int64_t>{0});
  if (auto contract = dyn_cast<ContractOp>(op))
    return sumOfProducts(contract, element);
  if (auto convolution = dyn_cast<ConvolutionOp>(op))
    return sumOfSamples(convolution, element);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return ReduceOp::create(builder, loc, type, ReduceKind::sum, stacks.at(reduce.getX()),
                            afterSteps(reduce.getAxes()));
  if (auto scatter = dyn_cast<ScatterAddOp>(op))
    return ScatterAddOp::create(builder, loc, type, stacks.at(scatter.getIndices()), stacks.at(scatter.getUpdates()),
                                0);
  if (auto cast = dyn_cast<CastOp>(op)) {
    const Type narrow = arithmeticType(elementTypeOf(cast.getX()));
    const Value whole = sum(cast.getX(), narrow);
    return narrow == element ? whole : CastOp::create(builder, loc, type, whole, cast.getKind(), cast.getOrigin());
  }
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, sum(operand, element));
  Operation *copy = builder.clone(*op, mapping);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

void ScanSums::run() {
  for (const LoopParts::Slice &slice : parts.slices)
    stacks[slice.argument] = slice.stack;
  for (const LoopParts::Y &y : parts.ys)
    stacks[parts.slice(y)] = y.stack;
  SmallVector<Sum> sums;
  for (auto [number, carry] : llvm::enumerate(parts.carries)) {
    SmallVector<Value> terms = addedTerms(scan, number), stacked;
    if (terms.empty() || carry.last.use_empty() ||
        !llvm::all_of(terms, [&](Value term) { return maySum(term, stacked); }) || !fits(stacked))
      continue;
    stack(stacked);
    sums.push_back({&carry, std::move(terms)});
  }
  if (sums.empty())
    return;
  IRRewriter rewriter(scan.getContext());
  scan = cast<ScanOp>(parts.rebuild(rewriter));
  builder.setInsertionPointAfter(scan);
  for (const LoopParts::Y &y : parts.ys)
    stacks[parts.slice(y)] = y.stack;
  for (Sum &found : sums) {
    Value whole = found.carry->init;
    for (Value term : found.terms)
      whole = AddOp::create(builder, scan.getLoc(), whole, sum(term, elementTypeOf(whole)));
    found.carry->last.replaceAllUsesWith(whole);
  }
}

} // namespace

void sumOverSteps(ModuleOp module) {
  SmallVector<ScanOp> scans; // inner scans first
  module.walk([&](ScanOp scan) { scans.push_back(scan); });
  for (ScanOp scan : scans)
    ScanSums(scan).run();
}

} // namespace halftone::compiler
