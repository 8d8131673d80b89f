// Normalization: adapted to tensors and datasets, given statistics, and rejected ones.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("A Normalization adapted to data gives these a mean of 0 and a variance of 1") {
  const Tensor data({0, 10, 2, 30, 4, 20, 6, 40}, {4, 2}); // columns 0 2 4 6 and 10 30 20 40
  const Normalization layer;
  layer.adapt(data);
  const std::vector<Tensor> weights = layer.get_weights();
  REQUIRE(weights.size() == 3);
  CHECK(numbers(weights[0]) == std::vector<double>{3, 25});
  CHECK(numbers(weights[1]) == std::vector<double>{5, 125});
  CHECK(weights[2].dtype() == int32);
  CHECK(layer.trainable_variables().empty());
  const std::vector<double> y = numbers(layer(data));
  CHECK(near({y[0], y[2], y[4], y[6]}, {-3 / std::sqrt(5), -1 / std::sqrt(5), 1 / std::sqrt(5), 3 / std::sqrt(5)}));
  CHECK(near({y[1] + y[3] + y[5] + y[7], y[1] * y[1] + y[3] * y[3] + y[5] * y[5] + y[7] * y[7]}, {0, 4}));
  layer.adapt(data * 2.0); // replaces the statistics
  CHECK(numbers(layer.get_weights()[0]) == std::vector<double>{6, 50});
}

TEST_CASE("Batches of a dataset give the statistics of all of its data") {
  const Tensor data = counted({11, 3});
  const Normalization whole, batched;
  whole.adapt(data);
  batched.adapt(Dataset(data).batch(4));
  for (size_t i = 0; i < 2; ++i)
    CHECK(near(numbers(batched.get_weights()[i]), numbers(whole.get_weights()[i])));
  CHECK_THROWS_WITH(batched.adapt(Dataset(data).batch(4).repeat()), Contains("adapt() reads all batches"));
  batched.adapt(Dataset(data).batch(4).repeat().take(3));
  CHECK(near(numbers(batched.get_weights()[0]), numbers(whole.get_weights()[0])));
}

TEST_CASE("Without axes one mean serves all elements, and several axes have one for each index") {
  const Tensor data = counted({2, 2, 3});
  const Normalization all{Axes()};
  all.adapt(data);
  CHECK(numbers(all.get_weights()[0]) == std::vector<double>{5.5});
  const Normalization each({1, 2});
  each.adapt(data);
  CHECK(each.get_weights()[0].shape() == Shape{2, 3});
  CHECK(numbers(each.get_weights()[0]) == std::vector<double>{3, 4, 5, 6, 7, 8});
  CHECK(Normalization()(Tensor::of<int32_t>({3, 4}, {1, 2})).to_vector<float>() == std::vector<float>{3, 4});
}

TEST_CASE("Given statistics broadcast to the axes, and invert undoes them") {
  const Tensor x = counted({2, 2, 2});
  const Tensor mean({1, 2}, {2}), variance({4, 16}, {2});
  const Layer forward = Normalization({1, 2}, {.mean = mean, .variance = variance});
  const Layer back = Normalization({1, 2}, {.mean = mean, .variance = variance, .invert = true});
  CHECK(numbers(forward(x))[5] == (5.0 - 2.0) / 4.0);
  CHECK(near(numbers(back(forward(x))), numbers(x)));
  CHECK(forward.weights().empty());
  const Tensor still =
      Normalization(-1, {.mean = Tensor({1, 1}, {2}), .variance = Tensor({0, 1}, {2})})(counted({2, 2}));
  CHECK(near(numbers(still), {-1e7, 0, 1e7, 2})); // a variance of 0 is replaced by epsilon squared
  const Layer many = Normalization(-1, {.mean = counted({100}), .variance = Tensor::ones({100})});
  CHECK(numbers(many(counted({1, 100}))) == std::vector<double>(100, 0.0));
}

TEST_CASE("Statistics and data that do not fit are refused, and change nothing") {
  const Tensor two({1, 2}, {2}), one = Tensor::scalar(1.0f);
  CHECK_THROWS_WITH(Normalization(-1, {.mean = two}), Contains("both `mean` and `variance` must be set. Received: mean "
                                                               "of shape (2,) and variance of shape None"));
  CHECK_THROWS_WITH(Normalization(-1, {.mean = two, .variance = one}), Contains("must have the same shape"));
  CHECK_THROWS_WITH(Normalization(Axes(), {.mean = two, .variance = two}),
                    Contains("the rank of `mean` must be at most the number of axes (0)"));
  CHECK_THROWS_WITH(Normalization(-1, {.mean = two, .variance = two})(counted({2, 3})),
                    Contains("`mean` of shape (2,) does not broadcast to the extents (3,)"));
  CHECK_THROWS_WITH(Normalization(3)(counted({2, 3})), Contains("axis 3 is out of range"));
  CHECK_THROWS_WITH(Normalization(-1, {.mean = two, .variance = two}).adapt(counted({2, 2})),
                    Contains("but the layer was given them"));
  const Normalization layer;
  CHECK_THROWS_WITH(layer.adapt(counted({0, 2})), Contains("received no data"));
  CHECK_THROWS_WITH(layer.adapt(one), Contains("a batch axis"));
  layer.adapt(counted({4, 2}));
  const std::vector<double> before = numbers(layer.get_weights()[0]);
  CHECK_THROWS_WITH(layer.adapt(counted({4, 3})), Contains("incompatible shape, data.shape=(4, 3)"));
  CHECK_THROWS_WITH(layer(counted({4, 3})), Contains("but its input has shape (4, 3)"));
  CHECK_THROWS_WITH(layer.adapt(Dataset(counted({0, 2})).batch(2)), Contains("received no data"));
  CHECK(numbers(layer.get_weights()[0]) == before);
}
