// Lowers functions to stage pure and compares their derivatives with finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "ScalarFunction.h"
#include "mlir/Parser/Parser.h"
#include <fmt/format.h>
#include <random>

using namespace mlir;
using halftone::dialect::TensorData;

namespace halftone::compiler::testing {

namespace {

std::vector<int64_t> extents(const std::string &shape) {
  std::vector<int64_t> result;
  for (size_t at = 0; at < shape.size(); at = shape.find('x', at) + 1)
    result.push_back(std::stoll(shape.substr(at)));
  return result;
}

void nudge(TensorData &tensor, int64_t index, double by) {
  tensor.low[index] += by;
  tensor.high[index] = tensor.low[index];
}

std::vector<TensorData> randomFeeds(Differentiated &module, const ScalarFunction &function) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<TensorData> feeds;
  for (const std::string &shape : function.shapes) {
    std::vector<int64_t> extent = extents(shape);
    std::vector<double> values(ShapedType::getNumElements(extent));
    for (double &value : values)
      value = uniform(random);
    feeds.push_back(module.tensor(extent, values));
  }
  return feeds;
}

} // namespace

Differentiated::Differentiated(const std::string &text) {
  DialectRegistry registry;
  dialect::registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  INFO(text);
  module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  CompileOptions options;
  options.verifyStages = true;
  Status status = runStages(*module, Stage::graph, Stage::pure, options);
  INFO(status.str());
  REQUIRE(status.isOk());
}

std::vector<TensorData> Differentiated::run(const std::vector<TensorData> &feeds) {
  StatusOr<std::vector<TensorData>> results = dialect::interpret(*module, feeds, variables);
  INFO(results.status().str());
  REQUIRE(results.isOk());
  return *results;
}

TensorData Differentiated::tensor(ArrayRef<int64_t> shape, const std::vector<double> &values) {
  return TensorData::fromBytes(RankedTensorType::get(shape, Float64Type::get(&context)), values.data());
}

std::string text(const ScalarFunction &function) {
  std::string arguments, results = "tensor<f64> {halftone.name = \"loss\"}", at, types, values = "%loss";
  for (size_t i = 0; i < function.shapes.size(); ++i) {
    std::string comma = i ? ", " : "", type = "tensor<" + function.shapes[i] + "f64>";
    arguments += fmt::format("{}%x{}: {} {{halftone.name = \"x{}\"}}", comma, i, type, i);
    results += fmt::format(", {} {{halftone.name = \"d{}\"}}", type, i);
    at += fmt::format("{}%x{} : {}", comma, i, type);
    types += comma + type;
    values += fmt::format(", %gradients#{}", i);
  }
  return fmt::format("func.func @main({}) -> ({}) {{\n{}\n"
                     "%gradients:{} = halftone.gradient %loss at ({}) : tensor<f64> -> ({})\n"
                     "return {} : tensor<f64>, {}\n}}",
                     arguments, results, function.body, function.shapes.size(), at, types, values, types);
}

std::string squares(const std::string &shape, const std::string &axes) {
  return fmt::format(
      "\n%y2 = halftone.mul %y, %y : tensor<{0}f64>\n%loss = halftone.reduce sum %y2 {{axes = array<i64{1}>}} "
      ": tensor<{0}f64> -> tensor<f64>",
      shape, axes);
}

std::vector<TensorData> derivatives(const ScalarFunction &function) {
  Differentiated module(text(function));
  return module.run(randomFeeds(module, function));
}

void checkDerivatives(const ScalarFunction &function) {
  INFO(function.name);
  Differentiated module(text(function));
  const std::vector<TensorData> feeds = randomFeeds(module, function);
  const std::vector<TensorData> results = module.run(feeds);
  const double step = 1e-5;
  for (size_t input = 0; input < feeds.size(); ++input)
    for (int64_t index = 0; index < feeds[input].size(); ++index) {
      std::vector<TensorData> up = feeds, down = feeds;
      nudge(up[input], index, step);
      nudge(down[input], index, -step);
      double expected = (module.run(up)[0].low[0] - module.run(down)[0].low[0]) / (2 * step);
      INFO("input " << input << ", element " << index);
      CHECK(results[input + 1].low[index] == Approx(expected).epsilon(1e-6).margin(1e-7));
    }
}

} // namespace halftone::compiler::testing
