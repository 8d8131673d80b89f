// Compares ops::dot_product_attention with a plain loop; its arguments and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using List = std::vector<Value>;

namespace {

Tensor noise(const Shape &shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float &value : values)
    value = std::uniform_real_distribution<float>(-1, 1)(generator);
  return Tensor(values, shape);
}

/// q (2, 3, 4, 5), k (2, 6, 2, 5), v (2, 6, 2, 3), bias (4, 3, 6), mask (2, 1, 1, 6): in double.
std::vector<double> byLoop(const std::vector<Tensor> &in, double scale, bool causal) {
  std::vector<std::vector<double>> x;
  for (const Tensor &each : in)
    x.push_back(numbers(each));
  std::vector<double> out;
  for (int b = 0; b < 2; ++b)
    for (int t = 0; t < 3; ++t)
      for (int n = 0; n < 4; ++n) {
        double sum = 0, means[3] = {0, 0, 0};
        for (int s = 0; s < 6; ++s) {
          double score = 0;
          for (int h = 0; h < 5; ++h)
            score += x[0][((b * 3 + t) * 4 + n) * 5 + h] * x[1][((b * 6 + s) * 2 + n / 2) * 5 + h];
          const bool isSeen = x[4][b * 6 + s] != 0 && (!causal || s <= t);
          const double weight = isSeen ? std::exp(score * scale + x[3][(n * 3 + t) * 6 + s]) : 0;
          sum += weight;
          for (int e = 0; e < 3; ++e)
            means[e] += weight * x[2][((b * 6 + s) * 2 + n / 2) * 3 + e];
        }
        for (double mean : means)
          out.push_back(mean / sum);
      }
  return out;
}

Value attended(const Shape &query, const Shape &key, const Shape &value, const Shape &mask = {}) {
  const auto input = [](const Shape &shape) { return ops::reshape(ops::arange(double(shape.elements())), shape); };
  return ops::dot_product_attention(input(query), input(key), input(value),
                                    {.mask = mask.rank() ? ops::greater(input(mask), input(mask)) : Value()});
}

} // namespace

TEST_CASE("dot_product_attention is the sum that a plain loop gives, with bias, mask, scale and shared heads") {
  std::vector<Tensor> feeds{noise({2, 3, 4, 5}, 1), noise({2, 6, 2, 5}, 2), noise({2, 6, 2, 3}, 3), noise({4, 3, 6}, 4),
                            Tensor({1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1}, {2, 1, 1, 6}).astype(DType::bool_)};
  for (Run run : everyRun)
    for (bool causal : {false, true}) {
      const auto results = runOnce(run, feeds, [&](const List &v) {
        return List{ops::dot_product_attention(v[0], v[1], v[2], {.bias = v[3], .mask = v[4], .is_causal = causal}),
                    ops::dot_product_attention(v[0], v[1], v[2],
                                               {.bias = v[3], .mask = v[4], .scale = 2.0, .is_causal = causal})};
      });
      CHECK(results[0].shape() == Shape{2, 3, 4, 3});
      CHECK(near(numbers(results[0]), byLoop(feeds, 1 / std::sqrt(5.0), causal), 1e-5));
      CHECK(near(numbers(results[1]), byLoop(feeds, 2.0, causal), 1e-5));
    }
}

TEST_CASE("The gradient of attention has a gradient: that of the same sums written out") {
  const std::vector<Tensor> feeds{noise({2, 3, 2, 4}, 1), noise({2, 5, 2, 4}, 2), noise({2, 5, 2, 3}, 3)};
  const auto plain = [](const List &v) {
    const Value scores = ops::einsum("btnh,bsnh->bnts", {v[0], v[1]}) * 0.5;
    return ops::einsum("bnts,bsne->btne", {ops::softmax(scores), v[2]});
  };
  const auto slopes = [](const Value &out, const List &v) {
    const List first = gradients(ops::sum(out * out * out), v);
    Value sum = ops::sum(first[0] * first[0]);
    for (size_t i : {1, 2})
      sum = sum + ops::sum(first[i] * first[i]);
    return gradients(sum, v);
  };
  for (Run run : everyRun) {
    const auto found =
        runOnce(run, feeds, [&](const List &v) { return slopes(ops::dot_product_attention(v[0], v[1], v[2]), v); });
    const auto expected = runOnce(run, feeds, [&](const List &v) { return slopes(plain(v), v); });
    for (size_t i = 0; i < 3; ++i) {
      CHECK(found[i].shape() == feeds[i].shape());
      CHECK(near(numbers(found[i]), numbers(expected[i]), 5e-6));
    }
  }
}

