// Recurrent layers on a GPU: a step is one graph; losses, draws, skipped steps, edits and errors match the CPU's.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/Registry.h"
#include "tests/end_to_end/Mlp.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <dlfcn.h>
#include <limits>
#include <thread>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using halftone::testing::valuesOf;

namespace {

constexpr int64_t samples = 4, features = 3;

Tensor waves(const Shape &shape, double step = 0.7) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(step * static_cast<double>(i) + 0.3));
  return Tensor(values, shape);
}
Tensor series(int64_t steps) { return waves({samples, steps, features}); }
Tensor targets() { return waves({samples, 1}, 0.4); }

void compile(const Model &model, Device device) {
  model.compile({.optimizer = optimizers::Adam(0.01), .loss = "mse", .device = device});
}

Sequential lstm(int64_t steps, Device device, const std::string &policy = "float32") {
  const PolicyScope scope(policy);
  set_random_seed(7);
  const Sequential model({Input({steps, features}), LSTM(8), Dense(1, {.dtype = "float32"})}, {.name = "net"});
  compile(model, device);
  return model;
}

/// Each recurrent layer, with a mask and with dropout.
Sequential everyRecurrent(Device device, const std::string &policy) {
  const PolicyScope scope(policy);
  set_random_seed(9);
  const Sequential model({Input({4, features}), Masking(),
                          Bidirectional(LSTM(2, {.dropout = 0.25, .return_sequences = true})),
                          RNN({LSTMCell(2), GRUCell(3), SimpleRNNCell(2)}, {.return_sequences = true}),
                          TimeDistributed(Sequential({Input({2}), Dense(4), Dropout(0.5), Reshape({2, 2})})),
                          ConvLSTM1D(2, 2, {.padding = "same", .return_sequences = true}), TimeDistributed(Flatten()),
                          GRU(3, {.recurrent_dropout = 0.5, .return_sequences = true, .go_backwards = true}),
                          SimpleRNN(2), Dense(1, {.dtype = "float32"})},
                         {.name = "net"});
  compile(model, device);
  return model;
}

std::vector<double> train(const Model &model, const Tensor &x, int steps) {
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step)
    losses.push_back(model.train_on_batch(x, targets())["loss"]);
  return losses;
}

DeviceCounters countersNow() { return deviceRuntime(Device::cuda(0)).valueOrThrow()->counters(); }

/// A cell without weights, whose state is the sum of its inputs.
struct SummingCell {
  int64_t state_size = features;
  Values call(const Value &x, const Values &states) const { return {ops::tanh(states[0]), states[0] + x}; }
};

/// A layer that halves its input until the largest element is small, at most `most` times.
struct Halved {
  std::optional<int64_t> most;
  Value call(const Value &x) const {
    return ops::while_loop([](const Values &v) { return ops::max(ops::abs(v[0])) > 1e-3; },
                           [](const Values &v) { return Values{v[0] * 0.5}; }, {x}, {.maximum_iterations = most})[0];
  }
};

} // namespace

TEST_CASE("An LSTM's step of training is one graph that no step changes, and the host waits for none") {
  for (const char *policy : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    std::vector<int64_t> launches;
    for (const int64_t length : {20, 40, 80}) {
      INFO(length << " steps under " << policy);
      const Sequential model = lstm(length, Device::cuda(0), policy);
      const Tensor x = series(length), y = targets();
      DeviceCounters before;
      std::vector<Logs> logs; // read at the end
      for (int step = 0; step < 5; ++step) {
        logs.push_back(model.train_on_batch(x, y));
        const DeviceCounters now = countersNow();
        if (step >= 2) {
          CHECK(now.graphLaunches - before.graphLaunches == 1);
          CHECK(now.graphUpdates == before.graphUpdates);
          CHECK(now.waits == before.waits);
        }
        if (step == 4)
          launches.push_back(now.launches - before.launches);
        before = now;
      }
      CHECK(double(logs[4]["loss"]) < double(logs[0]["loss"]));
    }
    CHECK(launches[2] - launches[1] == 2 * (launches[1] - launches[0])); // equally many per step of the series
  }
}

