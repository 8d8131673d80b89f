// Areas under curves: arguments, labels and state. The recorded Keras rows have the values.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("An area counts its thresholds, and the config holds the given ones sorted") {
  CHECK(metrics::AUC({.name = "a"}).get_config().dump() ==
        R"({"name":"a","dtype":"float32","num_thresholds":200,"curve":"ROC","summation_method":"interpolation",)"
        R"("multi_label":false,"num_labels":null,"label_weights":null,"from_logits":false})");
  const Config given = metrics::AUC({.thresholds = {0.75, 0.25}}).get_config();
  CHECK(given.get_int("num_thresholds") == 4);
  CHECK_THAT(given.dump(), Contains(R"("thresholds":[0.25,0.75])"));
  CHECK_THAT(errorOf([] { metrics::AUC({.num_thresholds = 1}); }),
             Contains("ValueError: Argument `num_thresholds` must be an integer > 1. Received: num_thresholds=1"));
  CHECK_THAT(errorOf([] { metrics::AUC({.num_labels = 2}); }),
             Contains("ValueError: `num_labels` is needed only when `multi_label` is True."));
}

TEST_CASE("The area of labels is made at the first batch and keeps its count of labels") {
  const metrics::AUC area({.multi_label = true});
  CHECK(area.variables().empty());
  CHECK(area.result() == 0.0);
  area.update_state(Tensor({1, 0, 0, 1}, {2, 2}), Tensor({0.75, 0.25, 0.25, 0.75}, {2, 2}));
  REQUIRE(area.variables().size() == 4);
  CHECK(area.variables()[0].shape() == Shape{200, 2});
  CHECK(area.result() == 1.0);
  CHECK_THAT(errorOf([&] { area.update_state(Tensor::zeros({2, 3}), Tensor::zeros({2, 3})); }),
             Contains("an AUC of 2 labels must have the shape (batch, 2). Received: y_pred.shape=(2, 3)"));
  CHECK(area.result() == 1.0);
  const Tensor vector = Tensor::zeros({3});
  CHECK_THAT(errorOf([&] { metrics::AUC({.multi_label = true}).update_state(vector, vector); }),
             Contains("`y_pred` must have rank 2 when `multi_label=True`. Found rank 1"));
  CHECK_THAT(errorOf([] { metrics::AUC({.multi_label = true, .num_labels = 3, .label_weights = {1, 2}}); }),
             Contains("`label_weights` has 2 numbers for 3 labels"));
  CHECK_THAT(errorOf([&] { metrics::AUC({.label_weights = {1, 2, 3}}).update_state(vector, vector); }),
             Contains("`label_weights` has 3 numbers. Received: y_pred.shape=(3,)"));
}
