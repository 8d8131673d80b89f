// F-scores and R2: arguments, and state created at the first batch. The recorded Keras rows have the values.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("Scores count the classes of the first batch and refuse another count later") {
  const metrics::F1Score score;
  CHECK(score.variables().empty());
  const Tensor t({1, 0, 0, 1}, {2, 2}), p({0.75, 0.25, 0.25, 0.75}, {2, 2});
  score.update_state(t, p);
  REQUIRE(score.variables().size() == 4);
  CHECK(near(score.results(), {1.0, 1.0}));
  CHECK_THAT(errorOf([&] { score.update_state(Tensor::zeros({2, 3}), Tensor::zeros({2, 3})); }),
             Contains("FBetaScore has accumulated 2 columns. Received: y_pred.shape=(2, 3)"));
  CHECK_THAT(errorOf([] { metrics::F1Score().update_state(Tensor::zeros({2}), Tensor::zeros({2})); }),
             Contains("FBetaScore expects 2D inputs with shape (batch_size, output_dim)"));
  CHECK_THAT(errorOf([&] { score.update_state(t, p, Tensor::zeros({3})); }),
             Contains("takes one weight for each of 2 samples"));
  const metrics::R2Score r2;
  r2.update_state(t, p);
  CHECK(near({r2.result()}, {0.75}));
  CHECK(r2.variables()[0].path() == "r2_score/num_samples");
  CHECK_THAT(errorOf([&] { r2.update_state(Tensor::zeros({2, 1}), Tensor::zeros({2, 1})); }),
             Contains("2 columns") || Contains("1 columns"));
}

TEST_CASE("The targets of one sample have no variance, and their score is 0 as in Keras") {
  for (const float target : {0.1f, -1.3f, 7.77f, 0.333f, 12345.6f}) {
    const metrics::R2Score r2;
    r2.update_state(Tensor({target, 2.0f * target}, {1, 2}), Tensor({0.5f, 0.25f}, {1, 2}));
    CHECK(r2.result() == 0.0);
  }
}

TEST_CASE("Without an aggregation of classes R2Score gives one result for each column") {
  const metrics::R2Score score({.class_aggregation = std::nullopt});
  score.update_state(Tensor({1, 0, 0, 1}, {2, 2}), Tensor({0.75f, 0.5f, 0.25f, 0.75f}, {2, 2}));
  CHECK(near(score.results(), {0.75, 0.375}));
}

TEST_CASE("The method of an area says which ends of its steps count") {
  const auto areaBy = [](metrics::AUCSummationMethod method) {
    const metrics::AUC area({.num_thresholds = 3, .summation_method = method});
    area.update_state(Tensor({0, 1, 0, 1}, {4}), Tensor({0.1f, 0.4f, 0.6f, 0.9f}, {4}));
    return area.result();
  };
  CHECK(areaBy(metrics::AUCSummationMethod::minoring) == 0.25);
  CHECK(areaBy(metrics::AUCSummationMethod::majoring) == 0.75);
}

TEST_CASE("Arguments of scores outside of their ranges are refused") {
  CHECK_THAT(errorOf([] { metrics::FBetaScore({.beta = 0.0}); }), Contains("It should be > 0. Received: beta=0"));
  CHECK_THAT(errorOf([] { metrics::F1Score({.threshold = 0.0}); }), Contains("threshold=0"));
  CHECK_THAT(errorOf([] { metrics::F1Score({.threshold = 1.5}); }), Contains("threshold=1.5"));
  CHECK_THAT(errorOf([] { metrics::R2Score({.num_regressors = -1}); }), Contains("num_regressors=-1"));
}

TEST_CASE("Scores in fit() get their state from the model's output") {
  Sequential model({Input({2}), layers::Dense(3, {.activation = "softmax"})});
  model.compile({.optimizer = "sgd",
                 .loss = "categorical_crossentropy",
                 .metrics = {metrics::F1Score({.average = metrics::FScoreAverage::macro}), "r2_score"}});
  const Tensor x = counted({6, 2}) / 12.0f, y({1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}, {6, 3});
  (void)model.fit(x, y, {.batch_size = 4, .epochs = 1, .verbose = 0});
  const Logs logs = model.evaluate(x, y, {.batch_size = 4, .verbose = 0});
  const metrics::F1Score f1({.average = metrics::FScoreAverage::macro});
  const metrics::R2Score r2;
  const Tensor p = model.predict(x, {.verbose = 0});
  f1.update_state(y, p);
  r2.update_state(y, p);
  CHECK(near({logs["f1_score"], logs["r2_score"]}, {f1.result(), r2.result()}));
}
