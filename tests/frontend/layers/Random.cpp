// Draws of random:: in traced functions: words, moments, bounds, seeds, generators, and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Random.h"
#include "dialect/Philox.h"
#include "tests/frontend/Recorded.h"
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numbers>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using random::SeedGenerator;

namespace {

constexpr int64_t many = int64_t{1} << 20;

/// The result of one run of a function without arguments.
Tensor drawn(std::function<Value()> f, Numerics numerics = Numerics::fast) {
  return jit(std::move(f), {.numerics = numerics})();
}

struct Moments {
  double mean = 0, variance = 0, skew = 0, kurtosis = 0, least = INFINITY, largest = -INFINITY;
};
Moments momentsOf(const Tensor &tensor) {
  const std::vector<double> all = numbers(tensor);
  const double count = static_cast<double>(all.size());
  Moments m;
  for (const double v : all) {
    m.mean += v / count;
    m.least = std::min(m.least, v);
    m.largest = std::max(m.largest, v);
  }
  for (const double v : all)
    m.variance += (v - m.mean) * (v - m.mean) / count;
  for (const double v : all) {
    const double z = (v - m.mean) / std::sqrt(m.variance);
    m.skew += z * z * z / count;
    m.kurtosis += z * z * z * z / count;
  }
  return m;
}

/// The chi-square statistic of counts against fractions, and the value that one draw in a million exceeds, by Wilson
/// and Hilferty.
double chiSquare(const std::vector<double> &counts, const std::vector<double> &shares) {
  double total = 0, sum = 0;
  for (const double count : counts)
    total += count;
  for (size_t i = 0; i < counts.size(); ++i)
    sum += std::pow(counts[i] - total * shares[i], 2) / (total * shares[i]);
  return sum;
}
double oneInAMillion(size_t values) {
  const double degrees = static_cast<double>(values - 1), ninth = 2 / (9 * degrees);
  return degrees * std::pow(1 - ninth + 4.7534 * std::sqrt(ninth), 3);
}

std::vector<uint32_t> stateOf(const SeedGenerator &generator) {
  return generator.state().value().to_vector<uint32_t>();
}

} // namespace

