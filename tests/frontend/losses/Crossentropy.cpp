// Compares crossentropies with closed forms and Keras's documented values.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using losses::BinaryCrossentropy;
using losses::CategoricalCrossentropy;
using losses::SparseCategoricalCrossentropy;

namespace {

const Tensor labels = Tensor::of<int32_t>({1, 2}, {2}), oneHot({0, 1, 0, 0, 0, 1}, {2, 3});
const Tensor probabilities({0.05f, 0.95f, 0, 0.1f, 0.8f, 0.1f}, {2, 3}), weights({0.3f, 0.7f}, {2});

} // namespace

TEST_CASE("Keras's documented crossentropies") {
  CHECK(near(numbers(SparseCategoricalCrossentropy()(labels, probabilities)), {1.177}, 1e-3));
  CHECK(near(numbers(SparseCategoricalCrossentropy()(labels, probabilities, weights)), {0.814}, 1e-3));
  CHECK(near(numbers(SparseCategoricalCrossentropy({.reduction = Reduction::sum})(labels, probabilities)), {2.354},
             1e-3));
  CHECK(near(numbers(SparseCategoricalCrossentropy({.reduction = Reduction::none})(labels, probabilities)),
             {0.0513, 2.303}, 1e-3));
  CHECK(near(numbers(CategoricalCrossentropy()(oneHot, probabilities)), {1.177}, 1e-3));
  CHECK(near(numbers(CategoricalCrossentropy()(oneHot, probabilities, weights)), {0.814}, 1e-3));
  Tensor target({0, 1, 0, 0}, {2, 2}), logits({-18.6f, 0.51f, 2.94f, -12.8f}, {2, 2});
  CHECK(near(numbers(BinaryCrossentropy({.from_logits = true})(target, logits)), {0.865}, 1e-3));
  CHECK(near(numbers(BinaryCrossentropy({.from_logits = true})(target, logits, Tensor({0.8f, 0.2f}, {2}))), {0.243},
             1e-3));
  CHECK(near(numbers(BinaryCrossentropy({.from_logits = true, .reduction = Reduction::none})(target, logits)),
             {0.235, 1.496}, 1e-3));
}

TEST_CASE("ignored classes count for nothing") {
  Tensor y = Tensor::of<int32_t>({-1, 2}, {1, 2}), logits({0.854f, 0.698f, 0.598f, 0.088f, 0.86f, 0.018f}, {1, 2, 3});
  SparseCategoricalCrossentropy each({.from_logits = true, .ignore_class = -1, .reduction = Reduction::none});
  CHECK(near(numbers(each(y, logits)), {0.0, 1.480129}, 1e-5));
  SparseCategoricalCrossentropy mean({.from_logits = true, .ignore_class = -1});
  CHECK(near(numbers(mean(y, logits)), {1.480129}, 1e-5)); // the mean over the only label that counts
  CHECK(near(numbers(mean(y, logits, Tensor({3, 0.5f}, {1, 2}))), {0.7400645}, 1e-5));
  CHECK(near(numbers(mean(Tensor::full({1, 2}, -1, int32), logits)), {0.0}));
  SparseCategoricalCrossentropy inside({.ignore_class = 1, .reduction = Reduction::sum});
  CHECK(near(numbers(inside(labels, probabilities)), {std::log(10.0)}, 1e-5));
}

TEST_CASE("logits of any size give a finite loss and the softmax's gradient") {
  Variable logits = weight(Tensor({1000, -1000, 0, 80, 90, 100}, {2, 3}));
  SparseCategoricalCrossentropy loss({.from_logits = true});
  for (Run run : everyRun) {
    std::vector<Tensor> results = runOnce(run, {labels}, [&](const std::vector<Value> &v) {
      Value value = loss(v[0], logits);
      return std::vector<Value>{value, gradients(value, std::vector<Variable>{logits})[0]};
    });
    double lse = std::log(1 + std::exp(-10.0) + std::exp(-20.0));
    CHECK(near(numbers(results[0]), {(2000 + lse) / 2}));
    double sum = std::exp(lse), a = std::exp(-20.0) / sum, b = std::exp(-10.0) / sum;
    CHECK(near(numbers(results[1]), {0.5, -0.5, 0, a / 2, b / 2, (1 / sum - 1) / 2}));
  }
}

