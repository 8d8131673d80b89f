// Metrics: state, names, dtypes, Keras's choice of an accuracy.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Metrics.h"
#include "frontend/metrics/MetricImpl.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("a mean adds up batches and forgets") {
  metrics::Mean mean;
  CHECK(mean.result() == 0.0);
  mean.update_state(Tensor({1, 3, 5, 7}, {4}));
  CHECK(mean.result() == 4.0);
  mean.update_state(Tensor({10}, {1}));
  CHECK(near({mean.result()}, {26.0 / 5}));
  mean.reset_state();
  CHECK(mean.result() == 0.0);
  mean.update_state(Tensor({1, 3, 5, 7}, {4}), Tensor({1, 1, 0, 0}, {4}));
  CHECK(mean.result() == 2.0);
  mean.reset_state();
  mean.update_state(Tensor({1, 3, 5, 7}, {2, 2}), Tensor({1, 3}, {2})); // one weight per row
  CHECK(near({mean.result()}, {(2.0 + 3 * 6) / 4}));
  mean.reset_state();
  mean.update_state(Tensor::full({}, 3));
  CHECK(mean.result() == 3.0);
  CHECK_THAT(errorOf([&] { static_cast<const Metric &>(mean).update_state(Tensor::zeros({1}), Tensor::zeros({1})); }),
             Contains("is a mean of values"));
}

// policies 12.1
TEST_CASE("a metric's state has the metric's dtype, floatx by default") {
  PolicyScope mixed("mixed_float16");
  CHECK(metrics::Mean().dtype() == float32);
  Metric half = metrics::Mean({.name = "m", .dtype = DTypePolicy("mixed_float16")});
  CHECK(half.dtype() == float16);
  REQUIRE(half.variables().size() == 2);
  CHECK(half.variables()[0].dtype() == float16);
  CHECK(half.variables()[0].path() == "m/total");
  CHECK(half.variables()[1].path() == "m/count");
  CHECK(half.get_config().dump() == R"({"name":"m","dtype":"float16"})");
}

TEST_CASE("means of losses have Keras's values over two batches") {
  using namespace metrics;
  struct Case {
    Metric metric;
    const char *name;
    double first, both;
  };
  const Case cases[] = {
      {MeanAbsolutePercentageError(), "mean_absolute_percentage_error", 156250080, 203431440},
      {MeanSquaredLogarithmicError(), "mean_squared_logarithmic_error", 0.177552596, 0.175942227},
      {metrics::Poisson(), "poisson", 0.843310475, 0.837875664},
      {metrics::Hinge(), "hinge", 0.770833373, 0.953431427},
      {SquaredHinge(), "squared_hinge", 0.721354187, 1.11488974},
      {CategoricalHinge(), "categorical_hinge", 0.75, 1.05882359},
      {KLDivergence(), "kl_divergence", 0.498620868, 0.92779088},
      {LogCoshError(), "logcosh", 0.27396822, 0.229538351},
      {CosineSimilarity(), "cosine_similarity", 0.653165758, 0.504607677},
      {RootMeanSquaredError(), "root_mean_squared_error", 0.84355706, 0.749182582},
      {Metric("RootMeanSquaredError"), "RootMeanSquaredError", 0.84355706, 0.749182582},
      {Metric("log_cosh_error"), "log_cosh_error", 0.27396822, 0.229538351},
      {Metric("cosine_similarity"), "cosine_similarity", 0.653165758, 0.504607677},
  };
  Tensor predicted({.5, .125, 2.5, .25, .75, .0625}, {2, 3});
  for (const Case &each : cases) {
    INFO(each.name);
    CHECK(each.metric.name() == each.name);
    each.metric.update_state(Tensor({.25, 0, .75, 1, 0, 0}, {2, 3}), predicted);
    CHECK(near({each.metric.result()}, {each.first}, 2e-6));
    each.metric.update_state(Tensor({1, 0, 1, 1, 0, 0}, {2, 3}), predicted, Tensor({.25, 2}, {2}));
    CHECK(near({each.metric.result()}, {each.both}, 2e-6));
  }
}

TEST_CASE("a name makes a metric") {
  CHECK(Metric("mse").name() == "mse"); // keeps the given name
  CHECK_THAT(errorOf([] { Metric("accurate"); }),
             Contains("ValueError: Could not interpret metric identifier: accurate") && Contains("binary_accuracy"));
  Metric mae("mean_absolute_error");
  mae.update_state(Tensor({0, 0, 0, 0}, {2, 2}), Tensor({1, -2, 3, 0}, {2, 2}));
  CHECK(near({mae.result()}, {1.5}));
  Metric ce("sparse_categorical_crossentropy");
  ce.update_state(Tensor::of<int32_t>({1, 2}, {2}), Tensor({0.05f, 0.95f, 0, 0.1f, 0.8f, 0.1f}, {2, 3}));
  CHECK(near({ce.result()}, {1.177}, 1e-3));
}

