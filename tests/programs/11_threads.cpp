// Threads that share a model from its first call on: they train, evaluate, predict, save, read (docs/threads.md).
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cmath>
#include <functional>
#include <halftone/Halftone.h>
#include <iostream>
#include <thread>
using namespace halftone;
using namespace halftone::layers;

/// What threads may do with one model concurrently.
static std::vector<std::function<void()>> jobs(const Sequential &model) {
  const Tensor x = Tensor::ones({16, 8}), y = Tensor::zeros({16, 3});
  return {
      [=] { model.fit(x, y, {.epochs = 2, .verbose = 0}); },
      [=] { model.fit(x, y, {.epochs = 2, .verbose = 0}); },
      [=] { (void)model.train_on_batch(x, y); },
      [=] { (void)model.evaluate(x, y, {.verbose = 0}); },
      [=] { (void)model.predict(x, {.verbose = 0}); },
      [=] { (void)model(x); },
      [=] { model.set_weights(model.get_weights()); },
      [=] { model.save("net.keras"); },
      [=] { Checkpoint(model).save("net.ckpt"); },
      [=] { (void)model.summary().text(); },
      [=] { (void)model.cast_ledger(); },
      [=] { (void)model.ir(Stage::cast); },
  };
}

int main() {
  std::atomic<int> errors = 0;
  int unsound = 0;
  for (int round = 0; round < 5; ++round) {
    const Sequential model(
        {Input({8}), Dense(16, {.activation = "relu"}), BatchNormalization(), Dropout(0.1), Dense(3)});
    model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
    std::vector<std::thread> threads;
    for (const std::function<void()> &job : jobs(model))
      threads.emplace_back([&errors, job] {
        try {
          for (int call = 0; call < 3; ++call)
            job();
        } catch (const Error &error) {
          ++errors;
          std::cout << error.what() << "\n";
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    for (const Tensor &weight : model.get_weights())
      for (const float value : weight.to_vector<float>())
        unsound += !(std::abs(value) < 100);
    // Every step counts: two in each fit, one in each train_on_batch.
    const int64_t updates = model.optimizer().iterations();
    unsound += updates != 2 * 3 * 2 + 3;
    unsound += load_model("net.keras").predict(Tensor::ones({1, 8}), {.verbose = 0}).shape() != Shape{1, 3};
    unsound += Checkpoint(model).restore("net.ckpt").step > updates;
  }
  std::cout << errors << " errors, " << unsound << " unsound values\n";
  return errors + unsound == 0 ? 0 : 1;
}
