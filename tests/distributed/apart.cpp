// Processes that begin alike and then diverge: each case is a separate run that must end with an error; joined losses.
// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/Ranks.h"
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <string>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::layers;

namespace {

bool isOther() { return distribution::rank() == distribution::size() - 1; }

Tensor wave(const Shape &shape, double step, double phase) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(static_cast<double>(i) * step + phase));
  return Tensor(values, shape);
}
const Tensor &xs() {
  static const Tensor all = wave({16, 3}, 0.3, 0);
  return all;
}
const Tensor &ys() {
  static const Tensor all = wave({16, 1}, 0.7, 1);
  return all;
}
Sequential modelOf(const LearningRate &rate = 0.1) {
  utils::clear_session();
  Sequential model({Input({3}), Dense(4, {.activation = "tanh"}), Dense(1)});
  model.compile({.optimizer = optimizers::SGD(rate), .loss = "mse"});
  return model;
}
Dataset generated(int64_t batches, int64_t rows) {
  return Dataset::from_generator([=] {
    return [=, left = batches]() mutable -> std::optional<Batch> {
      if (left-- == 0)
        return std::nullopt;
      return Batch{Tensor::ones({rows, 3}), Tensor::ones({rows, 1}), {}};
    };
  });
}

/// Calls a function in the last process at the end of a batch or of an epoch.
struct Acting : Callback {
  std::function<void(const Model &)> atBatch, atEpoch;
  void on_train_batch_end(int64_t batch, const Logs &) override {
    if (isOther() && atBatch && batch == 0)
      atBatch(model());
  }
  void on_epoch_end(int64_t epoch, Logs &) override {
    if (isOther() && atEpoch && epoch == 0)
      atEpoch(model());
  }
};
void fit(const Model &model, std::function<void(const Model &)> atBatch,
         std::function<void(const Model &)> atEpoch = {}) {
  Acting acting;
  acting.atBatch = std::move(atBatch);
  acting.atEpoch = std::move(atEpoch);
  model.fit(xs(), ys(), {.batch_size = 8, .epochs = 3, .verbose = 0, .callbacks = {&acting}});
}
void setOnes(const Model &model) { model.weights().at(0).assign(Tensor::ones({3, 4})); }

