// bucket-collectives: many small all_reduces become few large ones.
// SPDX-License-Identifier: Apache-2.0
//
//   %a1 = all_reduce sum (%a);  %b = tanh %x;  %b1 = all_reduce sum (%b);  return %a1, %b1
// becomes
//   %b = tanh %x;  %r:2 = all_reduce sum (%a, %b) {order = 0};  return %r#0, %r#1
#include "compiler/passes/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_BUCKETCOLLECTIVESPASS
#include "compiler/passes/Passes.h.inc"

namespace {

int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * std::max(1u, tensor.getElementTypeBitWidth() / 8);
}

/// The all_reduces of a block, joined into buckets.
class Buckets {
public:
  Buckets(Block &block, int64_t mostBytes) : block(block), mostBytes(mostBytes) {}

  void run() {
    findLevels();
    llvm::MapVector<std::pair<int64_t, dialect::CollectiveKind>, SmallVector<AllReduceOp>> alike;
    for (AllReduceOp op : byReadiness())
      alike[{levels.lookup(op), op.getKind()}].push_back(op);
    for (auto &[key, ops] : alike)
      join(ops);
    sortTopologically(&block);
    int64_t order = 0;
    for (auto op : block.getOps<AllReduceOp>())
      op.setOrder(order++);
  }

private:
  /// How many all_reduces stand on the longest way to each op. Of two with one level, none waits for the other.
  void findLevels() {
    for (Operation &op : block) {
      int64_t level = 0;
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *producer = operand.getDefiningOp(); producer && producer->getBlock() == &block)
            level = std::max(level, levels.lookup(producer) + isa<AllReduceOp>(producer));
      });
      levels[&op] = level;
    }
  }

  /// In the order in which the last operand of each is made.
  SmallVector<AllReduceOp> byReadiness() {
    SmallVector<std::pair<std::pair<int64_t, int64_t>, AllReduceOp>> ready; // by the operand's place, then the op's own
    DenseMap<Operation *, int64_t> places;
    for (auto [place, op] : llvm::enumerate(block)) {
      places[&op] = static_cast<int64_t>(place);
      auto reduce = dyn_cast<AllReduceOp>(op);
      if (!reduce)
        continue;
      int64_t last = -1;
      for (Value operand : reduce.getXs())
        if (Operation *producer = operand.getDefiningOp())
          last = std::max(last, places.lookup(producer));
      ready.push_back({{last, places.lookup(&op)}, reduce});
    }
    llvm::sort(ready, llvm::less_first());
    return llvm::to_vector(llvm::make_second_range(ready));
  }

  void join(ArrayRef<AllReduceOp> ops) {
    while (!ops.empty()) {
      int64_t bytes = 0;
      size_t count = 0;
      for (; count < ops.size() && bytes < mostBytes; ++count)
        for (Type type : AllReduceOp(ops[count]).getXs().getTypes())
          bytes += bytesOf(type);
      joinAll(ops.take_front(count));
      ops = ops.drop_front(count);
    }
  }

  void joinAll(ArrayRef<AllReduceOp> ops) {
    if (ops.size() < 2)
      return;
    SmallVector<Value> operands;
    SmallVector<Location> locations;
    Operation *last = nullptr; // that makes an operand
    for (AllReduceOp op : ops) {
      llvm::append_range(operands, op.getXs());
      locations.push_back(op.getLoc());
      for (Value operand : op.getXs())
        if (Operation *producer = operand.getDefiningOp(); producer && (!last || last->isBeforeInBlock(producer)))
          last = producer;
    }
    OpBuilder builder(block.getParentOp()->getContext());
    if (last)
      builder.setInsertionPointAfter(last);
    else
      builder.setInsertionPointToStart(&block);
    auto bucket = AllReduceOp::create(builder, FusedLoc::get(builder.getContext(), locations),
                                      AllReduceOp(ops.front()).getKind(), operands, IntegerAttr());
    auto output = bucket.getOutputs().begin();
    for (AllReduceOp op : ops) {
      for (Value old : op.getOutputs())
        old.replaceAllUsesWith(*output++);
      op.erase();
    }
  }

  Block &block;
  int64_t mostBytes;
  DenseMap<Operation *, int64_t> levels;
};

class BucketCollectives : public impl::BucketCollectivesPassBase<BucketCollectives> {
public:
  using BucketCollectivesPassBase::BucketCollectivesPassBase;

private:
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function.getBody().front().getOps<AllReduceOp>().empty())
        Buckets(function.getBody().front(), bucketBytes).run();
  }
};

} // namespace
} // namespace halftone::compiler
