// Every op with every dtype: interpreter and compiled code agree, bit for bit in strict mode where the op is exact.
// SPDX-License-Identifier: Apache-2.0
#include "OpTable.h"
#include "runtime/devices/CpuDevice.h"
#include "tools/halftone-run/Comparison.h"
#include <catch2/catch.hpp>
#include <map>
#include <set>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::tools;

namespace {

struct Host {
  static constexpr const char *target = "host";
  static bool runs() { return true; }
};
struct V2 {
  static constexpr const char *target = "x86-64-v2";
  static bool runs() { return true; }
};
struct V3 {
  static constexpr const char *target = "x86-64-v3";
  static bool runs() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  }
};
struct V4 {
  static constexpr const char *target = "x86-64-v4";
  static bool runs() {
    return V3::runs() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  }
};

/// Multiplies bf16 in pairs, unlike V4.
struct Zen4 {
  static constexpr const char *target = "x86_64-unknown-linux-gnu:znver4";
  static bool runs() {
    return V4::runs() && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("vaes");
  }
};

StatusOr<Comparison> compareCases(const std::vector<OpCase> &cases, const std::string &target, bool strict) {
  StatusOr<ModuleFile> file = parseModule(moduleOf(cases), "ops");
  HALFTONE_RETURN_IF_ERROR(file.status());
  CompareOptions options;
  options.compile.target = target;
  options.compile.strict = strict;
  options.compile.verifyStages = true;
  options.compile.cacheDirectory = "none";
  options.byLayer = true;
  VariableTensors variables;
  return compareWithInterpreter(*file, feedsOf(cases), variables, *sharedCpuDevice(), options);
}

void check(const std::vector<OpCase> &cases, const std::string &target, bool strict) {
  StatusOr<Comparison> all = compareCases(cases, target, strict);
  INFO(target << (strict ? ", strict" : ", fast"));
  if (!all.isOk() && cases.size() > 1) { // which of them?
    INFO("together: " << all.status().str());
    bool found = false;
    for (const OpCase &each : cases)
      if (StatusOr<Comparison> one = compareCases({each}, target, strict); !one.isOk()) {
        found = true;
        UNSCOPED_INFO(one.status().diagnostics().substr(0, 2000));
        FAIL_CHECK(each.label << ": " << one.status().str());
      }
    if (!found)
      FAIL_CHECK("each by itself compiles");
    return;
  }
  REQUIRE(all.isOk());
  for (const OutputComparison &output : all->outputs)
    if (!output.difference.agrees())
      FAIL_CHECK(output.name << ": " << output.difference.unequal << " of " << output.difference.elements
                             << " elements differ, first " << output.difference.firstUnequal);
  for (const LaunchComparison &launch : all->launches)
    if (!launch.difference.agrees())
      FAIL_CHECK("launch " << launch.kernel << ", " << launch.site << ": " << launch.difference.unequal << " of "
                           << launch.difference.elements << " elements differ, first "
                           << launch.difference.firstUnequal);
  CHECK(all->outputs.size() == cases.size());
  CHECK_FALSE(all->launches.empty());
}

/// In strict mode each op is a kernel. In fast mode one kernel holds many, and there are fewer to compile.
template <class Target> void checkBoth(const std::vector<OpCase> &cases) {
  if (!Target::runs()) {
    WARN(Target::target << " does not run here");
    return;
  }
  check(cases, Target::target, true);
  check(cases, Target::target, false);
}

std::vector<OpCase> only(std::vector<OpCase> cases, const std::set<std::string> &ops) {
  std::erase_if(cases, [&](const OpCase &each) { return !ops.contains(each.op); });
  return cases;
}

std::vector<OpCase> without(std::vector<OpCase> cases, const std::set<std::string> &ops) {
  std::erase_if(cases, [&](const OpCase &each) { return ops.contains(each.op); });
  return cases;
}

const std::set<std::string> transcendental = {"exp",      "expm1", "log", "log1p", "rsqrt", "tanh",
                                              "logistic", "erf",   "sin", "cos",   "pow"};

} // namespace

TEST_CASE("every op of the dialect is in the table, or is no computation") {
  const std::set<std::string> structural = {
      "layer",  "yield",  "when",   "gradient", "variable",      "read",
      "assign", "kernel", "launch", "shadow",   "partial_reduce"}; // the last is put in by the compiler, see reductions
                                                                   // in fast mode
  std::set<std::string> listed;
  for (const auto &cases :
       {elementwiseCases("3x"), castCases("3x"), sourceCases(), shapeCases(), indexingCases(),
        reductionCases(), contractionCases()})
    for (const OpCase &each : cases)
      listed.insert(each.op);
  StatusOr<ModuleFile> file = parseModule("func.func @main() { return }", "empty");
  REQUIRE(file.isOk());
  for (mlir::RegisteredOperationName name : file->context->getRegisteredOperationsByDialect("halftone")) {
    const std::string op = name.stripDialect().str();
    INFO(op);
    CHECK((listed.contains(op) || structural.contains(op)));
  }
}

TEMPLATE_TEST_CASE("transcendental ops", "", Host, V2, V3, V4) {
  checkBoth<TestType>(only(elementwiseCases("3x67x"), transcendental));
}
TEMPLATE_TEST_CASE("comparisons", "", Host, V2, V3, V4) {
  checkBoth<TestType>(only(elementwiseCases("3x67x"), {"compare", "is_finite"}));
}
TEMPLATE_TEST_CASE("arithmetic", "", Host, V2, V3, V4) {
  checkBoth<TestType>(without(without(elementwiseCases("3x67x"), {"compare", "is_finite"}), transcendental));
}
TEMPLATE_TEST_CASE("casts", "", Host, V2, V3, V4) { checkBoth<TestType>(castCases("5x23x")); }
TEMPLATE_TEST_CASE("ops without operands", "", Host, V2, V3, V4) { checkBoth<TestType>(sourceCases()); }
TEMPLATE_TEST_CASE("shape ops", "", Host, V2, V3, V4) { checkBoth<TestType>(shapeCases()); }
TEMPLATE_TEST_CASE("slices, concatenations and lookups", "", Host, V2, V3, V4) {
  checkBoth<TestType>(indexingCases());
}
TEMPLATE_TEST_CASE("reductions", "", Host, V2, V3, V4) { checkBoth<TestType>(reductionCases()); }
TEMPLATE_TEST_CASE("contractions", "", Host, V2, V3, V4, Zen4) { checkBoth<TestType>(contractionCases()); }

TEST_CASE("elementwise ops on scalars, one element, none and many") {
  for (const char *shape : {"", "1x", "0x5x"})
    check(elementwiseCases(shape), "host", false);
  check(only(elementwiseCases("40001x"), {"add", "exp", "compare"}), "host", false);
}
