// Counts at thresholds: edge cases that the recorded Keras rows lack, and metrics inside compiled programs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/Thresholds.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("A prediction on a threshold is not above it, among even thresholds and among others") {
  const Tensor t({1, 1, 1, 1, 1}, {5}), p({0, 0.25, 0.5, 0.75, 1}, {5});
  for (const Numbers &thresholds : {Numbers{0.0, 0.25, 0.5, 0.75, 1.0}, Numbers{0.0, 0.25, 0.5, 0.75, 0.875}}) {
    const metrics::TruePositives positives({.thresholds = thresholds});
    positives.update_state(t, p);
    const double last = thresholds.list().back() == 1.0 ? 0 : 1;
    CHECK(positives.results() == std::vector<double>{4, 3, 2, 1, last});
  }
  CHECK(detail::areEven({0.0, 0.5, 1.0}));
  CHECK_FALSE(detail::areEven({0.0, 1.0})); // Keras requires three
  CHECK_FALSE(detail::areEven({0.0, 0.4, 1.0}));
}

TEST_CASE("More thresholds than a literal holds are compared one by one") {
  std::vector<double> thresholds;
  for (int i = 0; i < 150; ++i)
    thresholds.push_back(0.5 + i / 1000.0);
  const metrics::TruePositives positives({.thresholds = Numbers(thresholds)});
  positives.update_state(Tensor({1}, {1}), Tensor({0.57049}, {1}));
  std::vector<double> expected(150, 0.0);
  std::fill_n(expected.begin(), 71, 1.0); // 0.5, ..., 0.57
  CHECK(positives.results() == expected);
}

TEST_CASE("Thresholds and classes without end are refused before memory is taken") {
  const std::string fields = R"(","config":{"num_thresholds":4000000000000}})",
                    classes = R"(","config":{"num_classes":3000000}})";
  CHECK_THAT(errorOf([&] { (void)metrics::deserialize(Config::parse(R"({"class_name":"AUC)" + fields)); }),
             Contains("RuntimeError: the state of metric 'auc"));
  CHECK_THAT(errorOf([&] { (void)metrics::deserialize(Config::parse(R"({"class_name":"MeanIoU)" + classes)); }),
             Contains("RuntimeError: the state of metric 'mean_io_u"));
}

TEST_CASE("Batches of no samples and of one sample are counted") {
  const metrics::AUC area;
  area.update_state(Tensor::zeros({0, 3}), Tensor::zeros({0, 3}));
  CHECK(area.result() == 0.0);
  const metrics::Recall recall;
  recall.update_state(Tensor::zeros({0}), Tensor::zeros({0}));
  CHECK(recall.result() == 0.0);
  recall.update_state(Tensor({1}, {1}), Tensor({0.75}, {1}));
  CHECK(recall.result() == 1.0);
}

TEST_CASE("top_k keeps the first of equal predictions") {
  const metrics::TruePositives all;
  const metrics::Recall top({.top_k = 2});
  top.update_state(Tensor({1, 1, 1, 1}, {1, 4}), Tensor({0.5, 0.25, 0.5, 0.5}, {1, 4}));
  CHECK(top.result() == 0.5);
  top.reset_state();
  top.update_state(Tensor({0, 0, 0, 1}, {1, 4}), Tensor({0.5, 0.25, 0.5, 0.5}, {1, 4}));
  CHECK(top.result() == 0.0);
}

TEST_CASE("Shapes and classes that do not fit are refused") {
  const Tensor row = Tensor::zeros({2, 3}), vector = Tensor::zeros({2});
  CHECK_THAT(errorOf([&] { metrics::Precision().update_state(row, Tensor::zeros({2, 4})); }),
             Contains("must have the same shape"));
  CHECK_THAT(errorOf([&] { metrics::Precision({.class_id = 3}).update_state(row, row); }),
             Contains("ValueError: `class_id` is out of range. Received: class_id=3, y_pred.shape=(2, 3)"));
  CHECK_THAT(errorOf([&] { metrics::Precision({.class_id = 0}).update_state(vector, vector); }),
             Contains("When class_id is provided, y_pred must be a 2D array"));
  CHECK_THAT(errorOf([&] { metrics::Precision({.top_k = 4}).update_state(row, row); }),
             Contains("`top_k` must be from 1 to the extent of the last axis"));
  CHECK_THAT(errorOf([&] { metrics::Precision().update_state(row, row, Tensor::zeros({5})); }), Contains("ValueError"));
  for (const double bad : {-0.25, 1.25, static_cast<double>(NAN)})
    CHECK_THAT(errorOf([&] { metrics::Recall({.thresholds = bad}); }), Contains("Threshold values must be in [0, 1]"));
}

TEST_CASE(
    "In fit() and evaluate() metrics count what they count in predictions, one entry of the logs for each number") {
  Sequential model({Input({3}), layers::Dense(4, {.activation = "relu"}), layers::Dense(1, {.activation = "sigmoid"})});
  const metrics::Precision several({.thresholds = {0.25, 0.5, 0.75}, .name = "several"});
  const metrics::AUC area;
  model.compile({.optimizer = "sgd",
                 .loss = "bce",
                 .metrics = {several, metrics::BinaryIoU({1}, {.threshold = 0.25, .name = "union"})},
                 .weighted_metrics = {area, "Recall"}});
  const Tensor x = (counted({12, 3}) / 36.0f), y({1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1}, {12, 1});
  const Tensor w = counted({12}) / 4.0f;
  const History history = model.fit(x, y, {.batch_size = 5, .epochs = 2, .verbose = 0, .sample_weight = w});
  CHECK(history["several[0]"].size() == 2);
  const Logs logs = model.evaluate(x, y, {.batch_size = 5, .verbose = 0, .sample_weight = w});
  const Tensor p = model.predict(x, {.verbose = 0});
  const metrics::Precision expected({.thresholds = {0.25, 0.5, 0.75}});
  expected.update_state(y, p);
  for (size_t i = 0; i < 3; ++i)
    CHECK(near({logs[fmt::format("several[{}]", i)]}, {expected.results()[i]}));
  const metrics::AUC expectedArea;
  expectedArea.update_state(y, p, w);
  CHECK(near({logs[area.name()]}, {expectedArea.result()}));
  const metrics::Recall recall;
  recall.update_state(y, p, w);
  CHECK(near({logs["Recall"]}, {recall.result()}));
  const metrics::BinaryIoU both({1}, {.threshold = 0.25});
  both.update_state(y, p);
  CHECK(near({logs["union"]}, {both.result()}));
  CHECK(both.result() > 0.0);
}

TEST_CASE("Metrics of one name get different names in the logs, as in Keras") {
  Sequential model({Input({2}), layers::Dense(1)});
  model.compile(
      {.optimizer = "sgd", .loss = "mse", .metrics = {"mae", "mae", "mape"}, .weighted_metrics = {"mae", "mae"}});
  const Tensor x = counted({4, 2}), y = counted({4, 1}), w = counted({4});
  const Logs logs = model.evaluate(x, y, {.verbose = 0, .sample_weight = w});
  std::vector<std::string> names;
  for (const auto &[name, value] : logs)
    names.push_back(name);
  CHECK(names == std::vector<std::string>{"loss", "mae", "mae_1", "mape", "weighted_mae", "weighted_mae_1"});
  CHECK(logs["mae"] == logs["mae_1"]);
  CHECK(logs["mae"] != logs["weighted_mae"]);
}