TEST_CASE("Recurrent layers train on a GPU as on the CPU, with the same masks of dropout") {
  for (const auto &[policy, tolerance] : {std::pair("float32", 1e-4), {"float64", 1e-9}, {"mixed_bfloat16", 0.1}}) {
    INFO(policy);
    Tensor x = series(4);
    const Sequential host = everyRecurrent(Device::cpu(), policy), gpu = everyRecurrent(Device::cuda(0), policy);
    const std::vector<double> expected = train(host, x, 6), found = train(gpu, x, 6);
    CHECK(near(found, expected, tolerance));
    CHECK(near(numbers(gpu.predict(x)), numbers(host.predict(x)), 10 * tolerance));
    for (size_t i = 0; i < gpu.variables().size(); ++i)
      if (gpu.variables()[i].path().ends_with("seed_generator_state"))
        CHECK(numbers(gpu.variables()[i]) == numbers(host.variables()[i]));
  }
}

TEST_CASE("A gradient that overflows in a loop on a GPU skips the step, as on the CPU") {
  std::vector<std::vector<double>> scales;
  for (const Device device : {Device::cpu(), Device::cuda(0)}) {
    const Sequential model = lstm(20, device, "mixed_float16");
    const optimizers::LossScaleOptimizer optimizer = *model.loss_scale_optimizer();
    std::vector<double> &seen = scales.emplace_back();
    const auto step = [&](const Tensor &x) {
      (void)model.train_on_batch(x, targets());
      const auto state = optimizer.state();
      seen.insert(seen.end(), {state.scale, double(state.skipped_steps), double(optimizer.iterations())});
    };
    const Tensor x = series(20);
    std::vector<float> bad = x.to_vector<float>();
    bad[100] = std::numeric_limits<float>::infinity(); // the overflow is in a step in the middle
    for (int round = 0; round < 2; ++round) {
      step(x);
      step(x);
      const auto weights = valuesOf(model.variables());
      step(Tensor(bad, x.shape()));
      CHECK((valuesOf(model.variables()) == weights));
      CHECK(optimizer.state().skipped_steps == round + 1);
      step(x);
      CHECK((valuesOf(model.variables()) != weights));
    }
  }
  CHECK(scales[0] == scales[1]);
}

TEST_CASE("Models with loops that share a GPU compute what each computes alone") {
  const auto make = [](int number) { return lstm(10 + number, Device::cuda(0)); }; // draws with the seed of the process
  const auto run = [](const Model &model, int number) {
    std::vector<double> losses = train(model, series(10 + number), 6);
    const auto halve = jit([](const Value &x) { return Halved{}.call(x); }, {.device = Device::cuda(0)});
    for (int i = 0; i < 3; ++i)
      losses.push_back(halve(Tensor::full({16}, 1e30 * (number + 1))).to_vector<float>()[0]);
    return losses;
  };
  std::vector<std::vector<double>> alone, together(3);
  std::vector<Model> models;
  for (int number = 0; number < 3; ++number) {
    alone.push_back(run(make(number), number));
    models.push_back(make(number));
  }
  std::vector<std::thread> threads;
  for (size_t number = 0; number < 3; ++number)
    threads.emplace_back([&, number] { together[number] = run(models[number], static_cast<int>(number)); });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(together == alone);
}

TEST_CASE("What is edited after a compile holds in the next step on a GPU") {
  std::vector<std::vector<double>> seen;
  for (const Device device : {Device::cpu(), Device::cuda(0)}) {
    set_random_seed(3);
    const GRU gru(4, {.stateful = true});
    const Sequential model({Input({none, features}, {.batch_size = samples}), gru, Dense(1)}, {.name = "net"});
    compile(model, device);
    std::vector<double> &found = seen.emplace_back();
    const auto append = [&](const std::vector<double> &values) {
      found.insert(found.end(), values.begin(), values.end());
    };
    append(train(model, series(5), 4));
    append(train(model, series(2), 3)); // another sequence length
    append(train(model, series(5), 2));
    for (const Variable &weight : model.trainable_variables())
      weight.assign(weight.value() * 0.5);
    append(train(model, series(5), 3));
    gru.reset_state();
    append(train(model, series(5), 3));
    gru.set_trainable(false);
    compile(model, device);
    append(train(model, series(5), 4));
    append(numbers(model.predict(series(7))));
  }
  CHECK(near(seen[1], seen[0], 1e-4));
}

