// place-collectives: overlaps independent launches with collectives in flight.
// SPDX-License-Identifier: Apache-2.0
//
//   %g = launch @a(%x);  %s = all_reduce sum (%g) {order = 0};  %w1 = launch @update(%w, %s);  %h = launch @b(%x)
// becomes
//   %g = launch @a(%x);  %s = all_reduce sum (%g) {order = 0};  %h = launch @b(%x);  %w1 = launch @update(%w, %s)
#include "compiler/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_PLACECOLLECTIVESPASS
#include "compiler/passes/Passes.h.inc"

namespace {

/// Reorders the ops of a block.
class Placement {
public:
  explicit Placement(Block &block) : block(block) {}

  LogicalResult run() {
    SmallVector<CollectiveOpInterface> collectives(block.getOps<CollectiveOpInterface>());
    for (CollectiveOpInterface op : collectives)
      if (!op.getOrder())
        return op->emitOpError("has no order; expected bucket-collectives to run first");
    llvm::sort(collectives,
               [](CollectiveOpInterface a, CollectiveOpInterface b) { return *a.getOrder() < *b.getOrder(); });
    std::vector<SmallVector<Operation *>> others = byLastCollective(collectives.size(), collectives);
    size_t next = 0;
    auto placeReady = [&] {
      for (; next < collectives.size() && isReady(collectives[next]); ++next)
        place(collectives[next]);
    };
    placeReady();
    for (const SmallVector<Operation *> &ops : others)
      for (Operation *op : ops) {
        place(op);
        placeReady();
      }
    if (next < collectives.size())
      return collectives[next]->emitOpError("depends on a collective of a higher order");
    for (Operation *op : placed)
      op->moveBefore(block.getTerminator());
    return success();
  }

private:
  /// The ops other than collectives, by the last collective on which each depends; ops that depend on none come first.
  std::vector<SmallVector<Operation *>> byLastCollective(size_t count, ArrayRef<CollectiveOpInterface> collectives) {
    DenseMap<Operation *, size_t> levels; // 1 + the position of that collective
    for (auto [position, op] : llvm::enumerate(collectives))
      levels[op] = position + 1;
    std::vector<SmallVector<Operation *>> others(count + 1);
    for (Operation &op : block.without_terminator()) {
      if (isa<CollectiveOpInterface>(op))
        continue;
      size_t level = 0;
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *producer = operand.getDefiningOp(); producer && producer->getBlock() == &block)
            level = std::max(level, levels.lookup(producer));
      });
      levels[&op] = level;
      others[level].push_back(&op);
    }
    return others;
  }

  bool isReady(CollectiveOpInterface op) const {
    return llvm::all_of(op.getXs(), [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return !producer || isPlaced.contains(producer);
    });
  }
  void place(Operation *op) {
    placed.push_back(op);
    isPlaced.insert(op);
  }

  Block &block;
  SmallVector<Operation *> placed;
  DenseSet<Operation *> isPlaced;
};

class PlaceCollectives : public impl::PlaceCollectivesPassBase<PlaceCollectives> {
  void runOnModule() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal() || main.getBody().front().getOps<CollectiveOpInterface>().empty())
      return;
    if (failed(Placement(main.getBody().front()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace halftone::compiler
