// insert-casts: inserts a rounding cast for every dtype change that a policy requires.
// SPDX-License-Identifier: Apache-2.0
//
//   layer "net/dense" (%x : f32) -> f16 { ^(%a: f16): ... read @b : f16 ... yield %0 : f16 }
// becomes
//   cast %x {"layer input"}; layer "net/dense" (f16) -> f16 { ... cast (read @b : f32) {"variable read"} ...
//                                                             yield (cast %0 {"layer output"}) }
#include "compiler/passes/Passes.h"
#include "compiler/reports/LayerPath.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_INSERTCASTSPASS
#include "compiler/passes/Passes.h.inc"

namespace {

class InsertCasts : public impl::InsertCastsPassBase<InsertCasts> {
  void runOnModule() override;
};

Value roundingCast(OpBuilder &builder, StringRef path, Location loc, Value value, Type type, StringRef origin) {
  auto cast = CastOp::create(builder, withLayerPath(path, loc), type, value);
  cast.setOrigin(origin);
  return cast;
}

void castInputs(LayerOp layer) {
  OpBuilder builder(layer);
  for (auto [operand, argument] : llvm::zip_equal(layer.getInputsMutable(), layer.getBody().getArguments()))
    if (operand.get().getType() != argument.getType())
      operand.set(
          roundingCast(builder, layer.getPath(), layer.getLoc(), operand.get(), argument.getType(), "layer input"));
}

void castOutputs(LayerOp layer) {
  auto yield = cast<YieldOp>(layer.getBody().front().getTerminator());
  OpBuilder builder(yield);
  for (OpOperand &operand : yield->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (type && isa<FloatType>(type.getElementType()) && type.getElementTypeBitWidth() < 32)
      operand.set(roundingCast(builder, layer.getPath(), yield.getLoc(), operand.get(), type, "layer output"));
  }
}

void castRead(ReadOp read, SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(read, read.getVariableAttr());
  Type wanted = read.getValue().getType(), stored = variable.getType();
  if (wanted == stored)
    return;
  read.getValue().setType(cast<RankedTensorType>(stored));
  OpBuilder builder(read->getContext());
  builder.setInsertionPointAfter(read);
  auto layer = read->getParentOfType<LayerOp>();
  Value converted =
      roundingCast(builder, layer ? layer.getPath() : "", read.getLoc(), read.getValue(), wanted, "variable read");
  read.getValue().replaceAllUsesExcept(converted, converted.getDefiningOp());
}

// The verifiers check which dtypes may differ and that variables exist.
void InsertCasts::runOnModule() {
  SymbolTableCollection symbols;
  getOperation().walk([&](Operation *op) {
    if (auto layer = dyn_cast<LayerOp>(op)) {
      castInputs(layer);
      castOutputs(layer);
    } else if (auto read = dyn_cast<ReadOp>(op)) {
      castRead(read, symbols);
    }
  });
}

} // namespace
} // namespace halftone::compiler
