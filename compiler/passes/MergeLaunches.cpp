// merge-launches: makes launches of the same code adjacent, so that the plan plays them as one.
// SPDX-License-Identifier: Apache-2.0
//
//   launch @loop_a(%w0, %g0);  launch @row_b(%x);  launch @loop_c(%w1, %g1)
// becomes, when @loop_a and @loop_c differ in extents alone,
//   launch @loop_a(%w0, %g0);  launch @loop_c(%w1, %g1);  launch @row_b(%x)
#include "compiler/passes/LaunchOrder.h"
#include "compiler/passes/Passes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_MERGELAUNCHESPASS
#include "compiler/passes/Passes.h.inc"

namespace {

/// A kernel's text without the parts that become launch arguments. Kernels with the same code have the same text. If
/// kernels with different code share a text, their launches are made adjacent without benefit.
std::string textWithoutExtents(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream out(text);
  DenseMap<Value, size_t> indices;
  auto add = [&](Value value) {
    size_t index = indices.size();
    indices[value] = index;
    out << cast<RankedTensorType>(value.getType()).getElementType() << ' ';
  };
  out << stringifyKernelKind(kernel.getKind()) << '\n';
  Block &body = kernel.getBody().front();
  llvm::for_each(body.getArguments(), add);
  for (Operation &op : body) {
    out << '\n' << op.getName() << '(';
    for (Value operand : op.getOperands())
      out << indices.lookup(operand) << ' ';
    out << ") ";
    for (NamedAttribute attribute : op.getAttrs()) {
      if (isa<DenseI64ArrayAttr>(attribute.getValue())) // axes and tiles
        continue;
      auto elements = dyn_cast<DenseElementsAttr>(attribute.getValue());
      out << attribute.getName() << '=';
      if (elements && elements.isSplat())
        out << elements.getSplatValue<Attribute>();
      else
        out << attribute.getValue();
      out << ' ';
    }
    llvm::for_each(op.getResults(), add);
  }
  return text;
}

/// The values whose live range lies within a block.
class Lifetimes {
public:
  explicit Lifetimes(const LaunchOrder &order) : values(order.localValues()) {}

  /// The peak of live bytes in this order of the block's ops.
  int64_t maxBytes(ArrayRef<size_t> positions) const {
    std::vector<size_t> at(positions.size());
    for (auto [index, position] : llvm::enumerate(positions))
      at[position] = index;
    std::vector<int64_t> change(positions.size() + 1);
    for (const LocalValue &each : values) {
      size_t last = at[each.producer];
      for (size_t reader : each.readers)
        last = std::max(last, at[reader]);
      change[at[each.producer]] += each.bytes;
      change[last + 1] -= each.bytes;
    }
    int64_t live = 0, peak = 0;
    for (int64_t delta : change)
      peak = std::max(peak, live += delta);
    return peak;
  }

private:
  std::vector<LocalValue> values;
};

/// Gathers the launches of each group. Gathered launches keep their operands alive longer, so groups that would need
/// more than `most` bytes stay as they are. Groups are tried together and by bisection, so each group that stays costs
/// few passes over the block's order.
void gather(LaunchOrder &order, const Lifetimes &lifetimes, int64_t limit, ArrayRef<ArrayRef<size_t>> groups) {
  std::vector<size_t> leaders;
  size_t launches = 0;
  for (ArrayRef<size_t> group : groups) {
    llvm::append_range(leaders, order.gather(group));
    launches += group.size();
  }
  if (leaders.size() == launches || lifetimes.maxBytes(order.sorted()) <= limit)
    return;
  order.release(leaders);
  if (groups.size() == 1)
    return;
  gather(order, lifetimes, limit, groups.take_front(groups.size() / 2));
  gather(order, lifetimes, limit, groups.drop_front(groups.size() / 2));
}

class MergeLaunches : public impl::MergeLaunchesPassBase<MergeLaunches> {
  void runOnModule() override {
    SymbolTable symbols(getOperation());
    llvm::StringMap<std::string> texts; // by kernel
    bool done = forEachLaunchBlock(getOperation(), [&](Block &block, ArrayRef<Replacement> replacements) {
      LaunchOrder order(block);
      for (const Replacement &pair : replacements)
        order.readFirst(pair);
      llvm::MapVector<StringRef, SmallVector<size_t>> sameText;
      for (auto [index, op] : llvm::enumerate(order.ops))
        if (auto launch = dyn_cast<LaunchOp>(op)) {
          auto [text, isNew] = texts.try_emplace(launch.getKernel());
          if (isNew)
            text->second = textWithoutExtents(symbols.lookup<KernelOp>(launch.getKernel()));
          sameText[text->second].push_back(index);
        }
      SmallVector<ArrayRef<size_t>> groups;
      for (auto &[text, launches] : sameText)
        if (launches.size() > 1)
          groups.push_back(launches);
      constexpr int64_t fewBytes = 16384;
      const Lifetimes lifetimes(order);
      gather(order, lifetimes, lifetimes.maxBytes(order.sorted()) + fewBytes, groups);
      order.apply();
    });
    if (!done)
      signalPassFailure();
  }
};

} // namespace
} // namespace halftone::compiler
