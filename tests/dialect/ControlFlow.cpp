// Captures of branches and loops, and the values from which their results and arguments are computed.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ControlFlow.h"
#include "Modules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

namespace {

const char *nested = R"(
  func.func @main(%a: tensor<f32>, %b: tensor<f32>, %p: tensor<i1>, %xs: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>) {
    %0:2 = halftone.scan (%a) over (%xs) {length = 3 : i64} : (tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
    ^bb0(%i: tensor<i32>, %c: tensor<f32>, %x: tensor<f32>):
      %1 = halftone.when %p : (tensor<f32>) {
        %2 = halftone.add %b, %x : tensor<f32>
        halftone.yield %2 : tensor<f32>
      } else {
        halftone.yield %a : tensor<f32>
      }
      %3 = halftone.mul %1, %b : tensor<f32>
      halftone.yield %3, %1 : tensor<f32>, tensor<f32>
    }
    %4 = halftone.while (%b) : (tensor<f32>) -> tensor<f32> {
    ^bb0(%c: tensor<f32>):
      %5 = halftone.compare lt %c, %0#0 : tensor<f32>
      halftone.yield %5 : tensor<i1>
    } do {
    ^bb0(%i: tensor<i32>, %c: tensor<f32>):
      %6 = halftone.add %c, %a : tensor<f32>
      halftone.yield %6 : tensor<f32>
    }
    return %0#0, %0#1, %4 : tensor<f32>, tensor<3xf32>, tensor<f32>
  })";

using Values = llvm::SmallVector<mlir::Value>;

struct Nested {
  mlir::OwningOpRef<mlir::ModuleOp> module = parse(nested);
  mlir::func::FuncOp main = module->lookupSymbol<mlir::func::FuncOp>("main");
  ScanOp scan = *main.getOps<ScanOp>().begin();
  WhileOp loop = *main.getOps<WhileOp>().begin();
  WhenOp when = *scan.getBody().getOps<WhenOp>().begin();
  mlir::Value argument(unsigned i) { return main.getArgument(i); }
};

} // namespace

TEST_CASE("captures are the values from above that regions read, each once, in the order of their first uses") {
  Nested n;
  CHECK(capturesOf(n.scan) == Values{n.argument(2), n.argument(1), n.argument(0)});
  CHECK(capturesOf(n.when) == Values{n.argument(1), n.scan.getSlices()[0], n.argument(0)});
  CHECK(capturesOf(n.loop) == Values{n.scan.getLasts()[0], n.argument(0)});
  CHECK(isBranchOrLoop(n.when));
  CHECK_FALSE(isLoop(n.when));
  CHECK_FALSE(isBranchOrLoop(nullptr));
}

TEST_CASE("a result of a branch or loop is made of the values that its regions yield for it, a carry of its init too") {
  Nested n;
  const Values carry{n.argument(0), n.scan.getNexts()[0]};
  CHECK(sourcesOf(n.scan.getLasts()[0]) == carry);
  CHECK(sourcesOf(n.scan.getYs()[0]) == Values{n.when->getResult(0)});
  CHECK(sourcesOf(n.scan.getCarries()[0]) == carry);
  CHECK(sourcesOf(n.scan.getSlices()[0]) == Values{n.argument(3)});
  CHECK(sourcesOf(n.scan.getIndex()).empty());
  CHECK(sourcesOf(n.loop->getResult(0)) == Values{n.argument(1), n.loop.getNexts()[0]});
  CHECK(sourcesOf(n.loop.getCarries()[0]) == sourcesOf(n.loop->getResult(0)));
  CHECK(sourcesOf(n.loop.getCondition().getArgument(0)) == sourcesOf(n.loop->getResult(0)));
  CHECK(sourcesOf(n.when->getResult(0)).size() == 2);
  CHECK(conditionOf(n.when) == n.argument(2));
  CHECK(conditionOf(n.loop) == n.loop.getConditionValue());
  CHECK_FALSE(conditionOf(n.scan));
}
