// order-launches: the final order, with readers of old values before writers that may take their place.
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

/// A launch that frees so many bytes more than it makes comes as soon as it can. Fewer bytes stay in a cache, and
/// are worth less than one launch for the updates of many weights.
constexpr int64_t leastFreed = 1024 * 1024;
/// A launch that makes no more comes early if that lets another free memory.
constexpr int64_t mostMadeEarly = 16 * 1024;

/// Which launches free memory: those that are the last to read large values. So the update of a weight runs once the
/// backward pass has made its gradient's operands, and not behind the whole backward pass.
class FreesMemory : public DependencyOrder::Urgency {
public:
  explicit FreesMemory(const LaunchOrder &order)
      : values(order.localValues()), readersLeft(values.size()), launches(order.ops.size()) {
    for (auto [number, value] : llvm::enumerate(values)) {
      readersLeft[number] = value.readers.size();
      launches[value.maker].makes.push_back(number);
      launches[value.maker].bytesMade += value.bytes;
      for (size_t reader : value.readers)
        launches[reader].reads.push_back(number);
    }
  }

  SmallVector<size_t> after(size_t item) override {
    SmallVector<size_t> urgent;
    launches[item].hasCome = true;
    for (size_t value : launches[item].makes)
      if (readersLeft[value] == 1)
        countForLastReader(value, urgent);
    for (size_t value : launches[item].reads)
      if (--readersLeft[value] == 1)
        countForLastReader(value, urgent);
    return urgent;
  }
  bool mayComeEarly(size_t item) const override { return launches[item].bytesMade <= mostMadeEarly; }

private:
  struct Launch {
    SmallVector<size_t, 4> makes, reads; // numbers of `values`
    int64_t bytesMade = 0, bytesFreed = 0;
    bool hasCome = false;
  };

  /// One reader of the value is left, and will free it.
  void countForLastReader(size_t value, SmallVectorImpl<size_t> &urgent) {
    const size_t reader = *llvm::find_if(values[value].readers, [&](size_t each) { return !launches[each].hasCome; });
    Launch &last = launches[reader];
    last.bytesFreed += values[value].bytes;
    if (last.bytesFreed - last.bytesMade >= leastFreed)
      urgent.push_back(reader);
  }

  std::vector<LocalValue> values;
  std::vector<size_t> readersLeft; // by value: those that have not come
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
