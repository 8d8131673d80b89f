// Recurrent layers beside Keras on JAX and PyTorch, in predict and in a training step; losses must be equal.
// SPDX-License-Identifier: Apache-2.0
//
// recurrent measures LSTM at three sizes and the other layers at one, in about five minutes. recurrent --all measures
// every layer at every size, in about half an hour, and writes results/recurrent-all.json. HALFTONE_BENCH_ONLY selects
// among all rows. Under `taskset -c 0` all libraries run single-threaded.
#include "Exchange.h"
#include "Race.h"
#include "Table.h"
#include <cstdio>
#include <fmt/format.h>
#include <random>
#include <string_view>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int checkedSteps = 5;
constexpr double checkedRate = 10; // of SGD: a loss averaged over all outputs has small gradients

struct Size {
  int64_t batch, steps, features, units;
  std::string text() const { return fmt::format("{} x {} x {} x {}", batch, steps, features, units); }
};

struct LayerKind {
  std::string name; // in rows, and in requests to peers
  Layer (*make)(int64_t units);
};

const std::vector<LayerKind> &layerKinds() {
  static const std::vector<LayerKind> kinds = {
      {"LSTM", [](int64_t units) -> Layer { return layers::LSTM(units, {.return_sequences = true}); }},
      {"GRU", [](int64_t units) -> Layer { return layers::GRU(units, {.return_sequences = true}); }},
      {"SimpleRNN", [](int64_t units) -> Layer { return layers::SimpleRNN(units, {.return_sequences = true}); }},
      {"Bidirectional",
       [](int64_t units) -> Layer { return layers::Bidirectional(layers::LSTM(units, {.return_sequences = true})); }}};
  return kinds;
}

struct Case {
  const LayerKind &layer;
  Size size;
  std::string policy;
  bool trains; // otherwise it predicts
  std::string title() const {
    return fmt::format("{} {}, {}, {}", layer.name, trains ? "train step" : "predict", size.text(), policy);
  }
};

/// Elements of a normal distribution around `mean`, so that no input, state or gradient is subnormal.
Tensor normal(const Shape &shape, float mean) {
  std::mt19937 random(5);
  std::normal_distribution<float> distribution(mean, 1);
  Tensor tensor = Tensor::zeros(shape);
  for (float &value : tensor.mutable_span<float>())
    value = distribution(random);
  return tensor;
}

/// Inputs, and targets for the outputs of all steps. The targets have a nonzero mean, which the checked steps learn.
Batch dataOf(const Case &each, const Model &model) {
  const Size &size = each.size;
  const int64_t outputs = model.outputs()[0].shape()[-1];
  return {normal({size.batch, size.steps, size.features}, 0), normal({size.batch, size.steps, outputs}, 0.5)};
}

Model modelOf(const Case &each, double learningRate) {
  set_random_seed(1);
  set_dtype_policy(each.policy);
  const Sequential model({Input({each.size.steps, each.size.features}), each.layer.make(each.size.units)});
  set_dtype_policy("float32");
  model.compile({.optimizer = optimizers::SGD(learningRate), .loss = losses::MeanSquaredError()});
  return model;
}

/// The losses of the first steps; for prediction, the mean square of the outputs minus the targets.
std::vector<double> lossesOf(const Case &each, const Model &model, const Batch &data) {
  std::vector<double> losses;
  if (each.trains) {
    for (int step = 0; step < checkedSteps; ++step)
      losses.push_back(model.train_on_batch(data.x, data.y)["loss"]);
    return losses;
  }
  const Tensor predicted = model.predict_on_batch(data.x).astype(float32), wanted = data.y[0];
  const std::span<const float> outputs = predicted.span<float>(), targets = wanted.span<float>();
  double sum = 0;
  for (size_t i = 0; i < outputs.size(); ++i)
    sum += (double(outputs[i]) - double(targets[i])) * (double(outputs[i]) - double(targets[i]));
  return {sum / static_cast<double>(outputs.size())};
}

struct Bar {
  double bar;
  std::optional<double> stretch;
};

