// The launches, copies and graph updates of a training step on a GPU. Its fetches keep their values.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "runtime/devices/Registry.h"
#include <catch2/catch.hpp>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

using namespace halftone;
using namespace halftone::layers;

namespace {

constexpr int64_t rows = 8, steps = 24;

struct Net {
  std::string name;
  std::function<Model()> make;
  std::vector<int64_t> inputs; // for all steps
  DType dtype;
  int64_t classes, labels; // per example
};

Model mlp() {
  return Sequential({Input({24}), Dense(16, {.activation = "relu"}), Dense(16, {.activation = "relu"}),
                     Dense(5, {.dtype = "float32"})});
}

Model cnn() {
  return Sequential({Input({6, 6, 3}), Conv2D(8, 3, {.padding = Padding::same, .use_bias = false}),
                     BatchNormalization(), Activation("relu"), MaxPooling2D(2), Flatten(),
                     Dense(5, {.dtype = "float32"})});
}

Model gpt() {
  constexpr int64_t length = 8, width = 16;
  const Input tokens({length}, {.dtype = int32});
  Value hidden = Embedding(16, width)(tokens);
  const Value normed = LayerNormalization()(hidden);
  hidden = Add()(Values{hidden, MultiHeadAttention(2, 8)(normed, normed, {.use_causal_mask = true})});
  const Value inner = Dense(32, {.activation = "gelu"})(LayerNormalization()(hidden));
  hidden = Add()(Values{hidden, Dense(width)(inner)});
  return Model(tokens, Dense(16, {.dtype = "float32"})(LayerNormalization()(hidden)));
}

std::vector<Net> nets() {
  return {{"MLP", mlp, {rows * steps, 24}, float32, 5, 1},
          {"CNN", cnn, {rows * steps, 6, 6, 3}, float32, 5, 1},
          {"GPT", gpt, {rows * steps, 8}, int32, 16, 8}};
}

/// Elements that repeat with a prime period; integers below `limit`, or floats around 0.
Tensor data(const std::vector<int64_t> &shape, DType dtype, int64_t limit) {
  int64_t elements = 1;
  for (const int64_t extent : shape)
    elements *= extent;
  std::vector<float> values;
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t drawn = i * 7919 % 1009;
    values.push_back(dtype == int32 ? float(drawn % limit) : float(drawn) / 504.5f - 1.0f);
  }
  return Tensor(values, Shape(shape)).astype(dtype);
}

/// Counters after each step, and the logs of each step, read at once or at the end.
struct Watch : Callback {
  explicit Watch(bool readsAtOnce) : readsAtOnce(readsAtOnce) {}
  bool readsAtOnce;
  std::shared_ptr<DeviceRuntime> device = deviceRuntime(Device::cuda(0)).valueOrThrow();
  std::vector<DeviceCounters> counters;
  std::vector<Logs> logs;
  std::vector<double> values;

  void on_train_batch_end(int64_t, const Logs &given) override {
    counters.push_back(device->counters());
    logs.push_back(given);
    if (readsAtOnce)
      read(given);
  }
  void read(const Logs &given) {
    for (const char *name : {"loss", "accuracy"})
      values.push_back(given[name]);
  }
};

void train(const Net &net, const std::string &policy, Watch &watch) {
  set_random_seed(3);
  const PolicyScope scope(policy);
  const Model model = net.make();
  model.compile({.optimizer = optimizers::Adam(0.01),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"},
                 .device = Device::cuda(0)});
  std::vector<int64_t> labels = {rows * steps};
  if (net.labels > 1)
    labels.push_back(net.labels);
  model.fit(data(net.inputs, net.dtype, net.classes), data(labels, int32, net.classes),
            {.batch_size = rows, .epochs = 1, .verbose = 0, .callbacks = {&watch}, .shuffle = false});
  REQUIRE(watch.counters.size() == steps);
}

