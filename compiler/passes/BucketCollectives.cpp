// bucket-collectives: merges many small collectives into few large ones.
// SPDX-License-Identifier: Apache-2.0
//
//   %a1 = all_reduce sum (%a);  %b = tanh %x;  %b1 = all_reduce sum (%b);  return %a1, %b1
// becomes
//   %b = tanh %x;  %r:2 = all_reduce sum (%a, %b) {order = 0};  return %r#0, %r#1
#include "compiler/passes/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include <limits>
#include <tuple>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_BUCKETCOLLECTIVESPASS
#include "compiler/passes/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral orderName = "order", offsetsName = "borders";

int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * std::max(1u, tensor.getElementTypeBitWidth() / 8);
}
/// Counts the elements of all processes, so that every process computes the same number.
int64_t bytesOf(CollectiveOpInterface op) {
  int64_t bytes = 0;
  for (auto [given, gotten] : llvm::zip_equal(op.getXs().getTypes(), op.getOutputs().getTypes()))
    bytes += std::max(bytesOf(given), bytesOf(gotten));
  return bytes;
}

/// The attributes that collectives must share to be merged: all but the order and the borders of single values.
DictionaryAttr sharedAttributes(CollectiveOpInterface op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase(orderName);
  attributes.erase(offsetsName);
  return attributes.getDictionary(op.getContext());
}

/// Merges the collectives of a block into buckets.
class Buckets {
public:
  Buckets(Block &block, int64_t maxBytes) : block(block), maxBytes(maxBytes) {}

  void run() {
    findLevels();
    using Key = std::pair<Level, std::pair<OperationName, DictionaryAttr>>;
    llvm::MapVector<Key, SmallVector<CollectiveOpInterface>> alike;
    for (CollectiveOpInterface op : byReadiness())
      alike[{levels.lookup(op), {op->getName(), sharedAttributes(op)}}].push_back(op);
    for (auto &[key, ops] : alike)
      join(ops);
    int64_t order = 0;
    for (CollectiveOpInterface op : joined)
      op.setOrder(order++);
    sortTopologically(&block);
  }

private:
  /// The number of all_gathers on the longest path to an op, and the number of other collectives after the last of
  /// these all_gathers. If two collectives have the same level, neither depends on the other. The updates after a
  /// reduce_scatter, and so the paths through them, differ between processes. Levels and order do not, since they do
  /// not use such paths:
  /// - An all_gather is ordered after all collectives before it in the program.
  /// - Any other collective after a reduce_scatter in the program is ordered after it.
  using Level = std::pair<int64_t, int64_t>;
  static constexpr int64_t afterOthers = std::numeric_limits<int64_t>::max();

