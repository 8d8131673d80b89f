// User-defined metric structs, compared with the results that real Keras gave for the same classes in Python.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/RecordedJson.h"
#include <set>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;

namespace {

Value in(const Variable &like, const Value &x) { return ops::cast(x, like.dtype()); }

struct Specificity {
  double threshold = 0.5;
  Variable negatives{}, found{};
  void build(MetricContext &m) {
    negatives = m.add_variable({.name = "negatives"});
    found = m.add_variable({.name = "found"});
  }
  void update_state(const Value &y_true, const Value &y_pred) const {
    const Value negative = y_true == 0;
    negatives.assign_add(ops::sum(in(negatives, negative)));
    found.assign_add(ops::sum(in(found, negative & (y_pred < threshold))));
  }
  Value result() const { return ops::divide_no_nan(found, negatives); }
  void get_config(Config &c) const { c.set("threshold", threshold); }
  static Specificity from_config(const Config &c) { return {.threshold = c.get_double("threshold")}; }
};
struct Bias {
  Variable total{}, count{};
  void build(MetricContext &m) {
    total = m.add_variable({.name = "total"});
    count = m.add_variable({.name = "count"});
  }
  void update_state(const Value &y_true, const Value &y_pred, const Value &sample_weight) const {
    const Value p = in(total, y_pred), error = p - in(total, y_true);
    Value weight = sample_weight.defined() ? in(total, sample_weight) : ops::ones_like(p);
    if (weight.rank() < p.rank())
      weight = ops::expand_dims(weight, -1);
    total.assign_add(ops::sum(error * weight));
    count.assign_add(ops::sum(ops::broadcast_to(weight, p.shape())));
  }
  Value result() const { return ops::divide_no_nan(total, count); }
  static Bias from_config(const Config &) { return {}; }
};
struct Largest {
  Variable largest{};
  void build(MetricContext &m) {
    largest = m.add_variable({.initializer = initializers::Constant(-4.0), .name = "largest"});
  }
  void update_state(const Value &, const Value &y_pred) const {
    largest.assign(ops::maximum(largest, ops::max(in(largest, y_pred))));
  }
  Value result() const { return largest * 2.0; }
  static Largest from_config(const Config &) { return {}; }
};
struct Misses {
  Variable misses{};
  void build(MetricContext &m) { misses = m.add_variable({.shape = {2}, .dtype = int32, .name = "misses"}); }
  void update_state(const Value &y_true, const Value &y_pred) const {
    const Value wrong = (y_pred > 0.5) != (y_true == 1), over = wrong & (y_true == 0);
    misses.assign_add(ops::stack({ops::sum(in(misses, wrong)), ops::sum(in(misses, over))}));
  }
  Value result() const {
    const Value parts = misses, one = constant(Tensor::of<int32_t>({1, -1}, {2}));
    return ops::sum(parts * one);
  }
  static Misses from_config(const Config &) { return {}; }
};

void registerAll() {
  register_metric<Specificity>("golden");
  register_metric<Bias>("golden");
  register_metric<Largest>("golden");
  register_metric<Misses>("golden");
}

double toleranceIn(const std::string &dtype) { return dtype == "float32" ? 2e-6 : dtype == "float16" ? 2e-3 : 1.6e-2; }

} // namespace

TEST_CASE("Structs have the results of Keras's classes under four policies, and their configs") {
  registerAll();
  std::set<std::string> seen;
  for (const std::string &line : recordedLines("custom_metrics.jsonl")) {
    const Json row = Json::parse(line);
    if (!row.contains("metric"))
      continue;
    INFO(row["metric"].dump());
    seen.insert(std::string(row["metric"]["class_name"]) + " " + std::string(row["policy"]));
    const Metric metric = metrics::deserialize(Config::parse(row["metric"].dump()));
    CHECK(Json::parse(metrics::serialize(metric).dump()) == row["metric"]);
    const std::string dtype = row["dtype"];
    CHECK(name(metric.dtype()) == dtype);
    for (int again = 0; again < 2; ++again) {
      for (const Json &batch : row["batches"]) {
        metric.update_state(tensorOf(batch["y_true"], "float32"), tensorOf(batch["y_pred"], dtype),
                            batch["weight"].is_null() ? Tensor() : tensorOf(batch["weight"], "float32"));
        CHECK(near({metric.result()}, {batch["result"].get<double>()}, toleranceIn(dtype)));
      }
      metric.reset_state();
    }
  }
  CHECK(seen.size() == 16);
}

TEST_CASE("evaluate() and fit() log a struct's results as Keras does under four policies") {
  registerAll();
  size_t count = 0;
  for (const std::string &line : recordedLines("custom_metrics.jsonl")) {
    const Json row = Json::parse(line);
    if (!row.contains("evaluate"))
      continue;
    const std::string policy = row["policy"];
    INFO(policy);
    ++count;
    const PolicyScope scope(policy);
    const Sequential model({Input({3}), Dense(1, {.activation = "sigmoid"})});
    model.set_weights({tensorOf(row["kernel"], "float32"), tensorOf(row["bias"], "float32")});
    model.compile({.optimizer = "sgd",
                   .loss = "mse",
                   .metrics = {Specificity{}, Largest{}, Misses{}, Metric(Specificity{0.75}, {.name = "strict"})},
                   .weighted_metrics = {Bias{}}});
    const Tensor x = tensorOf(row["x"], "float32"), y = tensorOf(row["y"], "float32");
    const double tolerance = policy == "float32" ? 2e-6 : policy == "mixed_float16" ? 2e-3 : 1.6e-2;
    const Logs logs =
        model.evaluate(x, y, {.batch_size = 8, .verbose = 0, .sample_weight = tensorOf(row["weight"], "float32")});
    for (const auto &[key, value] : row["evaluate"].items()) {
      INFO(key);
      CHECK(near({logs[key]}, {value.get<double>()}, tolerance));
    }
    model.compile({.optimizer = optimizers::SGD(0.25),
                   .loss = "mse",
                   .metrics = {Specificity{}, Largest{}, Misses{}},
                   .auto_scale_loss = false});
    const History history = model.fit(
        x, y,
        {.batch_size = 8,
         .epochs = 2,
         .verbose = 0,
         .validation_data = {tensorOf(Json(std::vector<Json>(row["x"].begin(), row["x"].begin() + 6)), "float32"),
                             tensorOf(Json(std::vector<Json>(row["y"].begin(), row["y"].begin() + 6)), "float32")},
         .shuffle = false});
    for (const auto &[key, value] : row["fit"].items()) {
      INFO(key);
      CHECK(near(history[key], value.get<std::vector<double>>(), 3 * tolerance));
    }
  }
  CHECK(count == 4);
}
