// Training and evaluation with each metric, alone and with another one, under each policy in which nets train.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/MetricImpl.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

/// A metric of this class with its required arguments. Classes that are not listed have defaults for all arguments.
Metric metricOf(const std::string &className) {
  static const std::map<std::string, std::string> required = {
      {"IoU", R"("num_classes": 2, "target_class_ids": [1])"},
      {"MeanIoU", R"("num_classes": 2)"},
      {"OneHotIoU", R"("num_classes": 2, "target_class_ids": [1])"},
      {"OneHotMeanIoU", R"("num_classes": 2)"},
      {"PrecisionAtRecall", R"("recall": 0.5)"},
      {"RecallAtPrecision", R"("precision": 0.5)"},
      {"SensitivityAtSpecificity", R"("specificity": 0.5)"},
      {"SpecificityAtSensitivity", R"("sensitivity": 0.5)"}};
  const auto found = required.find(className);
  return metrics::deserialize(Config::parse(R"({"module": "keras.metrics", "class_name": ")" + className +
                                            R"(", "config": {)" + (found == required.end() ? "" : found->second) +
                                            "}}"));
}

struct Data {
  Tensor x, oneHot, labels;
};
Data data() {
  std::vector<float> x, oneHot, labels;
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 3; ++k)
      x.push_back(std::sin(static_cast<float>(7 * i + 3 * k)));
    labels.push_back(static_cast<float>(i % 2));
    oneHot.push_back(static_cast<float>(1 - i % 2));
    oneHot.push_back(static_cast<float>(i % 2));
  }
  return {Tensor(x, {12, 3}), Tensor(oneHot, {12, 2}), Tensor(labels, {12})};
}

/// Trains, validates and evaluates a small net with these metrics. Returns "" if the logs have a value of each.
std::string trained(const std::string &className, bool withAccuracy, bool eagerly) {
  const Data all = data();
  const bool sparse = className.starts_with("Sparse");
  const Tensor y = sparse ? all.labels : all.oneHot;
  std::vector<Metric> chosen;
  if (withAccuracy)
    chosen.emplace_back("accuracy");
  chosen.push_back(metricOf(className));
  set_random_seed(1);
  Sequential model({Input({3}), layers::Dense(2, {.activation = "softmax"})});
  model.compile({.optimizer = optimizers::SGD(0.1),
                 .loss = sparse ? "sparse_categorical_crossentropy" : "categorical_crossentropy",
                 .metrics = MetricSpec(
                     std::vector<std::pair<std::string, std::vector<Metric>>>{{model.layers().back().name(), chosen}}),
                 .run_eagerly = eagerly});
  int64_t batches = 0;
  callbacks::LambdaCallback counter(
      {.on_train_batch_end = [&](int64_t, const Logs &logs) { batches += std::isfinite(logs["loss"]); }});
  const History history = model.fit(
      all.x, y, {.batch_size = 5, .epochs = 2, .verbose = 0, .callbacks = {counter}, .validation_data = {all.x, y}});
  const Logs logs = model.evaluate(all.x, y, {.verbose = 0});
  if (batches != 6 || history["val_loss"].size() != 2 || !std::isfinite(history["loss"].back()))
    return "batches or losses are missing";
  size_t values = 0, total = 0;
  for (const auto &[name, value] : logs)
    values += std::isfinite(value), ++total;
  return values >= (withAccuracy ? 3 : 2) && values == total ? "" : logs.str();
}

void checkAll(const std::string &policy, bool eagerly, const std::vector<std::string> &classes) {
  PolicyScope scope(policy);
  for (const std::string &className : classes)
    for (const bool withAccuracy : {false, true}) {
      CAPTURE(policy, className, withAccuracy);
      if (className == "Mean" || className == "Sum") // metrics of values only
        CHECK_THAT(errorOf([&] { trained(className, withAccuracy, eagerly); }),
                   Contains("it takes no targets and predictions"));
      else
        CHECK(trained(className, withAccuracy, eagerly).empty());
    }
}

} // namespace

TEST_CASE("A model trains and is evaluated with every metric, alone and beside accuracy, under a scaled loss") {
  const std::vector<std::string> classes = detail::metricClasses();
  REQUIRE(classes.size() > 40);
  checkAll("mixed_float16", true, classes);
}

TEST_CASE("A model trains and is evaluated with every metric, alone and beside accuracy, without a loss scale",
          "[full]") {
  for (const char *policy : {"float32", "mixed_bfloat16"})
    checkAll(policy, true, detail::metricClasses());
}

TEST_CASE("Compiled programs fetch metrics with one, two and four variables beside the word of a scaled loss") {
  checkAll("mixed_float16", false, {"TruePositives", "MeanIoU", "AUC"});
}

TEST_CASE("A metric's name that leaves out a required argument is refused with the object to write") {
  for (const std::string &className : detail::metricClasses()) {
    CAPTURE(className);
    const std::string error = errorOf([&] { Metric metric(className); });
    CHECK(
        (error.empty() || error.starts_with("ValueError: The metric '" + className + "' needs arguments that a name")));
  }
  CHECK(errorOf([] { Metric("MeanIoU"); }) == "ValueError: The metric 'MeanIoU' needs arguments that a name does not "
                                              "provide: use the object metrics::MeanIoU(num_classes)");
}

TEST_CASE("A dataset of single samples is refused with the call that batches it") {
  Sequential model({Input({3}), layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const auto samples = [](const Batch &sample) {
    return Dataset::from_generator([sample] {
      return [sample, left = 4]() mutable { return left-- > 0 ? std::optional<Batch>(sample) : std::nullopt; };
    });
  };
  const Tensor x = Tensor::ones({3}), y = Tensor::ones({1}), scalar = Tensor::ones({});
  const auto fitted = [&](const Batch &sample) {
    return errorOf([&] { (void)model.fit(samples(sample), {.verbose = 0}); });
  };
  CHECK_THAT(fitted({{x}, {y}, {}}), Contains("call batch(batch_size) on a Dataset of samples"));
  CHECK_THAT(fitted({{x}, {scalar}, {}}), Contains("call batch(batch_size) on a Dataset of samples"));
  CHECK_THAT(fitted({{x}, {x}, {}}), Contains("call batch(batch_size) on a Dataset of samples"));
  CHECK(errorOf([&] {
          (void)model.fit(samples({{Tensor::ones({2, 3})}, {Tensor::ones({2, 1})}, {}}), {.verbose = 0});
        }).empty());
}
