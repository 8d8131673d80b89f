// Optimizers whose epsilon is 0 in the dtype of the variable, and clipping of gradients whose squares overflow.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/Half.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

using namespace halftone;
using namespace halftone::test;

namespace {

using Json = nlohmann::ordered_json;

/// The names of all optimizers, from the error message that lists them.
std::vector<std::string> optimizerNames() {
  const std::string error = errorOf([] { Optimizer("no optimizer"); });
  std::stringstream list(error.substr(error.find("Known: ") + 7));
  std::vector<std::string> names;
  for (std::string name; std::getline(list >> std::ws, name, ',');)
    names.push_back(name);
  return names;
}

/// The configs of an optimizer with epsilon = 1e-8: with its defaults, and with each option that adds state.
std::vector<Json> configsOf(const std::string &name) {
  Json object = ConfigAccess::json(optimizers::serialize(Optimizer(name)));
  Json &config = object["config"];
  for (const char *key : {"epsilon", "epsilon_1"})
    if (config.contains(key))
      config[key] = 1e-8;
  config["learning_rate"] = 0.125;
  if (config.contains("initial_accumulator_value") && config.contains("epsilon"))
    config["initial_accumulator_value"] = 0.0;
  std::vector<Json> configs{object};
  for (const char *key : {"amsgrad", "centered", "nesterov"})
    if (config.contains(key)) {
      configs.push_back(object);
      configs.back()["config"][key] = true;
    }
  return configs;
}

/// A variable after several updates with the same gradient.
std::vector<double> updated(Run run, const Json &config, DType dtype, const std::vector<double> &gradient, int steps) {
  const Shape shape{2, static_cast<int64_t>(gradient.size()) / 2};
  const Variable x = weight(Tensor::full(shape, 0.5, dtype));
  const Optimizer optimizer = optimizers::deserialize(ConfigAccess::make(config));
  const Tensor fed = Tensor(std::vector<double>(gradient), shape).astype(dtype);
  detail::CompiledFunction function = recorded(run, [&](const std::vector<Value> &v) {
    optimizer.apply(v, {x});
    return std::vector<Value>{};
  });
  for (int i = 0; i < steps; ++i)
    function.run({fed});
  return numbers(x);
}

bool allFinite(const std::vector<double> &values) {
  return std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

} // namespace

TEST_CASE("No optimizer whose epsilon is 0 in float16 gives NaN, and its first step is that of float64, rounded") {
  const std::vector<double> gradient = {0, 1e-4, -1e-6, 1, -0.25, 0};
  const std::vector<std::string> names = optimizerNames();
  REQUIRE(names.size() > 10);
  for (const std::string &name : names)
    for (const Json &config : configsOf(name))
      for (const DType dtype : {DType::float16, DType::bfloat16})
        for (const Run run : {Run::interpreted, Run::compiled}) {
          CAPTURE(config.dump(), halftone::name(dtype), static_cast<int>(run));
          std::vector<double> given;
          for (const double each : gradient)
            given.push_back(roundTo(dtype, each));
          const std::vector<double> found = updated(run, config, dtype, given, 1),
                                    exact = updated(Run::interpreted, config, DType::float64, given, 1);
          const double ulp = dtype == DType::float16 ? 0x1p-11 : 0x1p-8; // for numbers from 1/2 to 1
          for (size_t i = 0; i < found.size(); ++i) {
            CAPTURE(i, found[i], exact[i]);
            CHECK(std::abs(found[i] - exact[i]) <= 2 * ulp * std::max(1.0, std::abs(exact[i])));
          }
          CHECK(allFinite(updated(run, config, dtype, given, 3)));
        }
}

TEST_CASE("Gradients and weights whose squares overflow are clipped and normalized to their length") {
  for (const Run run : everyRun)
    for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16})
      for (const double size : {1.0, 1e20, dtype == DType::float64 ? 1e200 : 5e37}) {
        CAPTURE(static_cast<int>(run), name(dtype), size);
        const double tolerance = dtype == DType::bfloat16 ? 1e-2 : 1e-6;
        const Tensor large = Tensor(std::vector<double>{3 * size, 4 * size}, {2}).astype(dtype);
        for (const optimizers::SGDArgs &args : {optimizers::SGDArgs{.clipnorm = 1.0}, {.global_clipnorm = 1.0}}) {
          const Variable x = weight(Tensor::zeros({2}, dtype));
          const optimizers::SGD sgd(-1.0, args);
          runOnce(run, {large}, [&](const std::vector<Value> &v) {
            sgd.apply(v, {x});
            return std::vector<Value>{};
          });
          CHECK(near(numbers(x), {0.6, 0.8}, tolerance));
        }
        const std::vector<Tensor> found = runOnce(run, {large}, [&](const std::vector<Value> &v) {
          const Value row = ops::reshape(v[0], {1, 2});
          return std::vector<Value>{constraints::UnitNorm()(v[0]), constraints::MaxNorm(1.0)(v[0]),
                                    constraints::MinMaxNorm(0.5, 1.0)(v[0]),
                                    layers::UnitNormalization({.dtype = std::string(halftone::name(dtype))})(row)};
        });
        for (const Tensor &each : found)
          CHECK(near(numbers(each), {0.6, 0.8}, tolerance));
      }
}