const std::map<std::string, std::function<void()>> programs{
    {"rate",
     [] {
       modelOf([](int64_t step) {
         return isOther() && step > 0 ? 0.2 : 0.1;
       }).fit(xs(), ys(), {.batch_size = 8, .verbose = 0});
     }},
    {"scheduler",
     [] {
       const auto rate = [](int64_t epoch, double rate) { return isOther() && epoch == 1 ? 0.5 * rate : rate; };
       modelOf().fit(xs(), ys(), {.epochs = 3, .verbose = 0, .callbacks = {callbacks::LearningRateScheduler(rate)}});
     }},
    {"set_rate", [] { fit(modelOf(), [](const Model &model) { model.optimizer().set_learning_rate(0.5); }); }},
    {"set_weights", [] { fit(modelOf(), setOnes); }},
    {"batch_weights",
     [] {
       const Sequential model = modelOf();
       model.train_on_batch(xs(), ys());
       if (isOther())
         setOnes(model);
       model.train_on_batch(xs(), ys());
     }},
    {"stop_in_batch", [] { fit(modelOf(), [](const Model &model) { model.stop_training(); }); }},
    {"stop_in_epoch", [] { fit(modelOf(), {}, [](const Model &model) { model.stop_training(); }); }},
    {"frozen",
     [] { fit(modelOf(), [](const Model &model) { model.layers().at(0).set_dtype_policy("mixed_bfloat16"); }); }},
    {"rows", [] { modelOf().fit(generated(2, isOther() ? 6 : 8), {.verbose = 0}); }},
    {"length", [] { modelOf().fit(generated(isOther() ? 2 : 3, 8), {.verbose = 0}); }},
    {"test_length", [] { modelOf().evaluate(generated(isOther() ? 2 : 3, 8), {.verbose = 0}); }},
    {"batch_rows",
     [] {
       const Sequential model = modelOf();
       model.train_on_batch(xs(), ys());
       model.train_on_batch(isOther() ? xs().slice(0, 12) : xs(), isOther() ? ys().slice(0, 12) : ys());
     }},
    {"batch_models",
     [] {
       utils::clear_session();
       Sequential a({Input({3}), Dense(1)}), b({Input({3}), Dense(1)});
       for (const Sequential &model : {a, b})
         model.compile({.optimizer = "sgd", .loss = "mse"});
       (isOther() ? b : a).train_on_batch(xs(), ys());
       (isOther() ? a : b).train_on_batch(xs(), ys());
     }},
    {"barrier_fit",
     [] {
       const Sequential model = modelOf();
       isOther() ? distribution::barrier() : (void)model.fit(xs(), ys(), {.verbose = 0});
     }},
    {"evaluate_fit",
     [] {
       const Sequential model = modelOf();
       isOther() ? (void)model.evaluate(xs(), ys(), {.verbose = 0}) : (void)model.fit(xs(), ys(), {.verbose = 0});
     }},
    {"predict_fit",
     [] {
       const Sequential model = modelOf();
       isOther() ? (void)model.predict(xs(), {.verbose = 0}) : (void)model.fit(xs(), ys(), {.verbose = 0});
     }},
    {"label_row", // all processes name the row in the whole batch
     [] {
       utils::clear_session();
       Sequential model({Input({3}), Dense(3)});
       model.compile({.optimizer = "sgd", .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
       std::vector<int32_t> labels(16, 1);
       labels[15] = 7;
       model.fit(Dataset(xs(), Tensor(labels, {16})).batch(16), {.verbose = 0});
     }},
};

struct Joined {
  std::string name;
  Loss loss;
  Tensor target;
  Tensors weight{};
};

/// Losses and metrics whose result is not one row per row of the batch, or whose rows depend on each other: 7 rows in
/// batches of 4, in one process and in all processes together.
bool joined(const distribution::DataParallel &all) {
  const Tensor x = wave({7, 4}, 0.31, 0), classes = Tensor::of<int32_t>({0, 1, 0, 1, 0, 1, 1}, {7}),
               y = Tensor::of<float>({1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0}, {7, 2}),
               mixed = Tensor::of<float>({1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1, -1, 0}, {7, 2}),
               weight = Tensor::of<float>({1, 2, 3, 1, 2, 3, 0.5}, {7});
  const auto root = [](const Value &t, const Value &p) { return ops::sqrt(ops::mean(ops::square(t - p))); };
  const auto columns = [](const Value &t, const Value &p) { return ops::mean(ops::abs(t - p), 0); };
  const std::vector<Joined> cases{
      {"Dice", losses::Dice(), y},
      {"Dice of columns", losses::Dice({.axis = Axes{0}}), y},
      {"Dice of rows", losses::Dice({.axis = Axes{-1}}), y, weight},
      {"Tversky", losses::Tversky({.alpha = 0.3, .reduction = Reduction::sum}), y},
      {"Circle", losses::Circle(), classes, weight},
      {"Circle, summed", losses::Circle({.reduction = Reduction::sum}), classes},
      {"Hinge", losses::Hinge(), mixed, weight},
      {"SquaredHinge", losses::SquaredHinge(), y},
      {"CosineSimilarity of columns", losses::CosineSimilarity(0), y},
      {"CategoricalCrossentropy of columns", losses::CategoricalCrossentropy({.axis = 0}), y},
      {"a scalar function", root, y},
      {"a function of columns", columns, y},
      {"MeanSquaredError", losses::MeanSquaredError(), y, weight},
  };
  bool right = true;
  for (const Joined &each : cases) {
    std::vector<double> values[2];
    for (const bool together : {false, true}) {
      distribution::set_distribution(together ? std::optional(all) : std::nullopt);
      utils::clear_session();
      set_random_seed(3);
      Sequential model({Input({4}), Dense(2, {.activation = "softmax"})});
      std::vector<Metric> metrics;
      if (each.target.shape().rank() == 2)
        metrics = {Metric(root), Metric(columns, {.name = "columns"}), "hinge", metrics::CosineSimilarity({.axis = 0}),
                   "mae"};
      model.compile({.optimizer = optimizers::SGD(0.05), .loss = each.loss, .metrics = metrics});
      const History history = model.fit(
          x, each.target, {.batch_size = 4, .epochs = 3, .verbose = 0, .shuffle = false, .sample_weight = each.weight});
      for (const std::string &key : history.keys())
        for (double value : history[key])
          values[together].push_back(value);
      for (const auto &[name, value] : model.evaluate(x, each.target, {.verbose = 0}))
        values[together].push_back(value);
      for (const Tensor &value : model.get_weights())
        for (float element : value.to_vector<float>())
          values[together].push_back(element);
    }
    for (size_t i = 0; i < values[0].size(); ++i)
      if (!(std::abs(values[0][i] - values[1].at(i)) < 2e-4 * (1 + std::abs(values[0][i])))) {
        say(fmt::format("error {}: value {} is {} together, {} alone", each.name, i, values[1][i], values[0][i]));
        right = false;
      }
    say(each.name);
  }
  return right;
}

} // namespace

int main(int argc, char **argv) {
  const distribution::DataParallel all;
  try {
    distribution::set_distribution(all);
    set_output([](std::string_view) {});
    if (const std::string what = argv[1]; what == "joined")
      return joined(all) ? 0 : 1;
    else if (what == "names")
      for (const auto &[name, program] : programs)
        say(name);
    else
      programs.at(what)();
    say("ended");
  } catch (const Error &error) {
    say(std::string("error ") + error.what());
    return 3;
  }
}
