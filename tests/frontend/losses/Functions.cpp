// Losses as functions: the values of the classes without a reduction, and pointers that act as names.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using List = std::vector<Value>;

TEST_CASE("A loss as a function gives the loss of each sample, in the dtype of the predictions") {
  const Tensor t({0, 1, 1, 0, 1, 1}, {2, 3}), p({0.2F, 0.3F, 0.5F, 0.6F, 0.1F, 0.3F}, {2, 3}), labels({2, 1}, {2});
  struct Case {
    Value (*function)(const Value &, const Value &);
    Loss loss;
  };
  const LossArgs each{.reduction = "none"};
  const std::vector<Case> cases{
      {losses::mean_squared_error, losses::MeanSquaredError(each)},
      {losses::mean_absolute_error, losses::MeanAbsoluteError(each)},
      {losses::mean_absolute_percentage_error, losses::MeanAbsolutePercentageError(each)},
      {losses::mean_squared_logarithmic_error, losses::MeanSquaredLogarithmicError(each)},
      {losses::log_cosh, losses::LogCosh(each)},
      {losses::poisson, losses::Poisson(each)},
      {losses::hinge, losses::Hinge(each)},
      {losses::squared_hinge, losses::SquaredHinge(each)},
      {losses::categorical_hinge, losses::CategoricalHinge(each)},
      {losses::kl_divergence, losses::KLDivergence(each)},
      {[](const Value &a, const Value &b) { return losses::huber(a, b, 0.3); }, losses::Huber(0.3, each)},
      {[](const Value &a, const Value &b) { return losses::cosine_similarity(a, b); },
       losses::CosineSimilarity(-1, each)},
      {[](const Value &a, const Value &b) { return losses::binary_crossentropy(a, b, true, 0.1); },
       losses::BinaryCrossentropy({.from_logits = true, .label_smoothing = 0.1, .reduction = "none"})},
      {[](const Value &a, const Value &b) { return losses::categorical_crossentropy(a, b); },
       losses::CategoricalCrossentropy({.reduction = "none"})},
      {[](const Value &a, const Value &b) { return losses::dice(a, b); }, losses::Dice({.reduction = "none"})},
      {[](const Value &a, const Value &b) { return losses::tversky(a, b, 0.3, 0.7); },
       losses::Tversky({.alpha = 0.3, .beta = 0.7, .reduction = "none"})}};
  for (const auto &[function, loss] : cases) {
    INFO(loss.name());
    for (const DType dtype : {float32, bfloat16}) {
      const Tensor y = runOnce(Run::compiled, {t, p.astype(dtype)},
                               [f = function](const List &v) { return List{f(v[0], v[1])}; })[0];
      CHECK(y.dtype() == dtype);
      if (dtype == float32)
        CHECK(near(numbers(y), numbers(loss(t, p))));
    }
  }
  const Tensor y = runOnce(Run::compiled, {labels.astype(int32), p}, [](const List &v) {
    return List{losses::sparse_categorical_crossentropy(v[0], v[1], false, 1)};
  })[0];
  CHECK(near(numbers(y), {-std::log(0.5), 0}));
}

TEST_CASE("A pointer to a loss function counts as its name, so that a file holds the compiled model") {
  const Loss loss = losses::mean_squared_error;
  CHECK(loss.name() == "mean_squared_error");
  CHECK(Loss(losses::hinge, {.reduction = "sum", .name = "h"}).name() == "h");
  CHECK_THAT(Loss(losses::hinge, {.reduction = "sum"}).get_config().dump(), Contains(R"("reduction":"sum")"));
  CHECK(Metric(losses::poisson).name() == "poisson");
  CHECK(Loss([](const Value &a, const Value &b) { return ops::mean(a - b, -1); }).name() == "loss");
  const TemporaryFolder folder;
  const layers::Input x({3});
  const Model model({x}, {layers::Dense(2, {.activation = activations::relu6})(x)});
  model.compile({.optimizer = "sgd", .loss = losses::mean_squared_error, .metrics = {losses::mean_absolute_error}});
  model.save(folder / "a.keras");
  CHECK(load_model(folder / "a.keras").to_json() == model.to_json());
  CHECK_THAT(model.to_json(), Contains("relu6"));
}