Bar barOf(const Case &each, const std::string &peer) {
  const int64_t units = each.size.units;
  if (!each.trains)
    return units <= 32 ? Bar{1.2, {}} : Bar{0.95, 1.1};
  if (peer == "PyTorch eager")
    return units <= 32 ? Bar{1.8, 2.3} : Bar{1.1, 1.4};
  return units <= 32 ? Bar{2.0, 2.5} : units < 512 ? Bar{1.2, 1.5} : Bar{1.4, 1.8};
}

using Peers = std::vector<std::unique_ptr<Peer>>;

void compare(Table &table, const Peers &peers, const Case &each) {
  const std::string what = each.title();
  if (!table.wants(what))
    return;
  const Model checked = modelOf(each, checkedRate);
  const Batch data = dataOf(each, checked);
  const Exchange exchange;
  exchange.put(data, checked);
  const std::vector<double> losses = lossesOf(each, checked, data);
  // A learning rate of 0 keeps the gradients constant; training on one batch would make them small.
  std::vector<Contestant> field = {contestant("ours", [&, model = modelOf(each, 0)] {
    if (each.trains)
      model.train_on_batch(data.x, data.y);
    else
      (void)model.predict_on_batch(data.x);
  })};
  // Under mixed_bfloat16 Keras accumulates gradients over steps in bfloat16, while Halftone and PyTorch accumulate in
  // float32.
  const double tolerance = each.policy == "float32" ? 1e-4 : 3e-2;
  const std::string request = fmt::format("prepare {} {} {} {} {}", each.layer.name, each.policy,
                                          each.trains ? checkedSteps : 0, checkedRate, exchange.path());
  std::vector<Row> absent;
  for (const std::unique_ptr<Peer> &peer : peers)
    if (const std::string reason = refusal(*peer, request, losses, tolerance); !reason.empty())
      absent.push_back({what, "", peer->name() + " missing", {}, {}, {}, false, reason});
    else
      field.push_back(
          {peer->name(), [&peer](int times) { return peer->askNumbers(fmt::format("calls {}", times)).at(0); }});
  const std::vector<double> seconds = race(field, 7, 0.15);
  for (size_t i = 1; i < field.size(); ++i) {
    const Bar bar = barOf(each, field[i].name);
    table.add({what, milliseconds(seconds[0]), field[i].name + " " + milliseconds(seconds[i]), seconds[i] / seconds[0],
               bar.bar, bar.stretch});
  }
  for (Row &row : absent) {
    row.ours = milliseconds(seconds[0]);
    table.add(std::move(row));
  }
}

void run(Table &table, bool all) {
  Peers peers;
  for (const char *name : {"Keras on JAX", "PyTorch eager"}) {
    peers.push_back(
        std::make_unique<Peer>(name, "recurrent", std::vector<std::string>{name, std::to_string(coreCount())}));
    table.peer(*peers.back());
  }
  const std::vector<Size> sizes = {{32, 20, 32, 32},  {32, 100, 128, 128}, {32, 50, 512, 512}, {32, 80, 32, 32},
                                   {32, 320, 32, 32}, {64, 100, 256, 256}, {1, 100, 128, 128}};
  for (const LayerKind &layer : layerKinds())
    for (size_t i = 0; i < sizes.size(); ++i) {
      const bool isUsual = layer.name == "LSTM" ? i < 3 : i == 1;
      if (all || isUsual || !table.isWhole())
        for (const char *policy : {"float32", "mixed_bfloat16"})
          for (const bool trains : {false, true})
            compare(table, peers, {layer, sizes[i], policy, trains});
    }
}

} // namespace

int main(int argc, char **argv) {
  const bool all = argc == 2 && std::string_view(argv[1]) == "--all";
  if (argc > 1 && !all) {
    fmt::print(stderr, "usage: recurrent [--all]\n");
    return 2;
  }
  return runProgram(all ? "recurrent-all" : "recurrent", "recurrent layers, batch x steps x features x units",
                    [all](Table &table) { run(table, all); });
}
