// fork() while models train: children train too, and exit normally.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace halftone;

namespace {

Sequential net(int64_t units) {
  Sequential model({layers::Input({32}), layers::Dense(units, {.activation = "relu"}), layers::Dense(4)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  return model;
}
bool trains(const Sequential &model) {
  double loss = model.train_on_batch(Tensor::ones({64, 32}), Tensor::zeros({64, 4}))["loss"];
  return std::isfinite(loss);
}
/// The exit code of a child: 0 if f() is true. An alarm kills a child that hangs.
template <class F> int statusOfChild(F f, bool leaves) {
  std::fflush(stdout); // otherwise both processes would write the buffered text
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const int code = f() ? 0 : 1;
    if (leaves)
      _exit(code);
    std::exit(code); // runs the destructors of static objects
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

} // namespace

TEST_CASE("a child trains while its parent's other thread does") {
  Sequential busy = net(512), other = net(64);
  REQUIRE(trains(busy));
  REQUIRE(trains(other));
  std::atomic<bool> stop{false};
  std::atomic<int64_t> steps{0};
  std::thread trainer([&] {
    for (; !stop; ++steps)
      if (!trains(busy))
        break;
  });
  for (int i = 0; i < 12; ++i) {
    CHECK(statusOfChild([&] { return trains(other) && trains(busy); }, true) == 0);
    CHECK(statusOfChild([] { return trains(net(48)); }, i % 2 == 0) == 0); // the child compiles
  }
  const int64_t before = steps;
  while (steps < before + 3) // the parent continues to train
    std::this_thread::yield();
  stop = true;
  trainer.join();
  CHECK(trains(busy));
}

TEST_CASE("parent and child train apart, to the same bits") {
  set_random_seed(3);
  Sequential model = net(256);
  REQUIRE(trains(model));
  int pipes[2];
  REQUIRE(::pipe(pipes) == 0);
  CHECK(statusOfChild(
            [&] {
              for (int i = 0; i < 5; ++i)
                trains(model);
              const std::vector<float> weights = model.get_weights()[0].to_vector<float>();
              return ::write(pipes[1], weights.data(), 1024) == 1024;
            },
            true) == 0);
  std::vector<float> found(256);
  REQUIRE(::read(pipes[0], found.data(), 1024) == 1024);
  for (int i = 0; i < 5; ++i)
    trains(model);
  std::vector<float> own = model.get_weights()[0].to_vector<float>();
  own.resize(256);
  CHECK(own == found);
  ::close(pipes[0]);
  ::close(pipes[1]);
}

TEST_CASE("an epoch that is read ahead stays in the parent, and says so") {
  Dataset data = Dataset(Tensor::ones({64, 4})).batch(4).prefetch(2);
  Dataset::iterator rows = data.begin();
  CHECK(statusOfChild(
            [&] {
              int own = 0;
              for (const Batch &batch : data) // the child runs its own epoch
                own += batch.x.size() == 1;
              try {
                for (int i = 0; i < 16; ++i)
                  ++rows;
              } catch (const Error &error) {
                return own == 16 && error.kind() == ErrorKind::runtime_error;
              }
              return false;
            },
            true) == 0);
  CHECK((*rows).x[0].shape() == Shape{4, 4});
}