TEST_CASE("The gradient of attention whose blocks share a head is that of the same sums written out") {
  // Two query heads and one key head: few enough, with enough scores, to split the queries into parts.
  const std::vector<Tensor> feeds{noise({1, 301, 2, 4}, 1), noise({1, 310, 1, 4}, 2), noise({1, 310, 1, 3}, 3)};
  const auto plain = [](const List &v) {
    const Value keys = ops::reshape(v[1], {1, 310, 4}), values = ops::reshape(v[2], {1, 310, 3});
    const Value scores = ops::einsum("btnh,bsh->bnts", {v[0], keys}) * 0.5;
    const Value seen = ops::greater_equal(ops::expand_dims(ops::arange(301.0), 1), ops::arange(310.0));
    const Value shown = ops::where(seen, scores, ops::full_like(scores, -1e9));
    return ops::einsum("bnts,bse->btne", {ops::softmax(shown), values});
  };
  const auto slopes = [](const Value &out, const List &v) { return gradients(ops::sum(out * out * out), v); };
  const auto expected = runOnce(Run::compiled, feeds, [&](const List &v) { return slopes(plain(v), v); });
  const auto found = runOnce(Run::compiled, feeds, [&](const List &v) {
    return slopes(ops::dot_product_attention(v[0], v[1], v[2], {.is_causal = true}), v);
  });
  for (size_t i = 0; i < 3; ++i) {
    CHECK(found[i].shape() == feeds[i].shape());
    CHECK(near(numbers(found[i]), numbers(expected[i]), 2e-5));
  }
}

TEST_CASE("dot_product_attention computes integers in floatx and promotes mixed floats") {
  const Tensor whole = Tensor::zeros({1, 2, 1, 3}, int32), half = Tensor::zeros({1, 2, 1, 3}, float16),
               brain = Tensor::zeros({1, 2, 1, 3}, bfloat16);
  const auto results = runOnce(Run::compiled, {whole, half, brain}, [](const List &v) {
    return List{ops::dot_product_attention(v[0], v[0], v[0]), ops::dot_product_attention(v[1], v[1], v[1]),
                ops::dot_product_attention(v[1], v[2], v[1])};
  });
  CHECK(results[0].dtype() == float32);
  CHECK(results[1].dtype() == float16);
  CHECK(results[2].dtype() == float32);
}

TEST_CASE("dot_product_attention refuses shapes that do not fit, and names them") {
  const auto error = [](const Shape &q, const Shape &k, const Shape &v, const Shape &mask = {}) {
    return errorOf(
        [&] { (void)runOnce(Run::interpreted, {}, [&](const List &) { return List{attended(q, k, v, mask)}; }); });
  };
  CHECK_THAT(error({2, 3, 4}, {2, 3, 4}, {2, 3, 4}),
             Contains("ValueError: `dot_product_attention` only supports 4D inputs. Received: query.shape=(2, 3, 4)"));
  for (const auto &[k, v] :
       {std::pair(Shape{1, 6, 2, 5}, Shape{1, 6, 2, 3}), std::pair(Shape{2, 6, 2, 4}, Shape{2, 6, 2, 3}),
        std::pair(Shape{2, 6, 3, 5}, Shape{2, 6, 3, 3}), std::pair(Shape{2, 6, 2, 5}, Shape{2, 7, 2, 3})})
    CHECK_THAT(error({2, 3, 4, 5}, k, v),
               Contains("ValueError: `dot_product_attention` expected a query (b, t, n, h)"));
  CHECK_THAT(error({2, 3, 4, 5}, {2, 6, 2, 5}, {2, 6, 2, 3}, {2, 3, 5}),
             Contains("ValueError: `dot_product_attention` expected a mask that broadcasts to the shape of the scores, "
                      "(2, 4, 3, 6). Received: mask.shape=(2, 3, 5)"));
}
