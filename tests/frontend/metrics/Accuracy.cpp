// Compares the accuracy metrics with Keras's documented values.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

double result(const Metric &metric, const Tensor &t, const Tensor &p, const Tensor &w = {}) {
  metric.reset_state();
  metric.update_state(t, p, w);
  return metric.result();
}
const Tensor scores({0.1f, 0.9f, 0.8f, 0.05f, 0.95f, 0}, {2, 3}), oneHot({0, 0, 1, 0, 1, 0}, {2, 3});
const Tensor weights({0.7f, 0.3f}, {2});

} // namespace

TEST_CASE("Keras's documented accuracies") {
  CHECK(result(metrics::Accuracy(), Tensor({1, 2, 3, 4}, {4, 1}), Tensor({0, 2, 3, 4}, {4, 1})) == 0.75);
  CHECK(result(metrics::Accuracy(), Tensor({1, 2, 3, 4}, {4, 1}), Tensor({0, 2, 3, 4}, {4, 1}),
               Tensor({1, 1, 0, 0}, {4})) == 0.5);
  metrics::BinaryAccuracy binary;
  CHECK(result(binary, Tensor({1, 1, 0, 0}, {4, 1}), Tensor({0.98f, 1, 0, 0.6f}, {4, 1})) == 0.75);
  CHECK(result(binary, Tensor({1, 1, 0, 0}, {4, 1}), Tensor({0.98f, 1, 0, 0.6f}, {4, 1}), Tensor({1, 0, 0, 1}, {4})) ==
        0.5);
  CHECK(result(metrics::CategoricalAccuracy(), oneHot, scores) == 0.5);
  CHECK(near({result(metrics::CategoricalAccuracy(), oneHot, scores, weights)}, {0.3}));
  CHECK(result(metrics::SparseCategoricalAccuracy(), Tensor::of<int64_t>({2, 1}, {2, 1}), scores) == 0.5);
  CHECK(near({result(metrics::SparseCategoricalAccuracy(), Tensor({2, 1}, {2, 1}), scores, weights)}, {0.3}));
  CHECK(result(metrics::TopKCategoricalAccuracy({.k = 1}), oneHot, scores) == 0.5);
  CHECK(near({result(metrics::TopKCategoricalAccuracy({.k = 1}), oneHot, scores, weights)}, {0.3}));
  CHECK(result(metrics::SparseTopKCategoricalAccuracy({.k = 2}), Tensor::of<int32_t>({2, 2}, {2}), scores) == 0.5);
}

TEST_CASE("uint8 labels beyond the range of int8 are compared as numbers") {
  Tensor p = Tensor::zeros({1, 300}), t = Tensor::of<uint8_t>({44}, {1});
  p.mutable_span<float>()[300 - 1] = 1; // in uint8, 299 would wrap to 43
  CHECK(result(metrics::SparseCategoricalAccuracy(), t, p) == 0.0);
  p.mutable_span<float>()[44] = 2;
  CHECK(result(metrics::SparseCategoricalAccuracy(), t, p) == 1.0);
}

TEST_CASE("top-k accuracy counts ties in, and no row that is not finite") {
  metrics::SparseTopKCategoricalAccuracy top({.k = 2});
  auto one = [&](int32_t label, Tensor row) {
    return result(top, Tensor::of<int32_t>({label}, {1}), row.reshape({1, row.size()}));
  };
  CHECK(one(3, Tensor({5, 1, 1, 1}, {4})) == 1.0); // one element is larger, two are equal
  CHECK(one(3, Tensor({5, 5, 1, 1}, {4})) == 0.0);
  CHECK(one(0, Tensor({INFINITY, 1, 1, 1}, {4})) == 0.0);
  CHECK(one(0, Tensor({1, NAN, 1, 1}, {4})) == 0.0);
  CHECK(one(9, Tensor({-1, -2, -3, -4}, {4})) == 0.0);
  CHECK(one(1, Tensor({-1, -2, -3, -4}, {4})) == 1.0);
}

TEST_CASE("accuracies refuse shapes that do not fit") {
  CHECK_THAT(errorOf([] { metrics::BinaryAccuracy({.threshold = 1.0}); }),
             Contains("ValueError: Invalid value for argument `threshold`"));
  CHECK_THAT(errorOf([] { metrics::TopKCategoricalAccuracy({.k = 0}); }), Contains("ValueError: `k` must be"));
  CHECK_THAT(errorOf([] { metrics::CategoricalAccuracy().update_state(Tensor::zeros({2, 3}), Tensor::zeros({2, 4})); }),
             Contains("y_true.shape=(2, 3), y_pred.shape=(2, 4)"));
  CHECK_THAT(errorOf([] {
               metrics::SparseCategoricalAccuracy().update_state(Tensor::zeros({3}, int32), Tensor::zeros({2, 4}));
             }),
             Contains("needs one class index for each prediction"));
}
