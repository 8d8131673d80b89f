// Splits a long recomputed scan into a scan of scans that are recomputed one at a time.
// SPDX-License-Identifier: Apache-2.0
//
//   %l, %ys = scan (%h) over (%xs) {length = 100, halftone.rematerialize = 0} { ... }
// becomes
//   %a = slice %xs : 10 x 10; %l, %b = scan (%h) over (%a) {length = 10} {
//     ^(%i, %c, %x): %d, %y = scan (%c) over (%x) {length = 10, halftone.rematerialize = 1} { ... }; yield %d, %y }
//   %ys = reshape %b : 100
// If no divisor of the length is near its square root, the last steps form a shorter scan.
#include "compiler/passes/CheckpointLoops.h"
#include "dialect/ControlFlow.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

/// The divisor of `length` nearest to its square root, between half and twice the root; the rounded root if there is
/// none.
int64_t stepsPerSegment(int64_t length) {
  const auto root = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(length))));
  int64_t best = 0;
  for (int64_t each = (root + 1) / 2; each <= 2 * root; ++each)
    if (length % each == 0 && (best == 0 || std::abs(each - root) < std::abs(best - root)))
      best = each;
  return best ? best : root;
}

class LoopSegments {
public:
  LoopSegments(ScanOp scan, int64_t &nextNumber)
      : scan(scan), builder(scan), loc(scan.getLoc()), nextNumber(nextNumber),
        length(static_cast<int64_t>(scan.getLength())), steps(stepsPerSegment(length)), segments(length / steps),
        rest(length % steps) {}

  void replace() {
    const int64_t whole = segments * steps;
    SmallVector<Value> carries(scan.getInits()), restYs;
    const auto takeRest = [&] {
      if (rest == 0)
        return;
      ScanOp last =
          segment(carries, parts(whole, rest), rest, [&](OpBuilder &inside) { return integer(inside, whole); });
      carries = SmallVector<Value>(last.getLasts());
      restYs = SmallVector<Value>(last.getYs());
    };
    if (scan.getReverse())
      takeRest();
    ScanOp outer = loopOverSegments(carries);
    carries = SmallVector<Value>(outer.getLasts());
    if (!scan.getReverse())
      takeRest();
    SmallVector<Value> results(carries);
    for (auto [index, y] : llvm::enumerate(outer.getYs())) {
      Value stack = reshaped(y, {whole}, 2);
      if (rest > 0)
        stack = ConcatOp::create(builder, loc, scan.getYs()[index].getType(), ValueRange{stack, restYs[index]}, 0);
      results.push_back(stack);
    }
    scan->replaceAllUsesWith(results);
    scan.erase();
  }

private:
  static SmallVector<int64_t> withLead(Value value, ArrayRef<int64_t> lead, int64_t replaced) {
    SmallVector<int64_t> shape(lead);
    llvm::append_range(shape, shapeOf(value).drop_front(replaced));
    return shape;
  }

  Value integer(OpBuilder &inside, int64_t value) {
    const auto type = cast<RankedTensorType>(scan.getIndex().getType());
    return ConstantOp::create(inside, loc, type,
                              DenseElementsAttr::get(type, inside.getIntegerAttr(type.getElementType(), value)));
  }

  Value reshaped(Value value, ArrayRef<int64_t> lead, int64_t replaced) {
    return ReshapeOp::create(builder, loc, tensorTypeOf(value).clone(withLead(value, lead, replaced)), value);
  }

  /// The slices [first, first + count) of each of the xs.
  SmallVector<Value> parts(int64_t first, int64_t count) {
    SmallVector<Value> all;
    for (Value x : scan.getXs()) {
      SmallVector<int64_t> start(shapeOf(x).size(), 0);
      start[0] = first;
      all.push_back(
          count == length
              ? x
              : SliceOp::create(builder, loc, tensorTypeOf(x).clone(withLead(x, {count}, 1)), x, start).getResult());
    }
    return all;
  }

  /// A scan of `count` steps with its own number in `halftone.rematerialize`. `first` builds the index of its first
  /// step in its body.
  ScanOp segment(ValueRange inits, ValueRange xs, int64_t count, function_ref<Value(OpBuilder &)> first) {
    SmallVector<Type> types(scan.getLasts().getTypes());
    for (Value y : scan.getYs())
      types.push_back(tensorTypeOf(y).clone(withLead(y, {count}, 1)));
    auto created = ScanOp::create(builder, loc, types, inits, xs, count, scan.getReverse());
    IRMapping copies;
    scan.getBody().cloneInto(&created.getBody(), copies);
    created->setAttr(rematerializeAttr, builder.getI64IntegerAttr(nextNumber++));
    if (BlockArgument index = created.getIndex(); !index.use_empty()) {
      OpBuilder inside = OpBuilder::atBlockBegin(&created.getBody().front());
      const Value position = AddOp::create(inside, loc, index.getType(), index, first(inside));
      index.replaceAllUsesExcept(position, position.getDefiningOp());
    }
    return created;
  }

  ScanOp loopOverSegments(ValueRange inits) {
    SmallVector<Value> groups = parts(0, segments * steps);
    for (Value &group : groups)
      group = reshaped(group, {segments, steps}, 1);
    SmallVector<Type> types(scan.getLasts().getTypes());
    for (Value y : scan.getYs())
      types.push_back(tensorTypeOf(y).clone(withLead(y, {segments, steps}, 1)));
    auto outer = ScanOp::create(builder, loc, types, inits, groups, segments, scan.getReverse());
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> arguments{scan.getIndex().getType()};
    llvm::append_range(arguments, inits.getTypes());
    for (Value group : groups)
      arguments.push_back(tensorTypeOf(group).clone(shapeOf(group).drop_front()));
    builder.createBlock(&outer.getBody(), {}, arguments, SmallVector<Location>(arguments.size(), loc));
    ScanOp inner = segment(outer.getCarries(), outer.getSlices(), steps, [&](OpBuilder &inside) {
      return MulOp::create(inside, loc, arguments[0], outer.getIndex(), integer(inside, steps)).getResult();
    });
    YieldOp::create(builder, loc, inner.getResults());
    return outer;
  }

  ScanOp scan;
  OpBuilder builder;
  Location loc;
  int64_t &nextNumber;
  int64_t length, steps, segments, rest;
};

} // namespace

void checkpointLoops(ModuleOp module) {
  constexpr int64_t shortest = 64; // Guess: shorter scans save little memory, and inner scans cost launches.
  int64_t nextNumber = 0;
  SmallVector<ScanOp> loops;
  module.walk([&](Operation *op) {
    if (auto number = op->getAttrOfType<IntegerAttr>(rematerializeAttr)) {
      nextNumber = std::max(nextNumber, number.getInt() + 1);
      auto scan = dyn_cast<ScanOp>(op);
      const bool carries = scan && !scan.getInits().empty(); // without carries, all steps are computed at once
      if (carries && static_cast<int64_t>(scan.getLength()) >= shortest && !op->getParentOfType<ScanOp>() &&
          !op->getParentOfType<WhileOp>())
        loops.push_back(scan);
    }
  });
  for (ScanOp scan : loops)
    LoopSegments(scan, nextNumber).replace();
}

} // namespace halftone::compiler
