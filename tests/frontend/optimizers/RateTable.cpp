// A step looks up the rate of a Halftone schedule on its device, with exactly the rate of the host function.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/RateTable.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <limits>
#include <thread>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::schedules;

namespace {

struct Case {
  const char *name;
  LearningRate rate;
};
const std::vector<Case> &cases() {
  static const std::vector<Case> all = {
      {"exponential", ExponentialDecay(0.1, 70, 0.93)},
      {"exponential in stairs", ExponentialDecay(0.1, 70, 0.93, {.staircase = true})},
      {"inverse time", InverseTimeDecay(0.1, 30, 0.5)},
      {"inverse time in stairs", InverseTimeDecay(0.1, 30, 0.5, {.staircase = true})},
      {"cosine", CosineDecay(0.1, 800, {.alpha = 0.05})},
      {"cosine with warmup", CosineDecay(0.01, 500, {.warmup_target = 0.2, .warmup_steps = 150})},
      {"restarts", CosineDecayRestarts(0.1, 90)},
      {"growing restarts", CosineDecayRestarts(0.1, 50, {.t_mul = 1.7, .m_mul = 0.8, .alpha = 0.01})},
      {"polynomial", PolynomialDecay(0.1, 700, {.end_learning_rate = 0.001, .power = 1.7})},
      {"cycles", PolynomialDecay(0.1, 90, {.end_learning_rate = 0.001, .power = 0.5, .cycle = true})},
      {"pieces", PiecewiseConstantDecay({100, 255, 256, 600}, {1.0, 0.5, 0.25, 0.1, 0.05})},
  };
  return all;
}

/// Steps of plain SGD on a scalar with a fed gradient. A step subtracts the rate times the gradient.
struct Steps {
  optimizers::SGD sgd;
  Variable x = weight(Tensor({0}, {1}));
  detail::CompiledFunction step;
  Steps(const LearningRate &rate, Run run, int updates = 1)
      : sgd(rate), step(recorded(run, [=, this](const std::vector<Value> &v) {
          for (int i = 0; i < updates; ++i)
            sgd.apply(v, {x});
          return std::vector<Value>{v[0]};
        })) {}
  /// The rate of one step, exact because the weight is 0 before it.
  float next() {
    x.assign(Tensor({0}, {1}));
    step.run({Tensor({-1}, {1})});
    return x.value().item<float>();
  }
};

/// 1 at even steps, 0 at odd ones. A schedule that is a class, so a table supplies its rates.
struct Alternating final : LearningRate {
  static double at(int64_t step) { return step % 2 == 0 ? 1.0 : 0.0; }
  Alternating() : LearningRate("Alternating", {}, at) {}
};

} // namespace

TEST_CASE("each of 1000 steps has the rate that the host's function gives, to the bit") {
  for (const Case &c : cases()) {
    CAPTURE(c.name);
    Steps steps(c.rate, Run::compiled);
    std::vector<float> seen, expected;
    for (int64_t i = 0; i < 1000; ++i) {
      seen.push_back(steps.next());
      expected.push_back(static_cast<float>(c.rate.at(i)));
    }
    CHECK(seen == expected);
    CHECK(steps.sgd.iterations() == 1000);
    CHECK(steps.sgd.learning_rate() == c.rate.at(1000));
  }
}

TEST_CASE("rates are looked up in the interpreter and in strict mode too") {
  const LearningRate rate = CosineDecay(0.1, 20);
  for (Run run : everyRun) {
    Steps steps(rate, run);
    for (int64_t i = 0; i < 5; ++i)
      CHECK(steps.next() == static_cast<float>(rate.at(i)));
  }
}

TEST_CASE("a count that the host writes is looked up from there") {
  const LearningRate rate = ExponentialDecay(0.1, 10, 0.9);
  Steps steps(rate, Run::compiled);
  const Variable count = steps.sgd.variables()[0];
  for (const int32_t from : {0, 3, 700, 699, 5, 5}) {
    count.assign(Tensor::full({}, from, int32));
    for (int64_t i = 0; i < 3; ++i)
      CHECK(steps.next() == static_cast<float>(rate.at(from + i)));
  }
}

TEST_CASE("each update of one run has the rate of its own count") {
  const LearningRate rate = ExponentialDecay(0.5, 3, 0.9);
  Steps steps(rate, Run::compiled, 3);
  for (int64_t i = 0; i < 200; ++i) { // the table ends during these steps
    float sum = 0;
    for (int64_t update = 0; update < 3; ++update)
      sum += static_cast<float>(rate.at(3 * i + update));
    CHECK(steps.next() == sum);
  }
  CHECK(steps.sgd.iterations() == 600);
}

TEST_CASE("all updates of one run have the one rate that a user's function gives before it") {
  Steps steps([](int64_t step) { return 1.0 / static_cast<double>(1 + step); }, Run::compiled, 2);
  for (int64_t i = 0; i < 5; ++i) {
    const auto one = static_cast<float>(1.0 / static_cast<double>(1 + 2 * i));
    CHECK(steps.next() == one + one);
  }
}

TEST_CASE("a step that is skipped leaves the rate where it was") {
  const LearningRate rate = InverseTimeDecay(0.5, 7, 0.5);
  optimizers::LossScaleOptimizer scaled{optimizers::SGD(rate), {.initial_scale = 1.0}};
  const Variable x = weight(Tensor({0}, {1}));
  auto step = recorded(Run::compiled, [&](const std::vector<Value> &v) {
    scaled.apply(v, {x});
    return std::vector<Value>{v[0]};
  });
  int64_t updates = 0;
  for (int64_t i = 0; i < 400; ++i) {
    const bool skipped = i % 3 == 1 || (i > 40 && i < 320);
    const double scale = scaled.state().scale; // gradients are divided by it
    x.assign(Tensor({0}, {1}));
    step.run({Tensor::full({1}, skipped ? std::numeric_limits<double>::infinity() : -scale)});
    CHECK(x.value().item<float>() == (skipped ? 0.0f : static_cast<float>(rate.at(updates))));
    updates += !skipped;
  }
  CHECK(scaled.iterations() == updates);
}

TEST_CASE("steps on several threads have the rate of their own count, whichever program they play") {
  // The weight is exact only if each step uses its own rate.
  const Run run = GENERATE(Run::compiled, Run::interpreted);
  const bool isTable = GENERATE(true, false);
  CAPTURE(static_cast<int>(run), isTable);
  const optimizers::SGD sgd(isTable ? LearningRate(Alternating()) : LearningRate(Alternating::at));
  const Variable x = weight(Tensor({0}, {1}));
  const auto body = [&](const std::vector<Value> &v) {
    sgd.apply({ops::reshape(ops::sum(v[0]), {1})}, {x});
    return std::vector<Value>{v[0]};
  };
  detail::CompiledFunction first = recorded(run, body), second = recorded(run, body);
  const int64_t rounds = run == Run::compiled ? 1000 : 25;
  std::vector<std::thread> threads;
  for (int64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int64_t i = 0; i < rounds; ++i) { // two functions with two programs each
        const int64_t elements = 1 + (thread / 2 + i) % 2;
        (thread % 2 ? first : second).run({Tensor::full({elements}, -1.0 / static_cast<double>(elements))});
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(sgd.iterations() == 4 * rounds);
  CHECK(x.value().item<float>() == static_cast<float>(2 * rounds));
}
