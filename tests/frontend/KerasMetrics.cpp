// Metrics and losses, compared with the results, values and gradients that real Keras gave.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ConfigFields.h"
#include "tests/frontend/RecordedJson.h"
#include <set>

using namespace halftone;
using namespace halftone::test;

namespace {

/// Numbers in nested lists; "nan" and "inf" are strings.
std::vector<double> numbersOf(const Json &value) {
  std::vector<double> elements;
  if (value.is_array())
    for (const Json &entry : value) {
      const std::vector<double> inner = numbersOf(entry);
      elements.insert(elements.end(), inner.begin(), inner.end());
    }
  else
    elements.push_back(value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>());
  return elements;
}
Tensor dataOf(const Json &value, const std::string &dtype) {
  return value.is_null() ? Tensor() : tensorOf(value, dtype);
}
Json objectOf(const Config &config) { return Json::parse(config.dump()); }
/// A Keras object without the tensor that Keras makes of a list.
Json withoutTensors(Json object) {
  for (auto &[key, value] : object["config"].items())
    if (value.is_object() && value.contains("class_name") && value["class_name"] == "__tensor__")
      value = Json(value["config"]["value"]);
  return object;
}

struct Fed {
  Tensor yTrue, yPred, weight;
  explicit Fed(const Json &batch)
      : yTrue(dataOf(batch["y_true"], batch["true_dtype"])), yPred(dataOf(batch["y_pred"], batch["pred_dtype"])),
        weight(dataOf(batch["weight"], "float32")) {}
};

} // namespace

// policies 12.1
TEST_CASE("Metrics have Keras's results after each batch, and its configs") {
  std::set<std::string> classes;
  for (const std::string &line : recordedLines("metrics.jsonl")) {
    const Json row = Json::parse(line);
    INFO(row["metric"].dump());
    classes.insert(row["metric"]["class_name"]);
    const Metric metric = metrics::deserialize(Config::parse(row["metric"].dump()));
    CHECK(nlohmann::json(objectOf(metrics::serialize(metric))) == nlohmann::json(withoutTensors(row["metric"])));
    for (const Json &batch : row["batches"]) {
      const Fed step(batch);
      metric.update_state(step.yTrue, step.yPred, step.weight);
      const double tolerance = metric.dtype() == float16 ? 1e-3 : 3e-6;
      CHECK(near(metric.results(), numbersOf(batch["results"]), tolerance));
    }
    metric.reset_state();
    const Fed again(row["batches"][0]);
    metric.update_state(again.yTrue, again.yPred, again.weight);
    CHECK(near(metric.results(), numbersOf(row["batches"][0]["results"]), metric.dtype() == float16 ? 1e-3 : 3e-6));
  }
  CHECK(classes.size() == 21);
}

TEST_CASE("Metrics have the same results interpreted, compiled and with strict numerics") {
  std::set<std::string> classes;
  for (const std::string &line : recordedLines("metrics.jsonl")) {
    const Json row = Json::parse(line);
    if (!classes.insert(row["metric"]["class_name"]).second)
      continue; // one of each class
    INFO(row["metric"].dump());
    const Metric metric = metrics::deserialize(Config::parse(row["metric"].dump()));
    const Fed step(row["batches"][0]);
    for (const Run run : everyRun) {
      metric.reset_state();
      recorded(run, [&](const std::vector<Value> &values) {
        metric.update_state(values[0], values[1]);
        return std::vector<Value>{values[0]};
      }).run({step.yTrue, step.yPred});
      CHECK(near(metric.results(), numbersOf(row["batches"][0]["results"]), 3e-6));
    }
  }
}

TEST_CASE("Losses have Keras's values and slopes, and its configs") {
  std::set<std::string> classes;
  for (const std::string &line : recordedLines("losses.jsonl")) {
    const Json row = Json::parse(line);
    INFO(row["loss"].dump());
    classes.insert(row["loss"]["class_name"]);
    const Loss loss = losses::deserialize(Config::parse(row["loss"].dump()));
    CHECK(nlohmann::json(objectOf(losses::serialize(loss))) == nlohmann::json(row["loss"]));
    const Tensor t = dataOf(row["y_true"], row["true_dtype"]), p = dataOf(row["y_pred"], "float32"),
                 w = dataOf(row["weight"], "float32");
    const std::vector<double> value = numbersOf(row["value"]), slope = numbersOf(row["slope"]);
    CHECK(near(numbers(loss(t, p, w)), value, 5e-6));
    for (const Run run : everyRun) {
      const std::vector<Tensor> feeds = w.defined() ? std::vector<Tensor>{t, p, w} : std::vector<Tensor>{t, p};
      const std::vector<Tensor> found = runOnce(run, feeds, [&](const std::vector<Value> &v) {
        const Value result = loss(v[0], v[1], v.size() > 2 ? v[2] : Value());
        const Value sum = result.rank() == 0 ? result : ops::sum(result);
        return std::vector<Value>{result, gradients(sum, std::vector<Value>{v[1]})[0]};
      });
      CHECK(near(numbers(found[0]), value, 5e-6));
      CHECK(distance(numbers(found[1]), slope) <= 2e-5);
    }
  }
  CHECK(classes.size() == 6);
}
