// Shuffles, and gamma, beta and binomial draws: their distributions, seeds, dtypes and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

using Row = std::vector<double>;
constexpr int64_t draws = int64_t{1} << 17;

Row drawnNumbers(const std::function<Value()> &f, Numerics numerics = Numerics::fast) {
  return numbers(jit(f, {.numerics = numerics})());
}

/// Checks that mean and variance are within 5 standard deviations for this number of draws. The fourth moment bounds
/// the deviation of the variance.
void checkMoments(const Row &x, double mean, double variance, double kurtosis) {
  const double count = static_cast<double>(x.size());
  const double found = std::accumulate(x.begin(), x.end(), 0.0) / count;
  double squares = 0;
  for (const double each : x)
    squares += (each - mean) * (each - mean) / count;
  INFO("mean " << found << ", variance " << squares << ", expected " << mean << ", " << variance);
  CHECK(std::abs(found - mean) <= 5 * std::sqrt(variance / count));
  CHECK(std::abs(squares - variance) <= 5 * variance * std::sqrt((kurtosis - 1) / count));
}

double chooseOf(int n, int k) { return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)); }

} // namespace

TEST_CASE("Gamma numbers have the moments of their distribution in each dtype") {
  for (const double alpha : {0.3, 1.0, 4.5, 200.0}) {
    const Row x = drawnNumbers([=] { return random::gamma({draws}, alpha, {.seed = 3}); });
    checkMoments(x, alpha, alpha, 3 + 6 / alpha);
    CHECK(*std::min_element(x.begin(), x.end()) >= 0);
  }
  for (const DType dtype : {float64, float16, bfloat16}) {
    const Tensor x = jit([=] { return random::gamma({draws}, 2, {.dtype = dtype, .seed = 3}); })();
    CHECK(x.dtype() == dtype);
    const Row all = numbers(x);
    CHECK(std::accumulate(all.begin(), all.end(), 0.0) / draws == Approx(2).epsilon(0.02));
  }
  // P(X <= 1) for alpha = 1 and alpha = 1/2: 1 - 1/e and erf(1).
  for (const auto &[alpha, share] : {std::pair{1.0, 1 - std::exp(-1.0)}, std::pair{0.5, std::erf(1.0)}}) {
    const Row x = drawnNumbers([alpha = alpha] { return random::gamma({draws}, alpha, {.seed = 9}); });
    const auto below = static_cast<double>(std::count_if(x.begin(), x.end(), [](double v) { return v <= 1; }));
    CHECK(std::abs(below / draws - share) < 5 * std::sqrt(share * (1 - share) / draws));
  }
}

TEST_CASE("Beta numbers have the moments of their distribution, also with small parameters") {
  for (const auto &[a, b] : {std::pair{0.5, 0.5}, std::pair{2.0, 5.0}, std::pair{1.0, 1.0}, std::pair{0.01, 0.02}}) {
    const Row x = drawnNumbers([a = a, b = b] { return random::beta({draws}, a, b, {.seed = 4}); });
    const double variance = a * b / ((a + b) * (a + b) * (a + b + 1));
    checkMoments(x, a / (a + b), variance, 4);
    CHECK(*std::max_element(x.begin(), x.end()) <= 1);
  }
}

TEST_CASE("Binomial numbers come in the shares of their distribution, few and many") {
  struct Trials {
    int n;
    double p;
  };
  for (const auto &[n, p] : {Trials{5, 0.3}, Trials{40, 0.1}, Trials{40, 0.5}, Trials{60, 0.8}, Trials{1, 0.5}}) {
    INFO(n << " trials of " << p);
    const Row x = drawnNumbers([n = n, p = p] { return random::binomial({draws}, n, p, {.seed = 6}); });
    Row counts(static_cast<size_t>(n + 1), 0);
    for (const double each : x) {
      REQUIRE((each >= 0 && each <= n && each == std::floor(each)));
      ++counts[static_cast<size_t>(each)];
    }
    for (int k = 0; k <= n; ++k) {
      const double share = chooseOf(n, k) * std::pow(p, k) * std::pow(1 - p, n - k);
      INFO(k << ": " << counts[static_cast<size_t>(k)] << " of " << share * draws);
      CHECK(std::abs(counts[static_cast<size_t>(k)] - share * draws) <= 6 * std::sqrt(share * draws) + 3);
    }
  }
  checkMoments(drawnNumbers([] { return random::binomial({draws}, 10000, 0.25, {.seed = 6}); }), 2500, 1875, 3);
  CHECK(drawnNumbers([] { return random::binomial({3}, 7, 1.0); }) == Row{7, 7, 7});
  CHECK(drawnNumbers([] { return random::binomial({3}, 7, 0); }) == Row{0, 0, 0});
}

