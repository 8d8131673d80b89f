// Compares schedules with closed forms, alone and in a recorded step.
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

TEST_CASE("a learning rate that is not finite is refused, as a number and of a function") {
  for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY), -static_cast<double>(INFINITY)}) {
    CHECK_THAT(errorOf([&] { optimizers::SGD{bad}; }), Contains("ValueError: A learning rate must be finite"));
    CHECK_THAT(errorOf([&] { ExponentialDecay(bad, 10, 0.5); }),
               Contains("ValueError") && Contains("initial_learning_rate"));
    CHECK_THAT(errorOf([&] { schedules::PiecewiseConstantDecay({3}, {0.5, bad}); }),
               Contains("ValueError") && Contains("values"));
    const optimizers::SGD optimizer(0.5);
    CHECK_THAT(errorOf([&] { optimizer.set_learning_rate(bad); }),
               Contains("ValueError: A learning rate must be finite"));
    CHECK(optimizer.learning_rate() == 0.5);
    const LearningRate rate([bad](int64_t step) { return step < 3 ? 0.5 : bad; });
    CHECK(rate.at(2) == 0.5);
    CHECK_THAT(errorOf([&] { (void)rate.at(3); }),
               Contains("ValueError: A learning rate must be finite") && Contains("step 3"));
  }
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

TEST_CASE("schedules have Keras's values and come back from their configs") {
  using namespace schedules;
  struct Case {
    LearningRate rate;
    std::vector<std::pair<int64_t, double>> values;
  };
  const Case cases[] = {
      {ExponentialDecay(0.1, 7, 0.9, {.staircase = true}),
       {{0, 0.100000001},
        {3, 0.100000001},
        {4, 0.100000001},
        {8, 0.0899999961},
        {11, 0.0899999961},
        {24, 0.0728999898}}},
      {InverseTimeDecay(0.1, 7, 0.5),
       {{0, 0.100000001},
        {3, 0.0823529437},
        {4, 0.0777777806},
        {8, 0.0636363626},
        {11, 0.0560000017},
        {24, 0.036842104}}},
      {InverseTimeDecay(0.1, 7, 0.5, {.staircase = true}),
       {{0, 0.100000001},
        {3, 0.100000001},
        {4, 0.100000001},
        {8, 0.0666666701},
        {11, 0.0666666701},
        {24, 0.0399999991}}},
      {CosineDecay(0.1, 7, {.alpha = 0.2, .warmup_target = 0.5, .warmup_steps = 3}),
       {{0, 0.100000001}, {3, 0.5}, {4, 0.480193764}, {8, 0.175302014}, {11, 0.100000001}, {24, 0.100000001}}},
      {CosineDecayRestarts(0.1, 7),
       {{0, 0.100000001},
        {3, 0.0611260422},
        {4, 0.0388739482},
        {8, 0.0987463966},
        {11, 0.0811744928},
        {24, 0.097194165}}},
      {CosineDecayRestarts(0.1, 7, {.t_mul = 1.5, .m_mul = 0.8, .alpha = 0.1}),
       {{0, 0.100000001},
        {3, 0.0650134385},
        {4, 0.0449865498},
        {8, 0.0804006234},
        {11, 0.0591522828},
        {24, 0.046600204}}},
      {CosineDecayRestarts(0.1, 7, {.t_mul = 1.0, .m_mul = 0.8}),
       {{0, 0.100000001},
        {3, 0.0611260422},
        {4, 0.0388739482},
        {8, 0.0760387555},
        {11, 0.0310991686},
        {24, 0.0312965326}}},
      {PolynomialDecay(0.1, 7, {.power = 2.0, .cycle = true}),
       {{0, 0.100000001},
        {3, 0.0327204056},
        {4, 0.0184489768},
        {8, 0.0184489768},
        {11, 0.00468724547},
        {24, 0.00213877531}}},
      {PiecewiseConstantDecay({3, 10}, {1.0, 0.5, 0.25}), {{0, 1}, {3, 1}, {4, 0.5}, {8, 0.5}, {11, 0.25}, {24, 0.25}}},
  };
  for (const Case &given : cases) {
    Config config = given.rate.get_config(), object;
    INFO(given.rate.class_name() << config.dump());
    object.set("class_name", given.rate.class_name());
    object.set("config", config);
    LearningRate again = deserialize(object);
    CHECK(again.get_config().dump() == config.dump());
    for (auto [step, value] : given.values) {
      CHECK(near({given.rate.at(step)}, {value}));
      CHECK(again.at(step) == given.rate.at(step));
    }
    config.set("foo", 1);
    object.set("config", config);
    CHECK_THAT(errorOf([&] { deserialize(object); }),
               Contains("ValueError: ") && Contains("not recognized: {'foo': 1}"));
  }
  CHECK_THAT(errorOf([] { PiecewiseConstantDecay({1, 2}, {1, 2}); }),
             Contains("ValueError: The length of boundaries should be 1 less than the length of values."));
  CHECK_THAT(errorOf([] { PiecewiseConstantDecay({2, 1}, {1, 2, 3}); }),
             Contains("ValueError: The boundaries must be strictly ascending"));
  CHECK_THAT(errorOf([] { CosineDecayRestarts(1, 0); }), Contains("Argument `first_decay_steps` must be > 0."));
  CHECK_THAT(errorOf([] { CosineDecay(1, 10, {.warmup_steps = -1}); }),
             Contains("Argument `warmup_steps` must be >= 0"));
  CHECK_THAT(errorOf([] { deserialize(Config::parse(R"({"class_name":"Foo","config":{}})")); }),
             Contains("ValueError: Could not interpret learning-rate schedule: Foo. Known: ExponentialDecay"));
  CHECK_THAT(errorOf([] { deserialize(Config::parse(R"({"class_name":"CosineDecay","config":{}})")); }),
             Contains("KeyError: ") && Contains("initial_learning_rate"));
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
    CHECK(numbers(x) == std::vector<double>{-6}); // -(1 + 2 + 3)
    CHECK(asked == std::vector<int64_t>{0, 1, 2});
    CHECK(sgd.learning_rate() == 4.0);
    CHECK(sgd.variables().size() == 1); // the learning rate is not one of them
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
