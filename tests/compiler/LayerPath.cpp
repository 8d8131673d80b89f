// Layer paths in locations.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reports/LayerPath.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace halftone::compiler;

TEST_CASE("the innermost layer's path stays in a location") {
  MLIRContext context;
  Location line = FileLineColLoc::get(&context, "train.cpp", 12, 3);
  CHECK(layerPathOf(line).empty());
  CHECK(withLayerPath("", line) == line);

  Location inner = withLayerPath("net/dense", line);
  CHECK(layerPathOf(inner) == "net/dense");
  CHECK(withLayerPath("net", inner) == inner);
  CHECK(sourceLineOf(inner) == line);
  CHECK_FALSE(isGradientLocation(inner));

  Location back = gradientLocation(inner);
  CHECK(isGradientLocation(back));
  CHECK(gradientLocation(back) == back);
  CHECK(layerPathOf(back) == "net/dense");
  CHECK(sourceLineOf(back) == line);
}

TEST_CASE("paths are found through fused and call-site locations") {
  MLIRContext context;
  Location line = FileLineColLoc::get(&context, "a.cpp", 1, 1), unknown = UnknownLoc::get(&context);
  Location dense = withLayerPath("net/dense", line);
  CHECK(layerPathOf(FusedLoc::get(&context, {unknown, dense})) == "net/dense");
  CHECK(layerPathOf(CallSiteLoc::get(unknown, dense)) == "net/dense");
  CHECK(layerPathOf(unknown).empty());
  CHECK(sourceLineOf(unknown) == nullptr);
  CHECK_FALSE(isGradientLocation(FusedLoc::get(&context, {unknown, dense})));
}