TEST_CASE("Each vector along the axis is shuffled in an order of its own") {
  const Tensor x = counted({6, 4, 50});
  const auto shuffled = jit([](const Value &v) { return random::shuffle(v, {.axis = 2, .seed = 2}); });
  const Row y = numbers(shuffled(x));
  std::set<Row> orders;
  for (size_t row = 0; row < 24; ++row) {
    Row part(y.begin() + static_cast<int64_t>(row * 50), y.begin() + static_cast<int64_t>(row * 50 + 50));
    for (double &each : part)
      each -= static_cast<double>(row * 50);
    orders.insert(part);
    std::sort(part.begin(), part.end());
    CHECK(part == numbers(counted({50})));
  }
  CHECK(orders.size() == 24);
  CHECK(numbers(shuffled(x)) == y);
  // Each element is equally often at each index.
  Row firsts(3, 0);
  for (const double each : numbers(jit([](const Value &v) {
         return random::shuffle(ops::broadcast_to(v, {3, draws}), {.seed = 1})[0];
       })(counted({3, 1}))))
    ++firsts[static_cast<size_t>(each)];
  for (const double count : firsts)
    CHECK(std::abs(count - draws / 3.0) < 5 * std::sqrt(draws * 2.0 / 9));
}

TEST_CASE("Parameters of draws may be Values, and draws of one seed are the same in both numerics") {
  const auto f = jit([](const Value &a, const Value &p) {
    return Values{random::gamma({2, 3}, a, {.seed = 1}), random::binomial({2, 3}, ops::cast(a, int32), p, {.seed = 1}),
                  random::beta({2, 3}, a, 1, {.seed = 1})};
  });
  const Tensors y = f(Tensor({1, 20, 300}), Tensor({0.5, 0.1}, {2, 1}));
  CHECK(numbers(y[0])[2] > 100);
  CHECK(numbers(y[1])[2] > 100);
  CHECK(numbers(y[1])[5] < 100);
  CHECK(numbers(y[2])[5] > 0.9);
  const Tensors bad = f(Tensor({-1, 20, NAN}), Tensor({2.0, 0.1}, {2, 1}));
  CHECK(std::isnan(numbers(bad[0])[0]));
  CHECK(std::isnan(numbers(bad[0])[2]));
  CHECK(std::isnan(numbers(bad[1])[1]));
  CHECK(!std::isnan(numbers(bad[1])[4]));
  const auto binomial = [] { return random::binomial({1000}, 30, 0.4, {.seed = 8}); };
  CHECK(drawnNumbers(binomial) == drawnNumbers(binomial, Numerics::strict));
  const auto drawn = jit([] { return random::gamma({4}, 2); });
  CHECK(numbers(drawn()) != numbers(drawn()));
}

TEST_CASE("Distributions and shuffles refuse what they cannot draw") {
  const auto error = [](std::function<Value(const Value &)> f) {
    return errorOf([&] { (void)jit(f)(Tensor::zeros({2, 3})); });
  };
  using V = const Value &;
  CHECK_THAT(error([](V) { return random::gamma({2}, -1); }), Contains("ValueError") && Contains("alpha=-1"));
  CHECK_THAT(error([](V) { return random::beta({2}, 1, NAN); }), Contains("ValueError") && Contains("beta=nan"));
  CHECK_THAT(error([](V) { return random::binomial({2}, 3, 1.5); }), Contains("probabilities from 0 to 1"));
  CHECK_THAT(error([](V) { return random::gamma({2}, 1, {.dtype = int32}); }), Contains("floating point `dtype`"));
  CHECK_THAT(error([](V) { return random::gamma({none}, 1); }), Contains("ValueError") && Contains("(None,)"));
  CHECK_THAT(error([](V x) { return random::gamma({4}, x); }), Contains("ValueError"));
  CHECK_THAT(error([](V x) { return random::shuffle(x, {.axis = 2}); }), Contains("axis 2 is out of range"));
  CHECK_THAT(error([](V) { return random::shuffle(Value()); }), Contains("undefined"));
  CHECK_THAT(errorOf([] { (void)random::gamma({2}, 1); }), Contains("RuntimeError: random::gamma()"));
  CHECK_THAT(errorOf([] { (void)random::shuffle(layers::Input({3})); }), Contains("RuntimeError: random::shuffle()"));
}
