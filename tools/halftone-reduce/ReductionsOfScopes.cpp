// Inlines layers, and one region of conditions.
// SPDX-License-Identifier: Apache-2.0
#include "ReductionsOfScopes.h"
#include "dialect/Dialect.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::tools {
namespace {

template <class Op> SmallVector<Part> allOf(ModuleOp module) {
  SmallVector<Part> parts;
  module.walk([&](Op op) { parts.push_back({op}); }); // inner ops first
  return parts;
}

/// Inlines a region at the op that owns it, with these values for the region's arguments.
void inlineRegion(Operation *op, Region &region, ValueRange values, RewriterBase &rewriter) {
  Operation *yield = region.front().getTerminator();
  rewriter.inlineBlockBefore(&region.front(), op, values);
  rewriter.replaceOp(op, yield->getOperands());
  rewriter.eraseOp(yield);
}

void takeRegion(ArrayRef<Part> parts, unsigned index) {
  for (const Part &part : parts) {
    IRRewriter rewriter(part.op);
    inlineRegion(part.op, part.op->getRegion(index), {}, rewriter);
  }
}

} // namespace

SmallVector<Part> layers(ModuleOp module) { return allOf<LayerOp>(module); }

void inlineLayers(ArrayRef<Part> parts) {
  for (const Part &part : parts) {
    auto layer = cast<LayerOp>(part.op);
    IRRewriter rewriter(layer);
    SmallVector<Value> inputs;
    for (auto [input, argument] : llvm::zip_equal(layer.getInputs(), layer.getBody().getArguments())) {
      inputs.push_back(input);
      if (input.getType() != argument.getType()) // insert-casts would add a cast here
        inputs.back() = CastOp::create(rewriter, layer.getLoc(), TypeRange{argument.getType()}, ValueRange{input});
    }
    inlineRegion(layer, layer.getBody(), inputs, rewriter);
  }
}

SmallVector<Part> conditions(ModuleOp module) { return allOf<WhenOp>(module); }
void takeFirst(ArrayRef<Part> parts) { takeRegion(parts, 0); }
void takeSecond(ArrayRef<Part> parts) { takeRegion(parts, 1); }

} // namespace halftone::tools