  void findLevels() {
    Level scattered{0, 0}; // after the reduce_scatters so far
    int64_t gathers = 0;   // the largest number of all_gathers before a collective so far
    for (auto [position, op] : llvm::enumerate(block)) {
      positions[&op] = static_cast<int64_t>(position);
      Level level{0, 0};
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *producer = operand.getDefiningOp(); producer && producer->getBlock() == &block)
            level = std::max(level, levelAfter(producer));
      });
      if (isa<AllGatherOp>(op)) {
        level = {std::max(gathers, level.first), afterOthers};
      } else if (isa<CollectiveOpInterface>(op) && !isa<ReduceScatterOp>(op)) {
        level = std::max(level, scattered);
      }
      if (isa<CollectiveOpInterface>(op))
        gathers = std::max(gathers, level.first);
      levels[&op] = level;
      if (isa<ReduceScatterOp>(op))
        scattered = std::max(scattered, levelAfter(&op));
    }
  }
  Level levelAfter(Operation *op) const {
    const Level level = levels.lookup(op);
    if (isa<AllGatherOp>(op))
      return {level.first + 1, 0};
    return {level.first, level.second + isa<CollectiveOpInterface>(op)};
  }

  /// Sorts by level, and within a level by the position at which the last operand is computed. Collectives whose
  /// operands may depend on updates, which are those after a reduce_scatter, keep program order.
  SmallVector<CollectiveOpInterface> byReadiness() {
    std::vector<std::pair<std::tuple<Level, int64_t, int64_t>, CollectiveOpInterface>> ready;
    bool isScattered = false;
    for (auto op : block.getOps<CollectiveOpInterface>()) {
      int64_t last = -1;
      if (isa<ReduceScatterOp>(op) || !(isScattered || isa<AllGatherOp>(op)))
        for (Value operand : op.getXs())
          if (Operation *producer = operand.getDefiningOp(); producer && !producer->hasTrait<OpTrait::ConstantLike>())
            last = std::max(last, positions.lookup(producer));
      isScattered |= isa<ReduceScatterOp>(op);
      ready.push_back({{levels.lookup(op), last, positions.lookup(op)}, op});
    }
    llvm::sort(ready, llvm::less_first());
    return llvm::to_vector(llvm::make_second_range(ready));
  }

  void join(ArrayRef<CollectiveOpInterface> ops) {
    while (!ops.empty()) {
      int64_t bytes = 0;
      size_t count = 0;
      for (; count < ops.size() && bytes < maxBytes; ++count)
        bytes += bytesOf(ops[count]);
      joinAll(ops.take_front(count));
      ops = ops.drop_front(count);
    }
  }

  /// The op after which a bucket is inserted: the last one that computes an operand. A bucket of all_gathers follows
  /// the last of them.
  static Operation *lastBefore(ArrayRef<CollectiveOpInterface> ops) {
    Operation *last = nullptr;
    const auto add = [&](Operation *op) {
      if (op && (!last || last->isBeforeInBlock(op)))
        last = op;
    };
    for (CollectiveOpInterface op : ops)
      if (isa<AllGatherOp>(op))
        add(op);
      else
        for (Value operand : op.getXs())
          add(operand.getDefiningOp());
    return last;
  }

  void joinAll(ArrayRef<CollectiveOpInterface> ops) {
    if (ops.size() < 2) {
      llvm::append_range(joined, ops);
      return;
    }
    SmallVector<Value> operands;
    SmallVector<Type> types;
    SmallVector<Attribute> offsets;
    SmallVector<Location> locations;
    for (CollectiveOpInterface op : ops) {
      llvm::append_range(operands, op.getXs());
      llvm::append_range(types, op->getResultTypes());
      if (auto own = op->getAttrOfType<ArrayAttr>(offsetsName))
        llvm::append_range(offsets, own);
      locations.push_back(op.getLoc());
    }
    OpBuilder builder(block.getParentOp()->getContext());
    if (Operation *last = lastBefore(ops))
      builder.setInsertionPointAfter(last);
    else
      builder.setInsertionPointToStart(&block);
    NamedAttrList attributes(sharedAttributes(ops.front()));
    if (!offsets.empty())
      attributes.set(offsetsName, builder.getArrayAttr(offsets));
    OperationState state(FusedLoc::get(builder.getContext(), locations), CollectiveOpInterface(ops.front())->getName(),
                         operands, types, attributes.getAttrs());
    Operation *const bucket = builder.create(state);
    joined.push_back(cast<CollectiveOpInterface>(bucket));
    auto output = bucket->result_begin();
    for (CollectiveOpInterface op : ops) {
      for (Value old : op.getOutputs())
        old.replaceAllUsesWith(*output++);
      op.erase();
    }
  }

  Block &block;
  int64_t maxBytes;
  DenseMap<Operation *, Level> levels;
  DenseMap<Operation *, int64_t> positions; // in the block, before anything is merged
  SmallVector<CollectiveOpInterface> joined;
};

class BucketCollectives : public impl::BucketCollectivesPassBase<BucketCollectives> {
public:
  using BucketCollectivesPassBase::BucketCollectivesPassBase;

private:
  void runOnModule() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function.getBody().front().getOps<CollectiveOpInterface>().empty())
        Buckets(function.getBody().front(), bucketBytes).run();
  }
};

} // namespace
} // namespace halftone::compiler
