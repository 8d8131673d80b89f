// round-decisions: if a decision depends on a narrow float, rounds the float where it is computed.
// SPDX-License-Identifier: Apache-2.0
//
//   %g = contract %x, %d : ... -> tensor<8x4xf16>
//   %f = is_finite %g
//   return %f, %g
// becomes
//   %0 = contract %x, %d : ... -> tensor<8x4xf16>
//   %g = cast %0 {origin = "decision"} : tensor<8x4xf16> to tensor<8x4xf16>
//   %f = is_finite %g
//   return %f, %g
#include "compiler/passes/ModuleAttributes.h"
#include "compiler/passes/Passes.h"
#include "dialect/Decisions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_ROUNDDECISIONSPASS
#include "compiler/passes/Passes.h.inc"

namespace {

class RoundDecisions : public impl::RoundDecisionsPassBase<RoundDecisions> {
  void runOnModule() override {
    const StatusOr<Numerics> numerics = numericsOf(getOperation());
    if (!numerics) {
      getOperation().emitError() << numerics.status().message();
      return signalPassFailure();
    }
    if (numerics->roundsEachOp())
      return;
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal()) {
      getOperation().emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    for (Value value : valuesToRound(main)) {
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfterValue(value);
      auto rounded = CastOp::create(builder, value.getLoc(), value.getType(), value, CastKind::rounding, "decision");
      value.replaceAllUsesExcept(rounded.getY(), rounded);
    }
  }
};

} // namespace
} // namespace halftone::compiler