TEST_CASE("Draws have the words of Philox under the key of their seed") {
  const auto words = [](const random::Seed &seed) {
    return drawn([seed] { return random::randint({6}, 0, int64_t{1} << 32, {.dtype = int64, .seed = seed}); })
        .to_vector<int64_t>();
  };
  const std::vector<int64_t> first = words(0); // the answers that Random123 publishes for a key and a counter of zeros
  CHECK(std::vector(first.begin(), first.begin() + 4) ==
        std::vector<int64_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::array<uint32_t, 4> second = dialect::philox4x32({1, 0, 0, 0}, {0, 0});
  CHECK(first[4] == second[0]);
  CHECK(first[5] == second[1]);
  const SeedGenerator generator(7);
  CHECK(words(generator) == words(7));
  const std::array<uint32_t, 4> next = dialect::philox4x32({0, 0, 0, 0}, {7, 1});
  CHECK(words(generator)[3] == next[3]);
  CHECK(stateOf(generator) == std::vector<uint32_t>{7, 2});
}

TEST_CASE("Normal numbers have the moments of their distribution in each dtype") {
  for (const DType dtype : {float32, float64, float16, bfloat16}) {
    INFO(name(dtype));
    const Tensor x = drawn([=] { return random::normal({many}, {.mean = 3, .stddev = 2, .dtype = dtype, .seed = 5}); });
    CHECK(x.dtype() == dtype);
    const Moments m = momentsOf(x);
    CHECK(std::abs(m.mean - 3) < 0.01);
    CHECK(std::abs(m.variance - 4) < 0.03);
    CHECK(std::abs(m.skew) < 0.015);
    CHECK(std::abs(m.kurtosis - 3) < 0.03);
    CHECK(m.largest > 3 + 2 * 4.2);
  }
}

TEST_CASE("Truncated normal numbers lie within two deviations, in the shape of the normal distribution") {
  for (const DType dtype : {float32, float64, bfloat16}) {
    INFO(name(dtype));
    const Tensor x =
        drawn([=] { return random::truncated_normal({many}, {.mean = 1, .stddev = 0.5, .dtype = dtype, .seed = 5}); });
    CHECK(x.dtype() == dtype);
    const Moments m = momentsOf(x);
    CHECK(std::abs(m.mean - 1) < 0.002);
    CHECK(std::abs(m.variance / 0.25 - 0.7737) < 0.005);
    CHECK(m.least >= 0);
    CHECK(m.largest <= 2);
    std::vector<double> counts(8), shares(8);
    for (const double v : numbers(x.astype(float32)))
      ++counts[std::min<size_t>(7, static_cast<size_t>(v * 4))];
    const auto below = [](double z) { return std::erf(z / std::numbers::sqrt2) / (2 * std::erf(std::numbers::sqrt2)); };
    for (size_t i = 0; i < 8; ++i)
      shares[i] = below(-2 + 0.5 * static_cast<double>(i + 1)) - below(-2 + 0.5 * static_cast<double>(i));
    if (dtype != bfloat16) // its roundings cross the bounds
      CHECK(chiSquare(counts, shares) < oneInAMillion(8));
  }
}

TEST_CASE("Uniform numbers lie in their range after rounding, in each dtype") {
  for (const DType dtype : {float32, float64, float16, bfloat16, float8_e4m3fn})
    for (const auto &[low, high] : std::vector<std::pair<double, double>>{
             {0, 1}, {-1, 1}, {0.1, 0.7}, {-3, 5}, {1, 1.5}, {-200, 30}, {0.5, 0.5078125}}) {
      INFO(name(dtype) << " from " << low << " to " << high);
      if (dtype == float8_e4m3fn && high - low < 0.1)
        continue; // the interval has a single number of this dtype
      const Tensor x = drawn([=, low = low, high = high] {
        return random::uniform({many}, {.minval = low, .maxval = high, .dtype = dtype, .seed = 9});
      });
      CHECK(x.dtype() == dtype);
      const Moments m = momentsOf(x);
      CHECK(m.least >= low);
      CHECK(m.largest < high);
      const double range = high - low, step = dtype == float8_e4m3fn ? 0.07 : dtype == bfloat16 ? 0.5 : 0.01;
      CHECK(std::abs(m.mean - (low + high) / 2) < step * range);
      if (dtype == float32 || dtype == float64)
        CHECK(std::abs(m.variance - range * range / 12) < 0.01 * range * range / 12);
    }
  const Tensor wide = drawn([] { return random::uniform({many}, {.minval = -3e38, .maxval = 3e38, .seed = 1}); });
  CHECK(momentsOf(wide).largest < 3e38);
  CHECK(momentsOf(wide).largest > 2.9e38);
  CHECK(momentsOf(wide).least >= -3e38);
  const Tensor fine = drawn([] { return random::uniform({many}, {.dtype = float64, .seed = 1}); });
  CHECK(numbers(fine.astype(float32)) != numbers(fine)); // more than 24 bits
}

TEST_CASE("Integers are uniform over their range, also those with remainders and of 64 bits") {
  struct Case {
    int64_t low, high;
    DType dtype;
    int64_t divisor, modulus; // the values are counted by (v - low) / divisor % modulus
  };
  for (const Case &each :
       std::vector<Case>{{-3, 4, int8, 1, 7},
                         {0, 256, uint8, 1, 256},
                         {0, 1000, int32, 1, 1000},
                         {0, int64_t{3} << 29, int32, 1, 3}, // with one word, some values were twice as likely
                         {0, int64_t{3} << 29, int32, int64_t{1} << 29, 3},
                         {-5, (int64_t{3} << 61) - 5, int64, 1, 3},
                         {-5, (int64_t{3} << 61) - 5, int64, int64_t{1} << 61, 3},
                         {0, int64_t{1} << 40, uint64, int64_t{1} << 36, 16}}) {
    INFO(name(each.dtype) << " below " << each.high << " by " << each.divisor << " modulo " << each.modulus);
    const Tensor x =
        drawn([=] { return random::randint({many}, each.low, each.high, {.dtype = each.dtype, .seed = 3}); });
    CHECK(x.dtype() == each.dtype);
    std::vector<double> counts(static_cast<size_t>(each.modulus));
    bool isInside = true;
    for (const int64_t v : x.astype(int64).to_vector<int64_t>()) {
      isInside &= v >= each.low && v < each.high;
      if (isInside)
        ++counts[static_cast<size_t>((v - each.low) / each.divisor % each.modulus)];
    }
    CHECK(isInside);
    CHECK(chiSquare(counts, std::vector(counts.size(), 1.0 / static_cast<double>(each.modulus))) <
          oneInAMillion(counts.size()));
  }
  const auto whole = drawn([] {
                       return random::randint({many}, INT64_MIN, INT64_MAX, {.dtype = int64, .seed = 3});
                     }).to_vector<int64_t>();
  double negative = 0;
  for (const int64_t v : whole)
    negative += v < 0;
  CHECK(std::abs(negative / static_cast<double>(many) - 0.5) < 0.003);
  CHECK(drawn([] { return random::randint({3}, 41, 42); }).to_vector<int32_t>() == std::vector<int32_t>(3, 41));
}

TEST_CASE("Samples of classes come in the shares of the logits") {
  const std::vector<float> logits{0, 1, 2, -1, -INFINITY, 0, 0, 0, 0, -INFINITY};
  for (const DType dtype : {float32, float64, bfloat16}) {
    const auto sample = jit([](const Value &l) { return random::categorical(l, many, {.dtype = uint8, .seed = 2}); });
    const Tensor x = sample(Tensor(logits, {2, 5}).astype(dtype));
    CHECK(x.shape() == Shape{2, many});
    CHECK(x.dtype() == uint8);
    const std::vector<double> all = numbers(x);
    for (size_t row = 0; row < 2; ++row) {
      double total = 0;
      std::vector<double> counts(5), shares(5);
      for (size_t i = 0; i < static_cast<size_t>(many); ++i)
        ++counts[static_cast<size_t>(all[row * static_cast<size_t>(many) + i])];
      CHECK(counts[4] == 0); // the class with probability 0
      for (size_t i = 0; i < 4; ++i)
        total += std::exp(logits[row * 5 + i]);
      for (size_t i = 0; i < 4; ++i)
        shares[i] = std::exp(logits[row * 5 + i]) / total;
      counts.resize(4);
      shares.resize(4);
      CHECK(chiSquare(counts, shares) < oneInAMillion(4));
    }
  }
}

TEST_CASE("random::dropout drops a share of elements, whole slices by a noise shape, and scales the others") {
  const auto dropped = [](const Tensor &x, double rate, const random::DropoutArgs &args) {
    return jit([=](const Value &v) { return random::dropout(v, rate, args); })(x);
  };
  const Tensor ones = Tensor::ones({1024, 1024});
  double zeros = 0;
  for (const double v : numbers(dropped(ones, 0.3, {.seed = 5}))) {
    zeros += v == 0;
    if (v != 0 && v != static_cast<double>(1 / 0.7f))
      FAIL_CHECK(v);
  }
  CHECK(std::abs(zeros / static_cast<double>(many) - 0.3) < 0.003);
  const std::vector<double> rows = numbers(dropped(Tensor::ones({64, 3}), 0.5, {.noise_shape = {none, 1}, .seed = 5}));
  for (size_t i = 0; i < rows.size(); ++i)
    CHECK(rows[i] == rows[i / 3 * 3]);
  CHECK(rows != std::vector<double>(rows.size(), rows[0]));
  CHECK(numbers(dropped(ones.slice(0, 2), 0.0, {})) == numbers(ones.slice(0, 2)));
  CHECK(numbers(dropped(Tensor::full({3}, NAN), 1.0, {})) == std::vector<double>(3, 0.0));
  CHECK(dropped(ones.slice(0, 1).astype(bfloat16), 0.5, {.seed = 1}).dtype() == bfloat16);
  const Tensor slope = jit([](const Value &v) { return gradient(ops::sum(random::dropout(v, 0.5, {.seed = 8})), v); })(
      Tensor::ones({32}));
  CHECK(numbers(slope) == numbers(dropped(Tensor::ones({32}), 0.5, {.seed = 8})));
}

TEST_CASE("Draws of no elements and of one have the shape that they name") {
  const Tensors all = jit([](const Value &x) {
    return Values{random::normal({0, 3}),
                  random::truncated_normal({0}),
                  random::uniform({2, 0}),
                  random::randint({0}, 0, 3),
                  random::dropout(x, 0.5),
                  random::categorical(ops::zeros({2, 3}), 0),
                  random::normal({}),
                  random::uniform({1, 1, 1}, {.dtype = float64}),
                  random::randint({}, 0, 4),
                  random::categorical(ops::zeros({0, 3}), 4),
                  random::categorical(ops::zeros({2, 1}), 2)};
  })(Tensor::zeros({0, 2}));
  const std::vector<Shape> shapes{{0, 3}, {0}, {2, 0}, {0}, {0, 2}, {2, 0}, {}, {1, 1, 1}, {}, {0, 4}, {2, 2}};
  REQUIRE(all.size() == shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i)
    CHECK(all[i].shape() == shapes[i]);
  CHECK(numbers(all[10]) == std::vector<double>(4, 0.0)); // the only class
  CHECK(all[6].dtype() == float32);
}

TEST_CASE("A number's draws repeat, a generator's and those without a seed differ at each run") {
  const auto fixed = jit([] { return random::normal({4}, {.seed = 3}); });
  CHECK(numbers(fixed()) == numbers(fixed()));
  const SeedGenerator generator(3);
  const auto advancing = jit([=] { return random::normal({4}, {.seed = generator}); });
  CHECK(numbers(advancing()) == numbers(fixed()));
  CHECK(numbers(advancing()) != numbers(fixed()));
  CHECK(stateOf(generator) == std::vector<uint32_t>{3, 2}); // each draw counts once
  const auto twice = jit([] { return Values{random::uniform({4}), random::uniform({4})}; });
  set_random_seed(8);
  const Tensors first = twice(), second = twice();
  CHECK(numbers(first[0]) != numbers(first[1]));
  CHECK(numbers(first[0]) != numbers(second[0]));
  CHECK(numbers(first[1]) != numbers(second[0]));
  const auto other = jit([] { return Values{random::uniform({4}), random::uniform({4})}; });
  CHECK(numbers(other()[0]) != numbers(first[0])); // each function has its own generator
  set_random_seed(8);
  const auto again = jit([] { return Values{random::uniform({4}), random::uniform({4})}; });
  const Tensors repeated = again();
  CHECK(numbers(repeated[0]) == numbers(first[0]));
  CHECK(numbers(again()[1]) == numbers(second[1]));
}

TEST_CASE("All traces of a function share its generator, and a call that fails makes none") {
  set_random_seed(2);
  const auto fails = std::make_shared<bool>(true);
  const auto f = jit([=](const Value &x) {
    const Value y = x + random::uniform({});
    if (*fails)
      throw Error(ErrorKind::value_error, "not yet");
    return y;
  });
  CHECK_THROWS_WITH(f(Tensor::zeros({1})), Contains("not yet"));
  *fails = false;
  const std::vector<double> first = numbers(f(Tensor::zeros({1}))), second = numbers(f(Tensor::zeros({2})));
  CHECK(first[0] != second[0]);
  CHECK(second[0] == second[1]);
  set_random_seed(2);
  const auto again = jit([](const Value &x) { return x + random::uniform({}); });
  CHECK(numbers(again(Tensor::zeros({1}))) == first);
  CHECK(numbers(again(Tensor::zeros({1})))[0] == second[0]);
}

TEST_CASE("Processes that share a batch draw other numbers of one state") {
  const auto drawnIn = [](int64_t rank, const random::Seed &seed) {
    return numbers(runOnce(Run::compiled, {Tensor::full({}, 4.0f)}, [&](const std::vector<Value> &v) {
                     detail::Trace::current()->sharedBatch = detail::SharedBatch{rank, 3, v[0], v[0]};
                     const Value x = random::uniform({8}, {.seed = seed});
                     detail::Trace::current()->sharedBatch.reset(); // the player has no group
                     return std::vector<Value>{x};
                   }).front());
  };
  const SeedGenerator generators[] = {SeedGenerator(3), SeedGenerator(3), SeedGenerator(3)};
  for (int64_t rank = 0; rank < 3; ++rank) {
    CHECK(drawnIn(rank, generators[rank]) == drawnIn(rank, 3));
    CHECK(stateOf(generators[rank]) == std::vector<uint32_t>{3, 1});
    CHECK(drawnIn(rank, 3) != drawnIn((rank + 1) % 3, 3));
  }
}

TEST_CASE("Draws are refused outside of a trace, and while a functional model is put together") {
  const auto checkRefused = [](const std::string &caller, const std::function<void()> &draw) {
    CHECK_THAT(errorOf(draw), Contains("RuntimeError: " + caller) && Contains("only while a function is traced") &&
                                  Contains("Custom layer") && Contains("Tensor::normal()"));
  };
  checkRefused("random::normal()", [] { (void)random::normal({2}); });
  checkRefused("random::truncated_normal()", [] { (void)random::truncated_normal({2}); });
  checkRefused("random::uniform()", [] { (void)random::uniform({2}); });
  checkRefused("random::randint()", [] { (void)random::randint({2}, 0, 3); });
  checkRefused("random::dropout()", [] { (void)random::dropout(layers::Input({3}), 0.5); });
  checkRefused("random::categorical()", [] { (void)random::categorical(layers::Input({3}), 2); });
  checkRefused("SeedGenerator::next()", [] { (void)SeedGenerator(1).next(); });
}

TEST_CASE("Wrong arguments of draws have Keras's kinds of errors") {
  const auto error = [](std::function<Value(const Value &)> f, const Tensor &x = Tensor::zeros({2, 3})) {
    return errorOf([&] { (void)jit(f)(x); });
  };
  using V = const Value &;
  CHECK_THAT(error([](V) { return random::normal({2}, {.dtype = int32}); }),
             Contains("ValueError: `random::normal` requires a floating point `dtype`. Received: dtype=int32"));
  CHECK_THAT(error([](V) { return random::truncated_normal({2}, {.dtype = bool_}); }), Contains("ValueError"));
  CHECK_THAT(error([](V) { return random::uniform({2}, {.dtype = int64}); }), Contains("floating point"));
  CHECK_THAT(error([](V) { return random::uniform({2}, {.minval = 2, .maxval = 2}); }),
             Contains("ValueError") && Contains("minval=2, maxval=2"));
  CHECK_THAT(error([](V) { return random::uniform({2}, {.maxval = NAN}); }), Contains("ValueError"));
  CHECK_THAT(error([](V) { return random::uniform({2}, {.maxval = 1e6, .dtype = float16}); }),
             Contains("bounds that float16 can represent"));
  CHECK_THAT(error([](V) { return random::uniform({2}, {.minval = 1.0001, .maxval = 1.0002, .dtype = bfloat16}); }),
             Contains("a range that contains a value of bfloat16"));
  CHECK_THAT(error([](V) { return random::randint({2}, 5, 5); }), Contains("ValueError") && Contains("minval=5"));
  CHECK_THAT(error([](V) { return random::randint({2}, 0, 300, {.dtype = uint8}); }),
             Contains("that uint8 can represent"));
  CHECK_THAT(error([](V) { return random::randint({2}, -1, 3, {.dtype = uint32}); }),
             Contains("that uint32 can represent"));
  CHECK_THAT(error([](V) { return random::randint({2}, 0, 3, {.dtype = float32}); }),
             Contains("ValueError: `random::randint` requires an integer `dtype`. Received: dtype=float32"));
  CHECK_THAT(error([](V) { return random::randint({2}, 0, 3, {.dtype = bool_}); }), Contains("integer `dtype`"));
  CHECK_THAT(error([](V) { return random::normal({2, none}); }), Contains("ValueError") && Contains("(2, None)"));
  CHECK_THAT(error([](V) { return random::normal({2}, {.seed = -1}); }), Contains("ValueError") && Contains("seed=-1"));
  CHECK_THAT(error([](V) { return random::normal({2}, {.seed = UINT64_MAX}); }), Contains("ValueError: a seed is"));
  CHECK_THAT(errorOf([] { (void)SeedGenerator(int64_t{1} << 32); }), Contains("ValueError") && Contains("4294967296"));
  CHECK_THAT(error([](V x) { return random::categorical(ops::sum(x, {0}), 2); }),
             Contains("ValueError: `logits` should be a 2-D tensor"));
  CHECK_THAT(error([](V x) { return random::categorical(x, 2); }, Tensor::zeros({2, 3}, int32)),
             Contains("ValueError"));
  CHECK_THAT(error([](V x) { return random::categorical(x, -1); }), Contains("num_samples=-1"));
  CHECK_THAT(error([](V x) { return random::categorical(x, 1); }, Tensor::zeros({2, 0})),
             Contains("at least one class"));
  CHECK_THAT(error([](V) { return random::categorical(Value(), 1); }), Contains("undefined"));
  CHECK_THAT(error([](V x) { return random::dropout(x, 1.5); }), Contains("ValueError") && Contains("rate=1.5"));
  CHECK_THAT(error([](V x) { return random::dropout(x, -0.1); }), Contains("ValueError"));
  CHECK_THAT(error([](V x) { return random::dropout(x, 0.5); }, Tensor::zeros({2}, int32)), Contains("TypeError"));
  CHECK_THAT(error([](V x) { return random::dropout(x, 0.5, {.noise_shape = {2}}); }),
             Contains("ValueError") && Contains("noise_shape=(2,), x.shape=(2, 3)"));
  CHECK_THAT(error([](V x) { return random::dropout(x, 0.5, {.noise_shape = {1, 1, 2, 3}}); }),
             Contains("noise_shape"));
}
