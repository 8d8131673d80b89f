// order-launches: the final order, with readers of old values before the writers that may take their place.
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

class OrderLaunches : public impl::OrderLaunchesPassBase<OrderLaunches> {
  void runOnOperation() override {
    bool done = forEachLaunchBlock(getOperation(), [](Block &block, ArrayRef<Replacement> replacements) {
      LaunchOrder order(block);
      for (const Replacement &pair : replacements)
        order.readFirst(pair);
      order.apply();
    });
    if (!done)
      signalPassFailure();
  }
};

} // namespace
} // namespace halftone::compiler