/// A step of each net is one graph, which no step changes, and one copy of the values that the step reports.
void checkSteps(const std::string &policy) {
  for (const Net &net : nets()) {
    INFO(net.name << " under " << policy);
    Watch watch(/*readsAtOnce=*/false);
    train(net, policy, watch);
    const DeviceCounters &last = watch.counters.back(), &before = watch.counters[steps - 2];
    std::cout << net.name << " under " << policy << ": " << last.launches - before.launches << " launches, "
              << last.copies - before.copies << " copies\n";
    for (size_t step = 2; step < steps; ++step) { // the first play queues launches, the second makes the graph
      const DeviceCounters &now = watch.counters[step], &then = watch.counters[step - 1];
      CHECK(now.graphLaunches - then.graphLaunches == 1);
      CHECK(now.graphUpdates == then.graphUpdates);
      CHECK(now.copies - then.copies == 1);
      CHECK(now.launches - then.launches == last.launches - before.launches);
    }
    CHECK(last.graphUpdates == watch.counters.front().graphUpdates);
  }
}

} // namespace

TEST_CASE("A training step on a GPU is one graph that no step changes, and one copy of what it reports") {
  checkSteps("float32");
}
TEST_CASE("So is a step with a scaled loss, which may be skipped") { checkSteps("mixed_float16"); }

TEST_CASE("The copies that a step needs on a GPU are one launch, and another of what it reports") {
  set_random_seed(3);
  const Sequential model({Input({24}), Dense(16, {.activation = "relu"}), Dense(1, {.activation = "sigmoid"})});
  // The average of the weights and the counts at thresholds are computed from everything that they replace.
  model.compile({.optimizer = optimizers::SGD(0.01, {.clipnorm = 1.0, .use_ema = true}),
                 .loss = "binary_crossentropy",
                 .metrics = {metrics::AUC(), metrics::Precision()},
                 .device = Device::cuda(0)});
  const Tensor x = data({rows, 24}, float32, 0), y = data({rows, 1}, int32, 2);
  const auto device = deviceRuntime(Device::cuda(0)).valueOrThrow();
  DeviceCounters before;
  for (int step = 0; step < 6; ++step) {
    before = device->counters();
    (void)model.train_on_batch(x, y);
  }
  CHECK(device->counters().copies - before.copies == 2);
  CHECK(device->counters().graphUpdates == before.graphUpdates);
  const std::string plan = model.ir(Stage::plan, {.program = Program::train, .batch_size = rows});
  CHECK(plan.find(": copy s") != plan.npos);
}

TEST_CASE("What a step on a GPU reports keeps its value while later steps run") {
  for (const Net &net : {nets().front(), nets().back()}) {
    INFO(net.name);
    Watch atOnce(true), late(false);
    train(net, "mixed_float16", atOnce);
    train(net, "mixed_float16", late);
    for (const Logs &logs : late.logs)
      late.read(logs);
    CHECK(late.values == atOnce.values);
    CHECK(late.values.front() != late.values.back());
  }
}

TEST_CASE("Outputs on a GPU keep their values, and those of up to 1 MiB change no graph") {
  const DeviceScope scope(Device::cuda(0));
  const auto device = deviceRuntime(Device::cuda(0)).valueOrThrow();
  for (const int64_t count : {1, 200, 5000, 300000}) { // floats: contiguous, alone, and in the tensor itself
    INFO(count);
    const auto f = jit([](const Value &x) { return Values{x * 2.0, ops::sum(x), x + 1.0}; });
    std::vector<Tensors> kept;
    int64_t updates = 0;
    for (int play = 0; play < 6; ++play) {
      kept.push_back(f(Tensor::full({count}, double(play))));
      if (play == 1)
        updates = device->counters().graphUpdates;
    }
    CHECK((device->counters().graphUpdates == updates) == (count * 4 <= int64_t(1) << 20));
    for (int play = 0; play < 6; ++play) {
      const Tensors &outputs = kept[size_t(play)];
      CHECK(outputs[0].to_vector<float>() == std::vector<float>(size_t(count), 2 * float(play)));
      CHECK(outputs[1].to_vector<float>() == std::vector<float>{float(play) * float(count)});
      CHECK(outputs[2].to_vector<float>() == std::vector<float>(size_t(count), float(play) + 1));
    }
  }
}