TEST_CASE("A crossentropy of class numbers is read from the config that Keras writes") {
  const std::string config = R"({"module": "keras.metrics", "class_name": "SparseCategoricalCrossentropy", "config":
    {"name": "ce", "dtype": "float32", "from_logits": true, "ignore_class": null, "axis": -1}, "registered_name": null})";
  const Metric ce = metrics::deserialize(Config::parse(config));
  ce.update_state(Tensor::of<int32_t>({1}, {1}), Tensor({0, 0}, {1, 2}));
  CHECK(near({ce.result()}, {std::log(2.0)}));
  CHECK(ce.get_config().dump() == Config::parse(config).get_object("config").dump());
  std::string other = config;
  other.replace(other.find("null"), 4, "0");
  CHECK_THAT(errorOf([&] { (void)metrics::deserialize(Config::parse(other)); }), Contains("ignore_class"));
}

TEST_CASE("accuracy picks its kind as Keras does") {
  auto resolved = [](const char *name, const Tensor &t, const Tensor &p) {
    Metric metric = detail::ownMetric(Metric(name), t.shape(), p.shape(), {});
    metric.update_state(t, p);
    CHECK(metric.name() == name);
    return metric.result();
  };
  for (const char *name : {"accuracy", "acc", "Accuracy"}) {
    CHECK(resolved(name, Tensor({1, 1, 0, 0}, {4, 1}), Tensor({0.98f, 1, 0, 0.6f}, {4, 1})) == 0.75);
    CHECK(resolved(name, Tensor({1, 1, 0, 0}, {4}), Tensor({0.98f, 1, 0, 0.6f}, {4, 1})) == 0.75);
    Tensor scores({0.1f, 0.9f, 0.8f, 0.05f, 0.95f, 0}, {2, 3});
    CHECK(resolved(name, Tensor::of<int32_t>({2, 1}, {2}), scores) == 0.5);
    CHECK(resolved(name, Tensor::of<int32_t>({2, 1}, {2, 1}), scores) == 0.5);
    CHECK(resolved(name, Tensor({0, 0, 1, 0, 1, 0}, {2, 3}), scores) == 0.5);
  }
  CHECK_THAT(errorOf([] { Metric("accuracy").update_state(Tensor::zeros({1}), Tensor::zeros({1})); }),
             Contains("has no kind until `compile()`"));
  CHECK(Metric("accuracy").variables().empty());
}

TEST_CASE("Each output gets a metric with a state of its own, the first one the object itself") {
  Metric byName("mae"), object = metrics::MeanAbsoluteError({.name = "error"});
  Metric function([](const Value &t, const Value &p) { return ops::abs(t - p); }, {.name = "difference"});
  auto use = std::make_shared<const char>();
  auto sameState = [&](const Metric &metric) {
    const Metric own = detail::ownMetric(metric, {2, 1}, {2, 1}, use);
    CHECK(own.name() == metric.name());
    CHECK(own.get_config().dump() == metric.get_config().dump());
    return own.variables()[0].impl() == metric.variables()[0].impl();
  };
  CHECK_FALSE(sameState(byName));
  CHECK_FALSE(sameState(function));
  CHECK(sameState(object));
  CHECK_FALSE(sameState(object)); // for another output, another list or another model
  use = std::make_shared<const char>();
  CHECK(sameState(object)); // the first use has ended
  function.update_state(Tensor({1, 2}, {2}), Tensor({3, 7}, {2}), Tensor({1, 3}, {2}));
  CHECK(near({function.result()}, {(2.0 + 15) / 4}));
}

TEST_CASE("a tracker weighs numbers, recorded in a step") {
  detail::MeanTracker tracker("loss"), copy = tracker;
  for (Run run : everyRun) {
    tracker.metric().reset_state();
    auto step = recorded(run, [&](const std::vector<Value> &v) {
      tracker.update(v[0], 32);
      return std::vector<Value>{v[0]};
    });
    step.run({Tensor::full({}, 2)});
    step.run({Tensor::full({}, 4)});
    CHECK(copy.metric().result() == 3.0);
  }
  CHECK(copy.name() == "loss");
}

TEST_CASE("A sum adds values times their weights") {
  metrics::Sum sum;
  CHECK(sum.result() == 0.0);
  sum.update_state(Tensor({1, 3, 5, 7}, {2, 2}));
  CHECK(sum.result() == 16.0);
  sum.update_state(Tensor({1, 3, 5, 7}, {2, 2}), Tensor({2, 0.5}, {2})); // one weight per row
  CHECK(sum.result() == 16.0 + 8.0 + 6.0);
  CHECK(sum.get_config().dump() == R"({"name":"sum","dtype":"float32"})");
}

TEST_CASE("A metric of several numbers has no single result") {
  const metrics::Precision precision({.thresholds = {0.25, 0.75}});
  CHECK(precision.results() == std::vector<double>{0.0, 0.0});
  CHECK_THAT(errorOf([&] { (void)precision.result(); }),
             Contains("ValueError: the result of metric '") && Contains("has 2 numbers: use results()"));
}

TEST_CASE("float16 predictions are squared in float32") {
  Metric mse("mse");
  mse.update_state(Tensor::zeros({2, 1}), Tensor::full({2, 1}, 300, float16));
  CHECK(mse.result() == 90000.0);
}
