// Losses as handles: names, dtypes, shapes, weights, reductions, labels.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Losses.h"
#include "frontend/losses/LossImpl.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

const Tensor yTrue({0, 1, 0, 0}, {2, 2}), yPred({1, 1, 1, 0}, {2, 2});

std::vector<double> evaluated(Run run, const Loss &loss, const std::vector<Tensor> &feeds) {
  return numbers(runOnce(run, feeds, [&](const std::vector<Value> &v) {
    return std::vector<Value>{loss(v[0], v[1], v.size() > 2 ? v[2] : Value())};
  })[0]);
}

} // namespace

TEST_CASE("every reduction gives Keras's number") {
  auto mse = [](Reduction reduction) { return losses::MeanSquaredError({.reduction = reduction}); };
  Tensor weights({0.75, 0.25}, {2}), target({0, 2, 0, 0}, {2, 2}); // the losses of the samples are 1 and 0.5
  for (Run run : everyRun) {
    CHECK(near(evaluated(run, mse(Reduction::sum_over_batch_size), {target, yPred}), {0.75}));
    CHECK(near(evaluated(run, mse(Reduction::mean), {target, yPred}), {0.75}));
    CHECK(near(evaluated(run, mse(Reduction::sum), {target, yPred}), {1.5}));
    CHECK(near(evaluated(run, mse(Reduction::none), {target, yPred}), {1.0, 0.5}));
    CHECK(near(evaluated(run, mse(Reduction::sum_over_batch_size), {target, yPred, weights}), {0.4375}));
    CHECK(near(evaluated(run, mse(Reduction::sum), {target, yPred, weights}), {0.875}));
    CHECK(near(evaluated(run, mse(Reduction::none), {target, yPred, weights}), {0.75, 0.125}));
    CHECK(near(evaluated(run, mse(Reduction::mean_with_sample_weight), {target, yPred, weights}), {0.875}));
    Tensor zeros = Tensor::zeros({2});
    CHECK(near(evaluated(run, mse(Reduction::mean_with_sample_weight), {target, yPred, zeros}), {0.0}));
  }
}

TEST_CASE("sample weights multiply the leading axes") {
  Tensor target = Tensor::zeros({2, 2, 3}), predicted = Tensor::ones({2, 2, 3});
  losses::MeanSquaredError none({.reduction = Reduction::none});
  CHECK(numbers(none(target, predicted, Tensor({2, 3}, {2}))) == std::vector<double>{2, 2, 3, 3});
  CHECK(numbers(none(target, predicted, Tensor({2, 3}, {2, 1}))) == std::vector<double>{2, 2, 3, 3});
  CHECK(numbers(none(target, predicted, Tensor({1, 2, 3, 4}, {2, 2}))) == std::vector<double>{1, 2, 3, 4});
  CHECK(numbers(none(target, predicted, Tensor::full({}, 5))) == std::vector<double>{5, 5, 5, 5});
  CHECK_THAT(errorOf([&] { none(target, predicted, Tensor({1, 2, 3}, {3})); }),
             Contains("ValueError: sample_weight of shapes (2, 2) and (3,)"));
}

TEST_CASE("(n,) targets meet (n, 1) predictions, other mismatches are errors") {
  Tensor column({1, 2, 3}, {3, 1}), row({1, 2, 5}, {3});
  CHECK(near(numbers(Loss("mse")(row, column)), {4.0 / 3}));
  CHECK(near(numbers(Loss("mse")(column, row)), {4.0 / 3}));
  CHECK(near(numbers(Loss("bce")(Tensor({1, 0}, {2}), Tensor({0.5, 0.5}, {2, 1}))), {std::log(2.0)}));
  for (const char *loss : {"mse", "mae", "bce", "categorical_crossentropy"})
    CHECK_THAT(errorOf([&] { Loss{loss}(Tensor::zeros({4, 3}), Tensor::zeros({4, 2})); }),
               Contains("ValueError: ") && Contains("y_true.shape=(4, 3), y_pred.shape=(4, 2)"));
  CHECK_THAT(
      errorOf([&] { Loss("sparse_categorical_crossentropy")(Tensor::zeros({4, 3}, int32), Tensor::zeros({4, 5})); }),
      Contains("ValueError: ") && Contains("target.shape=(4, 3), output.shape=(4, 5)"));
  CHECK_THAT(
      errorOf([&] { Loss("sparse_categorical_crossentropy")(Tensor::zeros({5}, int32), Tensor::zeros({4, 5})); }),
      Contains("target.shape=(5), output.shape=(4, 5)") || Contains("target.shape=(5,), output.shape=(4, 5)"));
}

TEST_CASE("a name makes a loss") {
  for (const char *name : {"mse", "MSE", "mean_squared_error", "MeanSquaredError"})
    CHECK(Loss(name).name() == "mean_squared_error");
  for (const char *name : {"mae", "MAE", "mean_absolute_error", "MeanAbsoluteError"})
    CHECK(Loss(name).name() == "mean_absolute_error");
  for (const char *name : {"bce", "BCE", "binary_crossentropy", "BinaryCrossentropy"})
    CHECK(Loss(name).name() == "binary_crossentropy");
  CHECK(Loss("CategoricalCrossentropy").name() == "categorical_crossentropy");
  CHECK(Loss("SparseCategoricalCrossentropy").name() == "sparse_categorical_crossentropy");
  CHECK_THAT(errorOf([] { Loss("mean_square"); }),
             Contains("ValueError: Could not interpret loss identifier: mean_square") &&
                 Contains("mean_squared_error"));
  CHECK_THAT(errorOf([] { Loss(""); }), Contains("Could not interpret loss identifier"));
  CHECK_FALSE(Loss().defined());
  CHECK_THAT(errorOf([] { Loss()(yTrue, yPred); }), Contains("ValueError: no loss"));
}