TEST_CASE("The states of a stateful layer follow the functions that use them from device to device") {
  std::vector<std::vector<double>> seen;
  for (const std::vector<Device> &devices :
       {std::vector(3, Device::cpu()), {Device::cuda(0), Device::cpu(), Device::cuda(0)}}) {
    set_random_seed(3);
    const RNN sums(Custom(SummingCell{}), {.return_sequences = true, .stateful = true}); // a cell without weights
    const SimpleRNN simple(2, {.stateful = true});
    const Sequential model({Input({4, features}, {.batch_size = samples}), sums, simple, Dense(1)}, {.name = "net"});
    std::vector<double> &found = seen.emplace_back();
    for (const Device device : devices) {
      compile(model, device);
      for (const double loss : train(model, series(4), 2))
        found.push_back(loss);
      // A function of the states alone runs on their device.
      const auto twice = jit([&] { return Values{sums.states()[0] * 2.0, simple.states()[0] * 2.0}; });
      for (const Tensor &each : twice()) {
        CHECK(each.device() == device);
        for (const double number : numbers(each.to(Device::cpu())))
          found.push_back(number);
      }
    }
  }
  CHECK(near(seen[1], seen[0], 1e-4));
}

TEST_CASE("The host waits for no while of at most 64 steps in a model on a GPU") {
  for (const std::optional<int64_t> most : {std::optional<int64_t>(64), {}}) {
    INFO((most ? "at most 64 steps" : "any number of steps"));
    const Sequential model({Input({16}), Custom(Halved{most})});
    const Tensor x = Tensor::full({8, 16}, 1e10); // 44 steps
    const Tensor expected = model.predict(x);
    const DeviceScope scope(Device::cuda(0));
    const auto halve = jit([&](const Value &v) { return Halved{most}.call(v); });
    const Tensor feed = x.to(Device::cuda(0));
    std::vector<Tensor> found;
    for (int play = 0; play < 3; ++play) {
      const DeviceCounters before = countersNow();
      found.push_back(halve(feed));
      const DeviceCounters now = countersNow();
      if (most)
        CHECK(now.waits == before.waits);
      CHECK(now.launches - before.launches <= 2 * 64 + 2 * 48 + 4);
    }
    for (const Tensor &each : found)
      CHECK(numbers(each.to(Device::cpu())) == numbers(expected));
  }
}

TEST_CASE("A step of a loop that the driver refuses is one exception, and the next step trains") {
  void *const driver = dlopen(std::getenv("HALFTONE_CUDA_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(driver != nullptr);
  auto *const failCall = reinterpret_cast<void (*)(const char *, uint64_t, int)>(dlsym(driver, "halftoneEmulatorFail"));
  if (!failCall) {
    WARN("skipped: HALFTONE_CUDA_DRIVER names another driver than the emulated one, which returns errors where asked");
    return;
  }
  const Tensor x = series(20);
  for (const auto &[call, nth, played] : {std::tuple("cuLaunchKernel", 50, 0),
                                          {"cuGraphAddKernelNode_v2", 60, 1},
                                          {"cuGraphInstantiateWithFlags", 1, 1},
                                          {"cuGraphLaunch", 1, 2}}) {
    INFO(call);
    const Sequential model = lstm(20, Device::cuda(0));
    (void)model.predict(x);
    train(model, x, played);
    failCall(call, static_cast<uint64_t>(nth), 999);
    CHECK_THAT(errorOf([&] { train(model, x, 1); }),
               Catch::StartsWith("DeviceError") && Catch::Contains("CUDA_ERROR_UNKNOWN"));
    failCall(call, 0, 0);
    const std::vector<double> losses = train(model, x, 4);
    CHECK(losses.back() < losses.front());
  }
}
