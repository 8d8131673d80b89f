// order-launches: orders readers of old values before writers, so that writes can be in place, and frees memory early.
// SPDX-License-Identifier: Apache-2.0
//
//   %1 = launch @loop_a(%w, %g);  %2 = launch @loop_b(%w);  return %2, %1   (%1 is the new value of %w)
// becomes
//   %2 = launch @loop_b(%w);  %1 = launch @loop_a(%w, %g);  return %2, %1
#include "compiler/passes/LaunchOrder.h"
#include "compiler/passes/Passes.h"

using namespace mlir;

namespace halftone::compiler {
#define GEN_PASS_DEF_ORDERLAUNCHESPASS
#include "compiler/passes/Passes.h.inc"

namespace {

/// A launch that frees at least this many bytes more than it allocates is ordered as early as possible. Fewer bytes
/// stay in a cache, and are worth less than merging the updates of many weights into one launch.
constexpr int64_t minFreed = 1024 * 1024;
/// A launch that allocates at most this many bytes may be ordered early if that lets another one free memory.
constexpr int64_t maxAllocatedEarly = 16 * 1024;

/// Makes launches urgent that free memory because they are the last readers of large values. The update of a weight,
/// for example, then runs once the backward pass has computed its gradient's operands, not after the whole backward
/// pass.
class FreesMemory : public DependencyOrder::Urgency {
public:
  explicit FreesMemory(const LaunchOrder &order)
      : values(order.localValues()), readersLeft(values.size()), launches(order.ops.size()) {
    for (auto [number, value] : llvm::enumerate(values)) {
      readersLeft[number] = value.readers.size();
      launches[value.producer].defines.push_back(number);
      launches[value.producer].bytesAllocated += value.bytes;
      for (size_t reader : value.readers)
        launches[reader].reads.push_back(number);
    }
  }

  SmallVector<size_t> after(size_t item) override {
    SmallVector<size_t> urgent;
    launches[item].isPlaced = true;
    for (size_t value : launches[item].defines)
      if (readersLeft[value] == 1)
        countForLastReader(value, urgent);
    for (size_t value : launches[item].reads)
      if (--readersLeft[value] == 1)
        countForLastReader(value, urgent);
    return urgent;
  }
  bool mayBePlacedEarly(size_t item) const override { return launches[item].bytesAllocated <= maxAllocatedEarly; }

private:
  struct Launch {
    SmallVector<size_t, 4> defines, reads; // indices into `values`
    int64_t bytesAllocated = 0, bytesFreed = 0;
    bool isPlaced = false;
  };

  /// Called when one reader of the value is left, which will free it.
  void countForLastReader(size_t value, SmallVectorImpl<size_t> &urgent) {
    const size_t reader = *llvm::find_if(values[value].readers, [&](size_t each) { return !launches[each].isPlaced; });
    Launch &last = launches[reader];
    last.bytesFreed += values[value].bytes;
    if (last.bytesFreed - last.bytesAllocated >= minFreed)
      urgent.push_back(reader);
  }

  std::vector<LocalValue> values;
  std::vector<size_t> readersLeft; // by value: the number of readers that are not placed yet
  std::vector<Launch> launches;
};

class OrderLaunches : public impl::OrderLaunchesPassBase<OrderLaunches> {
  void runOnModule() override {
    bool done = forEachLaunchBlock(getOperation(), [](Block &block, ArrayRef<Replacement> replacements) {
      LaunchOrder order(block);
      for (const Replacement &pair : replacements)
        order.readFirst(pair);
      FreesMemory urgency(order);
      order.apply(&urgency);
    });
    if (!done)
      signalPassFailure();
  }
};

} // namespace
} // namespace halftone::compiler
