// Sums of padded slices before and after simplify and normalize, in the interpreter: the results are bit-identical.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/Compiler.h"
#include "compiler/passes/Passes.h"
#include "dialect/Interpreter.h"
#include "dialect/TypeInference.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <array>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <random>

using namespace mlir;
using namespace halftone;
using namespace halftone::compiler;
using dialect::TensorData;

namespace {

struct PaddedSlices {
  MLIRContext context;
  std::mt19937 random{1};

  PaddedSlices() {
    DialectRegistry registry;
    dialect::registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  int64_t below(int64_t end) { return std::uniform_int_distribution<int64_t>(0, end - 1)(random); }
  OwningOpRef<ModuleOp> parse(const std::string &text) {
    INFO(text);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    return module;
  }
  std::string sumOfSlices(const std::string &dtype, std::vector<std::string> &inputs);
  TensorData values(const std::string &type);
  /// 0, 1, 2, ... as a tensor<2 x extent x f32>.
  TensorData counted(int64_t extent) {
    TensorData x;
    x.type = cast<RankedTensorType>(parseType(fmt::format("tensor<2x{}xf32>", extent), &context));
    for (int64_t i = 0; i < 2 * extent; ++i)
      x.low.push_back(static_cast<double>(i));
    x.high = x.low;
    return x;
  }
  std::vector<TensorData> run(ModuleOp module, const std::vector<TensorData> &feeds) {
    dialect::VariableValues variables;
    StatusOr<std::vector<TensorData>> results = dialect::interpret(module, feeds, variables);
    INFO(results.status().str());
    REQUIRE(results.isOk());
    return *results;
  }
};

constexpr std::array<int64_t, 2> whole = {5, 7};

std::string typeText(std::array<int64_t, 2> shape, const std::string &dtype) {
  return fmt::format("tensor<{}x{}x{}>", shape[0], shape[1], dtype);
}

/// A chain of sums of slices at random offsets, which may overlap, and of whole values.
std::string PaddedSlices::sumOfSlices(const std::string &dtype, std::vector<std::string> &inputs) {
  const bool isReal = dtype.find('f') != std::string::npos;
  const bool isLong = below(3) == 0; // a long sum has narrow slices alone, more than are added as whole tensors
  std::string body, arguments, sum;
  for (int64_t term = 0, terms = isLong ? 40 : 2 + below(12); term < terms; ++term) {
    std::array<int64_t, 2> start{0, 0}, shape = whole;
    if (isLong) {
      shape[1] = 1 + below(2);
      start[1] = below(whole[1] - shape[1] + 1);
    } else if (below(6) != 0) {
      for (size_t axis : {0, 1})
        if (below(3) != 0) {
          shape[axis] = 1 + below(std::min<int64_t>(3, whole[axis]));
          start[axis] = below(whole[axis] - shape[axis] + 1);
        }
    }
    inputs.push_back(typeText(shape, dtype));
    arguments += fmt::format("{}%x{}: {} {{halftone.name = \"x{}\"}}", term ? ", " : "", term, inputs.back(), term);
    std::string padded = fmt::format("%x{}", term);
    const size_t first = static_cast<size_t>(below(2));
    for (const size_t axis : {first, 1 - first}) {
      if (shape[axis] == whole[axis])
        continue;
      std::string names, types;
      const auto add = [&](const std::string &name, int64_t extent) {
        std::array<int64_t, 2> own = shape;
        own[axis] = extent;
        names += (names.empty() ? "" : ", ") + name;
        types += (types.empty() ? "" : ", ") + typeText(own, dtype);
      };
      const auto zeros = [&](int64_t extent) {
        if (extent == 0)
          return;
        std::array<int64_t, 2> own = shape;
        own[axis] = extent;
        const std::string name = fmt::format("%z{}_{}_{}", term, axis, names.empty() ? "a" : "b");
        body +=
            fmt::format("{} = halftone.constant dense<{}> : {}\n", name, isReal ? "0.0" : "0", typeText(own, dtype));
        add(name, extent);
      };
      zeros(start[axis]);
      add(padded, shape[axis]);
      zeros(whole[axis] - start[axis] - shape[axis]);
      shape[axis] = whole[axis];
      padded = fmt::format("%p{}_{}", term, axis);
      body += fmt::format("{} = halftone.concat {} {{axis = {} : i64}} : {} to {}\n", padded, names, axis, types,
                          typeText(shape, dtype));
    }
    if (term > 0)
      body += fmt::format("%s{} = halftone.add {}, {} : {}\n", term, sum, padded, typeText(whole, dtype));
    sum = term > 0 ? fmt::format("%s{}", term) : padded;
  }
  return fmt::format("func.func @main({}) -> ({} {{halftone.name = \"y\"}}) {{\n{}return {} : {}\n}}", arguments,
                     typeText(whole, dtype), body, sum, typeText(whole, dtype));
}

/// Values that addition treats specially, in every dtype, among others.
TensorData PaddedSlices::values(const std::string &text) {
  TensorData data;
  data.type = cast<RankedTensorType>(parseType(text, &context));
  constexpr std::array<double, 8> reals = {-0.0, -0.0, 0.0, 1.0,
                                           -1.0, 0.5,  2.0, std::numeric_limits<double>::quiet_NaN()};
  constexpr std::array<int64_t, 5> wholes = {0, 1, 127, 100, 3};
  for (int64_t i = 0; i < data.type.getNumElements(); ++i) {
    data.low.push_back(reals[static_cast<size_t>(below(reals.size()))]);
    data.integers.push_back(wholes[static_cast<size_t>(below(wholes.size()))]);
  }
  data.high = data.low;
  (data.isFloat() ? (void)data.integers.clear() : (data.low.clear(), data.high.clear()));
  return data;
}

size_t countOf(ModuleOp module, StringRef name) {
  size_t count = 0;
  module.walk([&](Operation *op) { count += op->getName().getStringRef() == name; });
  return count;
}

} // namespace

TEST_CASE_METHOD(PaddedSlices, "Joining padded slices changes no bit of a sum, -0.0 and NaN included, in any dtype") {
  const std::string dtype =
      GENERATE("f64", "f32", "f16", "bf16", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64");
  size_t joined = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> inputs;
    const std::string text = sumOfSlices(dtype, inputs);
    INFO(text);
    OwningOpRef<ModuleOp> module = parse(text);
    std::vector<TensorData> feeds;
    for (const std::string &input : inputs)
      feeds.push_back(values(input));
    const std::string before = run(*module, feeds)[0].toBytes();
    const size_t sums = countOf(*module, "halftone.add");
    PassManager passes(&context);
    passes.addPass(createSimplifyPass());
    passes.addPass(createNormalizePass());
    REQUIRE(succeeded(passes.run(*module)));
    CHECK(run(*module, feeds)[0].toBytes() == before);
    joined += countOf(*module, "halftone.add") < sums;
  }
  CHECK(joined > 10);
}

TEST_CASE_METHOD(PaddedSlices, "The gradient of a value that is cut into pieces is one concat for each cut") {
  const std::vector<int64_t> widths = GENERATE(std::vector<int64_t>{1}, std::vector<int64_t>{1, 3, 2});
  constexpr int64_t extent = 240;
  std::string body = "%s0 = halftone.constant dense<0.0> : tensor<f32>\n";
  int64_t pieces = 0;
  for (const int64_t width : widths)
    for (int64_t start = 0; start < extent; start += width, ++pieces)
      body += fmt::format(
          "%p{0} = halftone.slice %x {{start = array<i64: 0, {1}>}} : tensor<2x{2}xf32> to tensor<2x{3}xf32>\n"
          "%q{0} = halftone.mul %p{0}, %p{0} : tensor<2x{3}xf32>\n"
          "%r{0} = halftone.reduce sum %q{0} {{axes = array<i64: 0, 1>}} : tensor<2x{3}xf32> -> tensor<f32>\n"
          "%s{4} = halftone.add %s{0}, %r{0} : tensor<f32>\n",
          pieces, start, extent, width, pieces + 1);
  OwningOpRef<ModuleOp> module = parse(
      fmt::format("func.func @main(%x: tensor<2x{0}xf32> {{halftone.name = \"x\"}}) -> (tensor<2x{0}xf32> "
                  "{{halftone.name = \"d\"}}) {{\n"
                  "{1}%d = halftone.gradient %s{2} at (%x : tensor<2x{0}xf32>) : tensor<f32> -> tensor<2x{0}xf32>\n"
                  "return %d : tensor<2x{0}xf32>\n}}",
                  extent, body, pieces));
  const Status status = runStages(*module, Stage::graph, Stage::pure, {});
  INFO(status.str());
  REQUIRE(status.isOk());
  CHECK(countOf(*module, "halftone.concat") == widths.size());
  const TensorData x = counted(extent);
  const TensorData gradient = run(*module, {x})[0];
  for (size_t i = 0; i < x.low.size(); ++i)
    REQUIRE(gradient.low[i] == x.low[i] * 2.0 * static_cast<double>(widths.size()));
}

TEST_CASE_METHOD(PaddedSlices, "The gradient of sliding windows adds up the slices of each step alone") {
  constexpr int64_t extent = 100, width = 3;
  std::string body = "%s0 = halftone.constant dense<0.0> : tensor<f32>\n";
  for (int64_t start = 0; start + width <= extent; ++start)
    body += fmt::format(
        "%p{0} = halftone.slice %x {{start = array<i64: 0, {0}>}} : tensor<2x{1}xf32> to tensor<2x{2}xf32>\n"
        "%q{0} = halftone.mul %p{0}, %p{0} : tensor<2x{2}xf32>\n"
        "%r{0} = halftone.reduce sum %q{0} {{axes = array<i64: 0, 1>}} : tensor<2x{2}xf32> -> tensor<f32>\n"
        "%s{3} = halftone.add %s{0}, %r{0} : tensor<f32>\n",
        start, extent, width, start + 1);
  OwningOpRef<ModuleOp> module = parse(
      fmt::format("func.func @main(%x: tensor<2x{0}xf32> {{halftone.name = \"x\"}}) -> (tensor<2x{0}xf32> "
                  "{{halftone.name = \"d\"}}) "
                  "{{\n{1}%d = halftone.gradient %s{2} at (%x : tensor<2x{0}xf32>) : tensor<f32> -> tensor<2x{0}xf32>\n"
                  "return %d : tensor<2x{0}xf32>\n}}",
                  extent, body, extent - width + 1));
  const Status status = runStages(*module, Stage::graph, Stage::pure, {});
  INFO(status.str());
  REQUIRE(status.isOk());
  CHECK(countOf(*module, "halftone.concat") == 1);
  int64_t whole = 0; // ops that compute all elements
  module->walk([&](Operation *op) {
    for (const Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        whole += tensor.getNumElements() == 2 * extent;
  });
  CHECK(whole <= 3); // the concat, +0.0 and their sum
  const TensorData x = counted(extent);
  const TensorData gradient = run(*module, {x})[0];
  for (int64_t i = 0; i < 2 * extent; ++i) {
    const int64_t step = i % extent, windows = std::min({step, extent - 1 - step, width - 1}) + 1;
    REQUIRE(gradient.low[static_cast<size_t>(i)] == static_cast<double>(2 * i * windows));
  }
}
