// The metrics of a compiled model in custom loops: as handles, as logs, and reset.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/MetricImpl.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using layers::Dense;

namespace {

std::vector<std::string> namesOf(const Model &model) {
  std::vector<std::string> names;
  for (const Metric &metric : model.metrics())
    names.push_back(metric.name());
  return names;
}
std::vector<std::string> keysOf(const Logs &logs) {
  std::vector<std::string> keys;
  for (const auto &[name, value] : logs)
    keys.push_back(name);
  return keys;
}
using Names = std::vector<std::string>;

} // namespace

TEST_CASE("metrics(), get_metrics_result() and reset_metrics() follow the batches of a model") {
  const Sequential model({Input({2}), Dense(1, {.kernel_initializer = "ones"})});
  for (const std::function<void()> &call : std::vector<std::function<void()>>{
           [&] { (void)model.metrics(); }, [&] { (void)model.get_metrics_result(); }, [&] { model.reset_metrics(); }})
    CHECK_THAT(errorOf(call), Contains("ValueError: You must call `compile()` before"));
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse", .metrics = {"mae"}});
  CHECK(namesOf(model) == Names{"loss"});
  CHECK(keysOf(model.get_metrics_result()) == Names{"loss"});
  CHECK(model.get_metrics_result()["loss"] == 0);
  model.reset_metrics();
  const Tensor x = Tensor::ones({2, 2});
  (void)model.test_on_batch(x, Tensor::zeros({2, 1})); // the errors are 2
  CHECK(namesOf(model) == Names{"loss", "mae"});
  CHECK(model.get_metrics_result()["loss"] == 4);
  CHECK(model.get_metrics_result()["mae"] == 2);
  CHECK(model.metrics().at(1).result() == 2);
  model.metrics().at(1).reset_state();
  CHECK(model.get_metrics_result()["mae"] == 0);
  CHECK(model.get_metrics_result()["loss"] == 4);
  model.reset_metrics();
  CHECK(model.get_metrics_result()["loss"] == 0);
  (void)model.fit(Tensor::ones({6, 2}), Tensor::ones({6, 1}), {.batch_size = 2, .epochs = 2, .verbose = 0});
  CHECK(keysOf(model.get_metrics_result()) == Names{"loss", "mae"});
  CHECK(model.get_metrics_result()["mae"] == 1);
}

TEST_CASE(
    "metrics() has the trackers of several outputs behind the metrics, and the results have the names of the logs") {
  const Input x({2});
  const Model model({x}, {Dense(1, {.name = "a"})(x), Dense(1, {.name = "b"})(x)});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = MetricSpec({{"a", {"mae"}}, {"b", {"mse"}}})});
  const Logs logs = model.test_on_batch(Tensor::ones({2, 2}), Tensors{Tensor::ones({2, 1}), Tensor::ones({2, 1})});
  CHECK(namesOf(model) == Names{"loss", "mae", "mse", "a_loss", "b_loss"});
  const Logs found = model.get_metrics_result();
  CHECK(keysOf(found) == keysOf(logs));
  for (const auto &[name, value] : logs)
    CHECK(found[name] == value);
}

TEST_CASE("A loop in jit() that updates compiled metrics reads and resets them as an epoch does") {
  const Sequential model({Input({2}), Dense(1, {.kernel_initializer = "ones"})});
  model.compile({.loss = "mse", .metrics = {"mae"}});
  (void)model.test_on_batch(Tensor::zeros({1, 2}), Tensor::zeros({1, 1}));
  model.reset_metrics();
  const auto evaluate = jit([model](const Value &x, const Value &y) {
    const std::vector<Metric> metrics = model.metrics();
    detail::updateMetric(metrics.at(1), y, model(x), {});
  });
  evaluate(Tensor::ones({3, 2}), Tensor::zeros({3, 1}));
  evaluate(Tensor::ones({1, 2}), Tensor::full({1, 1}, 2.0));
  CHECK(model.get_metrics_result()["mae"] == 1.5);
  model.reset_metrics();
  CHECK(model.get_metrics_result()["mae"] == 0);
}