TEST_CASE("crossentropy of logits and of probabilities agree, and so do sparse and one-hot labels") {
  Tensor logits({0.3f, -1.2f, 2.5f, 0.0f, 0.7f, -0.4f}, {2, 3});
  for (Run run : everyRun) {
    std::vector<Tensor> all = runOnce(run, {labels, oneHot, logits}, [](const std::vector<Value> &v) {
      Value p = ops::softmax(v[2]);
      return std::vector<Value>{SparseCategoricalCrossentropy({.from_logits = true})(v[0], v[2]),
                                SparseCategoricalCrossentropy()(v[0], p),
                                CategoricalCrossentropy({.from_logits = true})(v[1], v[2]),
                                CategoricalCrossentropy()(v[1], p),
                                BinaryCrossentropy({.from_logits = true})(v[1], v[2]),
                                BinaryCrossentropy()(v[1], ops::sigmoid(v[2]))};
    });
    double first = numbers(all[0])[0];
    for (int i : {1, 2, 3})
      CHECK(near(numbers(all[i]), {first}, 1e-5));
    CHECK(near(numbers(all[4]), numbers(all[5]), 1e-5));
  }
}

TEST_CASE("crossentropy takes labels of any integer dtype, as floats, as a column, along any axis") {
  std::vector<double> expected = numbers(SparseCategoricalCrossentropy()(labels, probabilities));
  for (DType dtype : {uint8, int8, int64, float32, float16})
    CHECK(numbers(SparseCategoricalCrossentropy()(labels.astype(dtype), probabilities)) == expected);
  CHECK(numbers(SparseCategoricalCrossentropy()(labels.reshape({2, 1}), probabilities)) == expected);
  Tensor transposed({0.05f, 0.1f, 0.95f, 0.8f, 0, 0.1f}, {3, 2});
  CHECK(near(numbers(SparseCategoricalCrossentropy({.axis = 0})(labels, transposed)), expected));
  CHECK(near(numbers(CategoricalCrossentropy({.axis = 0})(Tensor({0, 0, 1, 0, 0, 1}, {3, 2}), transposed)), expected));
}

TEST_CASE("a label that is no class makes NaN in a compiled function, of that row only") {
  SparseCategoricalCrossentropy loss({.from_logits = true, .reduction = Reduction::none});
  for (Run run : everyRun) {
    std::vector<double> found =
        numbers(runOnce(run, {Tensor::of<int32_t>({7, 1}, {2}), probabilities},
                        [&](const std::vector<Value> &v) { return std::vector<Value>{loss(v[0], v[1])}; })[0]);
    CHECK(std::isnan(found[0]));
    CHECK(std::isfinite(found[1]));
  }
}

TEST_CASE("probabilities of 0 and 1 are clipped by Keras's epsilon") {
  Tensor p({1, 0}, {2, 1}), t({0, 1}, {2, 1});
  CHECK(near(numbers(BinaryCrossentropy()(t, p)), {(-std::log(1 - 0.99999988) - std::log(1e-7)) / 2}, 1e-3));
  CHECK(near(numbers(BinaryCrossentropy()(p, p)), {0.0}, 1e-6));
  CHECK(std::isfinite(numbers(BinaryCrossentropy({.dtype = float16})(t, p))[0]));
  CHECK(std::isfinite(numbers(BinaryCrossentropy({.dtype = bfloat16})(t, p))[0]));
  CHECK(near(numbers(SparseCategoricalCrossentropy()(Tensor::of<int32_t>({2}, {1}), Tensor({0.5f, 0.5f, 0}, {1, 3}))),
             {-std::log(1e-7)}, 1e-5));
}

TEST_CASE("label smoothing moves targets towards uniform") {
  Tensor t({0, 1}, {1, 2}), x({0.5f, -0.25f}, {1, 2});
  auto bce = [](double target, double logit) { return std::log1p(std::exp(logit)) - target * logit; };
  CHECK(near(numbers(BinaryCrossentropy({.from_logits = true, .label_smoothing = 0.2})(t, x)),
             {(bce(0.1, 0.5) + bce(0.9, -0.25)) / 2}));
  double lse = std::log(std::exp(0.5) + std::exp(-0.25));
  CHECK(near(numbers(CategoricalCrossentropy({.from_logits = true, .label_smoothing = 0.2})(t, x)),
             {lse - 0.1 * 0.5 + 0.9 * 0.25}));
  CHECK(errorOf([] { BinaryCrossentropy({.label_smoothing = 1.5}); }).starts_with("ValueError: `label_smoothing`"));
}
