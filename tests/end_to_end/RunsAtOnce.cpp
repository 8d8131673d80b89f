// Concurrent runs of one model: on threads, and within a callback of another run.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "runtime/base/Threads.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace halftone;
using namespace halftone::layers;

namespace {

Tensor waves(const Shape &shape) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i));
  return Tensor(std::move(values), shape);
}
const Tensor x = waves({64, 8}), y = Tensor::ones({64, 1});

Sequential net(bool eager = false, double rate = 0.0) {
  Sequential model({Input({8}), Dense(16, {.activation = "relu"}), Dense(1)});
  model.compile({.optimizer = optimizers::SGD(rate),
                 .loss = "mse",
                 .metrics = {"mae"},
                 .run_eagerly = eager,
                 .jit_compile = !eager});
  return model;
}
/// Runs f() on `count` threads concurrently.
template <class F> void atOnce(int count, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&f, i] { f(i); });
  for (std::thread &thread : threads)
    thread.join();
}
struct EvaluateInside : Callback {
  void on_train_batch_end(int64_t, const Logs &) override {
    const Model own = model();
    (void)own.evaluate(x.slice(0, 8), y.slice(0, 8), {.verbose = 0});
    (void)own.test_on_batch(x.slice(0, 3), y.slice(0, 3));
  }
};

} // namespace

TEST_CASE("Threads that evaluate one model get the values that one thread gets") {
  for (const bool eager : {false, true}) {
    const Sequential model = net(eager);
    const Logs right = model.evaluate(x, y, {.batch_size = 8, .verbose = 0});
    std::atomic<int> wrong{0};
    atOnce(4, [&](int thread) {
      for (int i = 0; i < (eager ? 3 : 60); ++i) {
        const Logs got = model.evaluate(x, y, {.batch_size = thread % 2 ? 8 : 4, .verbose = 0});
        wrong += !(std::abs(got["mae"] - right["mae"]) < 1e-5 && std::abs(got["loss"] - right["loss"]) < 1e-5);
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("Threads that call test_on_batch() get the values of their own batches") {
  const Sequential model = net();
  std::vector<double> right;
  for (int64_t i = 0; i < 4; ++i)
    right.push_back(model.test_on_batch(x.slice(16 * i, 16 * i + 16), y.slice(0, 16))["mae"]);
  std::atomic<int> wrong{0};
  atOnce(4, [&](int64_t i) {
    for (int k = 0; k < 60; ++k)
      wrong +=
          model.test_on_batch(x.slice(16 * i, 16 * i + 16), y.slice(0, 16))["mae"] != right[static_cast<size_t>(i)];
  });
  CHECK(wrong == 0);
}

TEST_CASE("evaluate() in a callback of fit() does not change the logs of the epoch") {
  const Sequential model = net();
  const FitArgs plain{.batch_size = 16, .epochs = 2, .verbose = 0, .shuffle = false};
  FitArgs with = plain;
  with.callbacks = {EvaluateInside()};
  const History alone = model.fit(x, y, plain), watched = model.fit(x, y, with);
  for (const char *name : {"loss", "mae"})
    CHECK(alone[name] == watched[name]);
}

TEST_CASE("After evaluate() a metric holds the result, as in Keras") {
  const metrics::MeanAbsoluteError metric;
  Sequential model({Input({8}), Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {metric}});
  const Logs logs = model.evaluate(x, y, {.verbose = 0});
  CHECK(metric.result() == Approx(logs["mean_absolute_error"]));
}

TEST_CASE("Two functions that call each other while two threads trace them give Errors, and other calls work on") {
  const Tensor one = Tensor::ones({1});
  std::function<Tensor(const Tensor &)> f, g;
  std::atomic<int> traced{0}, refused{0};
  const auto meet = [&] {
    for (++traced; traced < 2;)
      std::this_thread::yield();
  };
  const auto jittedF = jit([&](const Value &v) {
    meet();
    return v + constant(g(one));
  });
  const auto jittedG = jit([&](const Value &v) {
    meet();
    return v + constant(f(one));
  });
  f = [&](const Tensor &t) { return jittedF(t); };
  g = [&](const Tensor &t) { return jittedG(t); };
  atOnce(2, [&](int i) {
    try {
      (void)(i ? f : g)(one);
    } catch (const Error &) {
      ++refused;
    }
  });
  CHECK(refused == 2);
  g = [](const Tensor &t) { return t; };
  CHECK(f(one).to_vector<float>()[0] == 2.0f);
}

TEST_CASE("Several threads may fork inside functions that are being traced, while others wait there") {
  std::atomic<int> good{0}, inside{0};
  std::atomic<bool> haveForked{false};
  std::thread waiting([&] {
    (void)jit([&](const Value &v) {
      for (++inside; !haveForked;)
        std::this_thread::yield();
      return v + 1.0;
    })(x);
  });
  atOnce(3, [&](int) {
    (void)jit([&](const Value &v) {
      for (++inside; inside < 4;)
        std::this_thread::yield();
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        _exit(jit([](const Value &w) { return w * 2.0; })(Tensor::ones({1})).to_vector<float>()[0] == 2.0f ? 0 : 1);
      }
      int status = -1;
      good += ::waitpid(child, &status, 0) == child && status == 0;
      return v + 1.0;
    })(x);
  });
  haveForked = true;
  waiting.join();
  CHECK(good == 3);
}

TEST_CASE("A model compiles and trains if the system starts no thread") {
  const ThreadLimit none(0);
  Sequential model({Input({8}), Dense(23, {.activation = "tanh"}), Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  const History history = model.fit(Dataset(x, y).batch(16).prefetch(2), {.epochs = 2, .verbose = 0});
  CHECK(history["loss"][1] < history["loss"][0]);
}
