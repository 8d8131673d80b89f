// Schedules against closed forms, and in a recorded step.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using schedules::CosineDecay;
using schedules::ExponentialDecay;

TEST_CASE("ExponentialDecay") {
  CHECK(near({ExponentialDecay(0.05, 10, 0.96).at(5)}, {0.05 * std::sqrt(0.96)}, 1e-12));
  ExponentialDecay stairs(0.1, 3, 0.96, {.staircase = true});
  CHECK(near({stairs.at(1), stairs.at(2), stairs.at(100)}, {0.1, 0.1, 0.1 * std::pow(0.96, 33)}, 1e-12));
  CHECK_THAT(errorOf([] { ExponentialDecay(0.1, 0, 0.5); }),
             Contains("ValueError: Argument `decay_steps` must be > 0"));
}

TEST_CASE("CosineDecay, with and without warmup") {
  CosineDecay plain(1.0, 1000), warm(0.0, 10, {.warmup_target = 10.0, .warmup_steps = 1500});
  for (int64_t t = 0; t <= 1250; t += 250) {
    double share = std::min<double>(static_cast<double>(t), 1000) / 1000;
    CHECK(near({plain.at(t)}, {0.5 * (1 + std::cos(std::acos(-1.0) * share))}, 1e-12));
    CHECK(near({warm.at(t)}, {static_cast<double>(t) / 150}, 1e-12));
  }
  CHECK(near({warm.at(1500), warm.at(1505), warm.at(1510), warm.at(9999)}, {10, 5, 0, 0}, 1e-12));
  CHECK(near({CosineDecay(2.0, 10, {.alpha = 0.25}).at(10)}, {0.5}, 1e-12));
}

TEST_CASE("a schedule is asked before each run, with the updates so far") {
  for (Run run : everyRun) {
    std::vector<int64_t> asked;
    optimizers::SGD sgd([&](int64_t step) {
      asked.push_back(step);
      return 1.0 + static_cast<double>(step);
    });
    Variable x = weight(Tensor({0}, {1}));
    auto step = recorded(run, [&](const std::vector<Value> &v) {
      sgd.apply(v, {x});
      return std::vector<Value>{v[0]};
    });
    for (int i = 0; i < 3; ++i)
      step.run({Tensor({1}, {1})});
    CHECK(numbers(x) == std::vector<double>{-6}); // 1 + 2 + 3
    CHECK(asked == std::vector<int64_t>{0, 1, 2});
    CHECK(sgd.learning_rate() == 4.0);
    CHECK(sgd.variables().size() == 1); // no learning rate among them
    CHECK_THAT(errorOf([&] { sgd.set_learning_rate(1.0); }),
               Contains("TypeError: This optimizer was created with a `LearningRateSchedule`"));
  }
}

TEST_CASE("a learning rate that is a number can be set between runs") {
  optimizers::SGD sgd(0.5);
  CHECK(sgd.learning_rate() == 0.5);
  Variable x = weight(Tensor({0}, {1}));
  auto step = recorded(Run::compiled, [&](const std::vector<Value> &v) {
    sgd.apply(v, {x});
    return std::vector<Value>{v[0]};
  });
  step.run({Tensor({1}, {1})});
  sgd.set_learning_rate(0.25);
  step.run({Tensor({1}, {1})});
  CHECK(numbers(x) == std::vector<double>{-0.75});
  CHECK(step.compileCount() == 1);
}
