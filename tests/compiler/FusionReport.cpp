// The fusion report: its lines, and the parts of the module that it does not change.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reports/FusionReport.h"
#include "compiler/Compiler.h"
#include "compiler/reports/LayerPath.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <set>

using namespace mlir;
using namespace halftone;
using namespace halftone::compiler;
using namespace halftone::dialect;

namespace {

/// A module and its context, in stage kernel.
struct Formed {
  Formed(const std::string &text, bool explains, Numerics numerics = Numerics::fast())
      : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    CompileOptions options;
    options.target = "x86-64-v3";
    options.explainFusion = explains;
    options.numerics = numerics;
    REQUIRE(runStages(*module, Stage::graph, Stage::kernel, options).str() == "ok");
  }
  std::string text() {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// A layer whose product and bias are one kernel, and whose subtraction of the maximum is another.
const std::string classifier = R"(
halftone.variable @w : tensor<64x16xf32> {path = "net/head/kernel"}
halftone.variable @b : tensor<16xf32> {path = "net/head/bias"}
func.func @main(%x: tensor<32x64xf32> {halftone.name = "x"}) -> (tensor<32x16xf32> {halftone.name = "y"}) {
  %y = halftone.layer "net/head" policy "float32" (%x) {layer_class = "Dense"} : (tensor<32x64xf32>) -> tensor<32x16xf32> {
  ^bb0(%a: tensor<32x64xf32>):
    %w = halftone.read @w : tensor<64x16xf32>
    %b = halftone.read @b : tensor<16xf32>
    %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
    %1 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<16xf32> to tensor<32x16xf32>
    %2 = halftone.add %0, %1 : tensor<32x16xf32>
    %3 = halftone.reduce max %2 {axes = array<i64: 1>} : tensor<32x16xf32> -> tensor<32xf32>
    %4 = halftone.broadcast %3 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x16xf32>
    %5 = halftone.sub %2, %4 : tensor<32x16xf32>
    halftone.yield %5 : tensor<32x16xf32>
  }
  return %y : tensor<32x16xf32>
})";

bool has(const FusionRow &row, const std::string &line) { return llvm::is_contained(row.lines, line); }

} // namespace

TEST_CASE("the fusion report tells by which rule each op joined its kernel, and why kernels stayed apart") {
  Formed formed(classifier, true);
  const std::vector<FusionRow> rows = fusionReport(*formed.module);
  REQUIRE(rows.size() == 2);
  CHECK(has(rows[0], "op contract [net/head]: contraction"));
  CHECK(has(rows[0], "op add [net/head]: join producers"));
  CHECK(has(rows[0], "clone broadcast [net/head]: always cloned"));
  CHECK(has(rows[1], "op reduce [net/head]: start"));
  CHECK(has(rows[1], "op sub [net/head]: join producers"));
  // Each of the two kernels names the other by its site, with the same reason.
  const std::string reason = "\": reduce [net/head]: join producers: matmul: a reduction is not partial (reduce)";
  CHECK(has(rows[0], "not fused with \"" + rows[1].site + reason));
  CHECK(has(rows[1], "not fused with \"" + rows[0].site + reason));
}

TEST_CASE("each op that starts a kernel has a reason why it did not join another") {
  Formed formed(classifier, true);
  for (const FusionRow &row : fusionReport(*formed.module))
    CHECK(llvm::any_of(row.lines, [](const std::string &line) { return line.starts_with("start "); }));
}

TEST_CASE("a module with a fusion report has the same text and layer paths as without") {
  Formed explained(classifier, true), plain(classifier, false);
  CHECK(explained.text() == plain.text());
  const auto pathsOf = [](ModuleOp module) {
    std::set<std::string> paths;
    module.walk([&](LaunchOp launch) { paths.insert(layerPathOf(launch.getLoc()).str()); });
    return paths;
  };
  CHECK(pathsOf(*explained.module) == pathsOf(*plain.module));
  for (const FusionRow &row : fusionReport(*plain.module))
    CHECK(row.lines.empty());
}

TEST_CASE("in strict numerics each row of the fusion report has one op") {
  Formed formed(classifier, true, Numerics::strict());
  const std::vector<FusionRow> rows = fusionReport(*formed.module);
  CHECK(rows.size() >= 4);
  for (const FusionRow &row : rows)
    CHECK(llvm::count_if(row.lines, [](const std::string &line) { return line.starts_with("op "); }) == 1);
}

TEST_CASE("the text of the fusion report consists of comments") {
  CHECK(fusionText({{"loop_1", "net (a.cpp:1): add", {"op add [net]: start"}}, {"row_2", "", {}}}) ==
        "// kernel @loop_1: net (a.cpp:1): add\n//   op add [net]: start\n// kernel @row_2: \n");
}
