// Compares losses on pairs of rows with Keras's values: mean errors, hinges, divergences.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

const Tensor given({.25, 0, .75, 1, 0, 0}, {2, 3}), binary({1, 0, 1, 1, 0, 0}, {2, 3}),
    predicted({.5, .125, 2.5, .25, .75, .0625}, {2, 3}), weights({.25, 2}, {2});

struct Case {
  const char *name;
  std::function<Loss(const LossArgs &)> make;
  std::vector<double> ofGiven, ofBinary; // one loss per row
  double weighted;
};
template <class T> std::function<Loss(const LossArgs &)> maker() {
  return [](const LossArgs &args) { return T(args); };
}
const Case cases[] = {
    {"mean_absolute_percentage_error",
     maker<losses::MeanAbsolutePercentageError>(),
     {41666780, 270833376},
     {41666736, 270833376},
     276041728},
    {"mean_squared_logarithmic_error",
     maker<losses::MeanSquaredLogarithmicError>(),
     {0.175855696, 0.179249495},
     {0.136601239, 0.179249495},
     0.20123145},
    {"huber",
     [](const LossArgs &args) { return losses::Huber(1.0, args); },
     {0.4296875, 0.188151047},
     {0.377604187, 0.188151047},
     0.241861984},
    {"log_cosh", maker<losses::LogCosh>(), {0.375108451, 0.172828004}, {0.327782333, 0.172828004}, 0.219716564},
    {"poisson", maker<losses::Poisson>(), {0.870356262, 0.816264629}, {0.967285395, 0.816264629}, 0.92505914},
    {"hinge", maker<losses::Hinge>(), {0.625, 0.916666687}, {0.541666687, 1.1875}, 0.994791687},
    {"squared_hinge", maker<losses::SquaredHinge>(), {0.588541687, 0.854166687}, {0.505208373, 1.5846355}, 0.927734375},
    {"categorical_hinge", maker<losses::CategoricalHinge>(), {0, 1.5}, {0, 1.5}, 1.5},
    {"kl_divergence", maker<losses::KLDivergence>(), {-0.389049768, 1.3862915}, {0.693145752, 1.3862915}, 1.33766031},
    {"cosine_similarity",
     [](const LossArgs &args) { return losses::CosineSimilarity(-1, args); },
     {-0.991087317, -0.315244168},
     {-0.831052005, -0.315244168},
     -0.439130068},
};

std::vector<double> evaluated(Run run, const Loss &loss, const std::vector<Tensor> &feeds) {
  return numbers(runOnce(run, feeds, [&](const std::vector<Value> &v) {
    return std::vector<Value>{loss(v[0], v[1], v.size() > 2 ? v[2] : Value())};
  })[0]);
}

} // namespace

TEST_CASE("losses of rows are Keras's") {
  for (Run run : everyRun)
    for (const Case &each : cases) {
      INFO(each.name);
      Loss rows = each.make({.reduction = Reduction::none}), whole = each.make({});
      CHECK(near(evaluated(run, rows, {given, predicted}), each.ofGiven, 2e-6));
      CHECK(near(evaluated(run, rows, {binary, predicted}), each.ofBinary, 2e-6));
      CHECK(near(evaluated(run, whole, {given, predicted, weights}), {each.weighted}, 2e-6));
      CHECK(near(numbers(Loss(each.name)(given, predicted, weights)), {each.weighted}, 2e-6));
    }
  CHECK(
      near(numbers(losses::Huber(0.5, {.reduction = Reduction::none})(given, predicted)), {0.263020843, 0.167317718}));
  CHECK(near(numbers(losses::CosineSimilarity(0, {.reduction = Reduction::none})(given, predicted)),
             {-0.650791347, 0, -0.999687612}));
  CHECK(losses::Huber(0.5).get_config().dump() ==
        R"({"name":"huber_loss","reduction":"sum_over_batch_size","delta":0.5})");
}

TEST_CASE("mean errors check dtype and shapes as any loss does") {
  for (const Case &each : cases) {
    INFO(each.name);
    CHECK(each.make({.dtype = "float16"})(binary, predicted).dtype() == float16);
    CHECK_THAT(errorOf([&] { each.make({})(given, Tensor::zeros({2, 2})); }), Contains("must have the same shape"));
  }
  Tensor tiny({1e-6f, 0, 0}, {1, 3}); // its square is 0 in float16
  CHECK(near(numbers(losses::CosineSimilarity(-1, {.dtype = "float16"})(tiny, tiny)), {-1}, 1e-3));
}

TEST_CASE("gradients of mean errors are finite, also at zeros, and Huber's is clipped") {
  for (const Case &each : cases) {
    INFO(each.name);
    Variable p = weight(Tensor({0, 0, 0, .25, .75, .0625}, {2, 3}));
    std::vector<Tensor> found = runOnce(Run::compiled, {given}, [&](const std::vector<Value> &v) {
      return gradients(each.make({})(v[0], p), std::vector<Variable>{p});
    });
    for (double value : numbers(found[0]))
      CHECK(std::isfinite(value));
  }
  Variable p = weight(Tensor({.5, 5, -5}, {3, 1}));
  std::vector<Tensor> found = runOnce(Run::compiled, {Tensor::zeros({3, 1})}, [&](const std::vector<Value> &v) {
    return gradients(losses::Huber(2.0)(v[0], p), std::vector<Variable>{p});
  });
  CHECK(near(numbers(found[0]), {.5 / 3, 2.0 / 3, -2.0 / 3}));
}