// policies 12.1
TEST_CASE("a loss computes in floatx unless a dtype is given, never in the global policy's dtype") {
  PolicyScope mixed("mixed_float16");
  CHECK(Loss("mse").dtype() == float32);
  CHECK(losses::MeanSquaredError({.dtype = float16}).dtype() == float16);
  CHECK(losses::MeanSquaredError({.dtype = DTypePolicy("mixed_float16")}).dtype() == float16);
  CHECK_THAT(errorOf([] { losses::MeanSquaredError({.dtype = "int32"}); }), Contains("ValueError: "));
  CHECK(Loss("mse")(yTrue.astype(float16), yPred.astype(float16)).dtype() == float32);
  CHECK(losses::MeanSquaredError({.dtype = float16})(yTrue, yPred).dtype() == float16);
  // 300^2 exceeds the range of float16: the cast comes first.
  CHECK(numbers(Loss("mse")(Tensor::zeros({1, 1}), Tensor::full({1, 1}, 300, float16))) == std::vector<double>{90000});
}

TEST_CASE("a float16 loss sums in float32") {
  Tensor big = Tensor::full({4096, 1}, 30, float16);
  losses::MeanSquaredError loss({.dtype = float16});
  for (Run run : everyRun)
    CHECK(evaluated(run, loss, {Tensor::zeros({4096, 1}), big}) == std::vector<double>{900});
}

TEST_CASE("a function is a loss") {
  std::string dtypes;
  Loss loss([&](const Value &t, const Value &p) {
    dtypes = std::string(name(t.dtype())) + " " + std::string(name(p.dtype()));
    return ops::square(t - p);
  });
  CHECK(near(numbers(loss(Tensor::of<int32_t>({1, 2}, {2}), Tensor({2, 4}, {2}).astype(float16))), {2.5}));
  CHECK(dtypes == "float32 float32");
  CHECK_THAT(errorOf([] { Loss{Loss::Function()}; }),
             Contains("ValueError: a Loss was created from an empty function"));
}

TEST_CASE("losses tell their config, without the dtype") {
  CHECK(losses::MeanSquaredError({.dtype = float16}).get_config().dump() ==
        R"({"name":"mean_squared_error","reduction":"sum_over_batch_size"})");
  CHECK(losses::BinaryCrossentropy({.from_logits = true, .name = "b"}).get_config().dump() ==
        R"({"name":"b","reduction":"sum_over_batch_size","from_logits":true,"label_smoothing":0.0,"axis":-1})");
  CHECK(
      losses::SparseCategoricalCrossentropy({.reduction = Reduction::none}).get_config().dump() ==
      R"({"name":"sparse_categorical_crossentropy","reduction":"none","from_logits":false,"ignore_class":null,"axis":-1})");
}

TEST_CASE("the host checks labels before a loss sees them") {
  losses::SparseCategoricalCrossentropy loss;
  CHECK(detail::checkLabels(loss, Tensor::of<int32_t>({0, 9, 3}, {3}), 10).isOk());
  CHECK_THAT(detail::checkLabels(loss, Tensor::of<int32_t>({0, 10, 3}, {3}), 10).message(),
             Contains("label value of 10 in row 1") && Contains("[0, 10)"));
  CHECK_THAT(detail::checkLabels(loss, Tensor::of<int64_t>({0, 1, -1, 3}, {2, 2}), 10).message(),
             Contains("label value of -1 in row 1"));
  CHECK_THAT(detail::checkLabels(loss, Tensor::of<uint8_t>({0, 255}, {2, 1}), 10).message(), Contains("255 in row 1"));
  CHECK_THAT(detail::checkLabels(loss, Tensor({0, 3, 12}, {3}), 10).message(), Contains("label value of 12 in row 2"));
  CHECK_THAT(detail::checkLabels(loss, Tensor({0, NAN}, {2}), 10).message(), Contains("nan in row 1"));
  CHECK_THAT(detail::checkLabels(loss, Tensor({0, 12}, {2}).astype(float16), 10).message(), Contains("12 in row 1"));
  CHECK(detail::checkLabels(losses::SparseCategoricalCrossentropy({.ignore_class = -1}),
                            Tensor::of<int32_t>({0, -1}, {2}), 10)
            .isOk());
  CHECK(detail::checkLabels(Loss("mse"), Tensor::of<int32_t>({0, 99}, {2}), 10).isOk());
  CHECK_THAT(errorOf([&] { loss(Tensor::of<int32_t>({0, 3}, {2}), Tensor::ones({2, 3})); }),
             Contains("ValueError: sparse_categorical_crossentropy: received a label value of 3"));
}

// In Keras the loss of an empty batch is an empty tensor: docs/policies.md, "Differences from Keras".
TEST_CASE("the loss of no samples is 0, and so are its gradients") {
  for (const char *name : {"mse", "mae", "huber", "log_cosh", "poisson", "hinge", "kld", "cosine_similarity", "bce",
                           "categorical_crossentropy"})
    for (Shape shape : {Shape({0, 3}), Shape({0, 2, 3})}) {
      INFO(name << " of " << shape.str());
      Tensor none = Tensor::zeros(shape);
      std::vector<Tensor> y = runOnce(Run::interpreted, {none, none}, [&](const std::vector<Value> &v) {
        Value total = Loss(name)(v[0], v[1]);
        return std::vector<Value>{total, gradients(total, std::vector<Value>{v[1]})[0]};
      });
      CHECK(numbers(y[0]) == std::vector<double>{0});
      CHECK(y[1].shape() == shape);
    }
}
