// Intersections over unions: arguments, ignored samples, dtypes. The recorded Keras rows have more values.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("A matrix of counts is int32 unless a dtype is given, and cuts weights to whole numbers then") {
  const metrics::IoU whole(2, {0, 1});
  CHECK(whole.dtype() == int32);
  CHECK(whole.get_config().get_string("dtype") == "int32");
  const Tensor t({0, 0, 1, 1}, {4}), p({0, 1, 0, 1}, {4}), w({0.9f, 1.9f, 1, 1}, {4});
  whole.update_state(t, p);
  CHECK(near({whole.result()}, {1.0 / 3}));
  whole.reset_state();
  whole.update_state(t, p, w); // the weight of the first sample is truncated to 0
  CHECK(near({whole.result()}, {0.5 * (0.0 + 1.0 / 3)}));
  const metrics::IoU exact(2, {0, 1}, {.dtype = "float32"});
  exact.update_state(t, p, w);
  CHECK(near({exact.result()}, {0.5 * (0.9 / 3.8 + 1.0 / 3.9)}));
}

TEST_CASE("Samples that are no class count nowhere, and a class without samples is left out") {
  const metrics::MeanIoU mean(3);
  mean.update_state(Tensor({0, 7, -1, 1}, {4}), Tensor({0, 0, 1, 5}, {4}));
  CHECK(near({mean.result()}, {1.0}));
  mean.update_state(Tensor::zeros({0}), Tensor::zeros({0}));
  CHECK(near({mean.result()}, {1.0}));
}

TEST_CASE("Targets may be classes or elements for each class") {
  const metrics::MeanIoU mean(2, {.sparse_y_true = false});
  mean.update_state(Tensor({1, 0, 0, 1, 0, 1}, {3, 2}), Tensor({0, 1, 0}, {3}));
  CHECK(near({mean.result()}, {0.5}));
}

TEST_CASE("Classes along another axis are found") {
  const metrics::OneHotMeanIoU mean(2, {.axis = 1});
  const Tensor t({1, 0, 0, 1}, {1, 2, 2}); // element 0 is class 0, element 1 is class 1
  mean.update_state(t, t);
  CHECK(near({mean.result()}, {1.0}));
}

TEST_CASE("Target classes that are none, and shapes that do not fit, are refused") {
  CHECK_THAT(errorOf([] { metrics::IoU(2, {2}); }),
             Contains("ValueError: Target class id 2 is out of range, which is [0, 2)."));
  CHECK_THAT(errorOf([] { metrics::IoU(2, {}); }), Contains("`target_class_ids` is empty"));
  CHECK_THAT(errorOf([] { metrics::MeanIoU(0); }), Contains("`num_classes` must be at least 1"));
  CHECK_THAT(errorOf([] { metrics::MeanIoU(2).update_state(Tensor::zeros({3}), Tensor::zeros({4})); }),
             Contains("IoU needs one target class for each predicted one"));
}
