// The gradient of a cast is a rounding cast back.
// SPDX-License-Identifier: Apache-2.0
#include "../Modules.h"

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

TEST_CASE("the gradient of a cast rounds to the operand's dtype and names the cast in its origin") {
  auto module = parse(R"(func.func @main(%x: tensor<4xf32>, %h: tensor<4xf16>) -> tensor<4xf32> {
    %0 = halftone.cast %x {origin = "layer input"} : tensor<4xf32> to tensor<4xf16>
    %1 = halftone.cast %h {origin = "layer output"} : tensor<4xf16> to tensor<4xf16>
    %2 = halftone.cast %x : tensor<4xf32> to tensor<4xf32>
    return %x : tensor<4xf32>
  })");
  llvm::SmallVector<CastOp> casts;
  module->walk([&](CastOp op) { casts.push_back(op); });
  const char *origins[] = {"gradient of layer input", "gradient of layer output", "gradient"};
  for (size_t i = 0; i < casts.size(); ++i) {
    mlir::OpBuilder builder(casts[i]->getBlock()->getTerminator());
    llvm::SmallVector<mlir::Value> gradients;
    REQUIRE(mlir::succeeded(casts[i].buildGradient(builder, casts[i]->getResults(), gradients)));
    REQUIRE(gradients.size() == 1);
    auto back = gradients[0].getDefiningOp<CastOp>();
    REQUIRE(back);
    CHECK(back.getType() == casts[i].getX().getType());
    CHECK(back.getKind() == CastKind::rounding);
    CHECK(back.getOrigin() == origins[i]);
  }
}
