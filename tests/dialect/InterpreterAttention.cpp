// The semantics of attention: rows computed by hand, and a plain loop in double over many shapes.
// SPDX-License-Identifier: Apache-2.0
#include "Modules.h"
#include "dialect/Philox.h"
#include <fmt/format.h>
#include <random>

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

namespace {

using Row = std::vector<double>;
using Extents = std::array<int64_t, 4>;

/// One attention: its extents, and the extents of its bias and mask (4 zeros: none).
struct Form {
  int64_t b, t, s, n, m, h, e;
  Extents bias{}, mask{};
  bool causal = false;
  double rate = 0;
};

std::string shape(const Extents &extents) {
  return fmt::format("{}x{}x{}x{}x", extents[0], extents[1], extents[2], extents[3]);
}

int64_t at(const Extents &extents, int64_t a, int64_t b, int64_t c, int64_t d) {
  const auto index = [&](size_t axis, int64_t i) { return extents[axis] == 1 ? 0 : i; };
  return ((index(0, a) * extents[1] + index(1, b)) * extents[2] + index(2, c)) * extents[3] + index(3, d);
}

std::vector<double> randomReals(std::mt19937 &random, const Extents &extents) {
  std::vector<double> values(static_cast<size_t>(extents[0] * extents[1] * extents[2] * extents[3]));
  for (double &value : values)
    value = std::uniform_real_distribution<double>(-2, 2)(random);
  return values;
}

/// An attention with random operands.
class Example {
public:
  Example(const Form &form, unsigned seed)
      : form(form), random(seed), q{form.b, form.t, form.n, form.h}, k{form.b, form.s, form.m, form.h},
        v{form.b, form.s, form.m, form.e}, queries(randomReals(random, q)), keys(randomReals(random, k)),
        values(randomReals(random, v)), biases(randomReals(random, form.bias)),
        masks(static_cast<size_t>(form.mask[0] * form.mask[1] * form.mask[2] * form.mask[3])) {
    for (int64_t &mask : masks)
      mask = random() % 3 != 0;
  }

  std::vector<TensorData> feeds(const std::string &dtype) const {
    std::vector<TensorData> all{reals(shape(q) + dtype, queries), reals(shape(k) + dtype, keys),
                                reals(shape(v) + dtype, values)};
    if (!biases.empty())
      all.push_back(reals(shape(form.bias) + dtype, biases));
    if (!masks.empty())
      all.push_back(wholes(shape(form.mask) + "i1", masks));
    if (form.rate > 0)
      all.push_back(wholes("2xui32", {7, 9}));
    return all;
  }

  /// The result `name`, "out" or "lse".
  TensorData evaluated(const std::string &name, const std::string &dtype, bool intervals) const {
    std::string operands = "%0, %1, %2", types;
    size_t next = 3;
    for (auto [operand, present] :
         {std::pair("bias", !biases.empty()), {"mask", !masks.empty()}, {"key", form.rate > 0}})
      if (present)
        operands += fmt::format(" {} %{}", operand, next++);
    const std::string out = shape({form.b, form.t, form.n, form.e}) + dtype,
                      lse = fmt::format("{}x{}x{}x{}", form.b, form.n, form.t, dtype == "f64" ? "f64" : "f32");
    types = fmt::format("tensor<{}{}>, tensor<{}{}>, tensor<{}{}>", shape(q), dtype, shape(k), dtype, shape(v), dtype);
    if (!biases.empty())
      types += fmt::format(", tensor<{}{}>", shape(form.bias), dtype);
    if (!masks.empty())
      types += fmt::format(", tensor<{}i1>", shape(form.mask));
    std::string attributes = fmt::format("{}scale = {} : f64", form.causal ? "causal, " : "", scale);
    if (form.rate > 0) {
      types += ", tensor<2xui32>";
      attributes += fmt::format(", rate = {} : f64", form.rate);
    }
    const std::string wanted = name == "out" ? out : lse;
    return evaluate(fmt::format("%out, %lse = halftone.attention {} {{{}}} : ({}) -> (tensor<{}>, tensor<{}>)\n%y = "
                                "halftone.reshape %{} : tensor<{}> to tensor<{}>",
                                operands, attributes, types, out, lse, name, wanted, wanted),
                    wanted, feeds(dtype), intervals);
  }

  /// Computes in double, one key at a time. A row that sees no key is the mean of the values.
  void compute(Row &out, Row &lse) const {
    out.assign(static_cast<size_t>(form.b * form.t * form.n * form.e), 0);
    lse.clear();
    for (int64_t b = 0; b < form.b; ++b)
      for (int64_t n = 0; n < form.n; ++n)
        for (int64_t t = 0; t < form.t; ++t) {
          Row weights = weightsOf(b, n, t);
          double sum = 0;
          for (double weight : weights)
            sum += weight;
          lse.push_back(std::log(sum));
          for (int64_t s = 0; s < form.s; ++s)
            for (int64_t e = 0; e < form.e; ++e)
              out[static_cast<size_t>(at({form.b, form.t, form.n, form.e}, b, t, n, e))] +=
                  weights[static_cast<size_t>(s)] / sum * keep(((b * form.n + n) * form.t + t) * form.s + s) *
                  values[static_cast<size_t>(at(v, b, s, n * form.m / form.n, e))];
        }
  }

  /// Returns true if query t of head n sees a key.
  bool sees(int64_t b, int64_t n, int64_t t) const {
    for (int64_t s = 0; s < form.s; ++s)
      if (isSeen(b, n, t, s))
        return true;
    return false;
  }

  static constexpr double scale = 0.5;
  Form form;

private:
  bool isSeen(int64_t b, int64_t n, int64_t t, int64_t s) const {
    return (!form.causal || s <= t) && (masks.empty() || masks[static_cast<size_t>(at(form.mask, b, n, t, s))] != 0);
  }
  Row weightsOf(int64_t b, int64_t n, int64_t t) const {
    Row weights;
    for (int64_t s = 0; s < form.s; ++s) {
      double score = 0;
      for (int64_t h = 0; h < form.h; ++h)
        score += queries[static_cast<size_t>(at(q, b, t, n, h))] *
                 keys[static_cast<size_t>(at(k, b, s, n * form.m / form.n, h))];
      score *= scale;
      if (!biases.empty())
        score += biases[static_cast<size_t>(at(form.bias, b, n, t, s))];
      weights.push_back(!sees(b, n, t) ? 1 : isSeen(b, n, t, s) ? std::exp(score) : 0);
    }
    return weights;
  }
  double keep(int64_t index) const {
    const uint32_t word = philox4x32({static_cast<uint32_t>(index / 4), 0, 0, 0}, {7, 9})[index % 4];
    return form.rate == 0 ? 1 : (word >> 8) < form.rate * 16777216.0 ? 0 : 1 / (1 - form.rate);
  }

  std::mt19937 random;
  Extents q, k, v;
  Row queries, keys, values, biases;
  std::vector<int64_t> masks;
};

double distance(const TensorData &data, const Row &expected) {
  REQUIRE(data.low.size() == expected.size());
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::fabs(data.low[i] - expected[i]) / (1 + std::fabs(expected[i])));
  return worst;
}

bool holds(const TensorData &bounds, const TensorData &actual) {
  bool all = bounds.size() == actual.size();
  for (int64_t i = 0; all && i < actual.size(); ++i)
    all = bounds.contains(actual, i);
  return all;
}

void checkForm(const Form &form, unsigned seed) {
  const Example example(form, seed);
  INFO(fmt::format("b {} t {} s {} n {} m {} h {} e {} bias {} mask {} causal {} rate {}", form.b, form.t, form.s,
                   form.n, form.m, form.h, form.e, shape(form.bias), shape(form.mask), form.causal, form.rate));
  Row out, lse;
  example.compute(out, lse);
  CHECK(distance(example.evaluated("out", "f64", false), out) < 1e-12);
  CHECK(distance(example.evaluated("out", "f32", false), out) < 2e-5);
  CHECK(distance(example.evaluated("out", "bf16", false), out) < 0.1);
  CHECK(holds(example.evaluated("out", "f32", true), example.evaluated("out", "f32", false)));
  CHECK(holds(example.evaluated("out", "f16", true), example.evaluated("out", "f16", false)));
  CHECK(holds(example.evaluated("lse", "f16", true), example.evaluated("lse", "f16", false)));
  bool allSee = true;
  for (int64_t b = 0; b < form.b; ++b)
    for (int64_t n = 0; n < form.n; ++n)
      for (int64_t t = 0; t < form.t; ++t)
        allSee &= example.sees(b, n, t);
  if (allSee)
    CHECK(distance(example.evaluated("lse", "f64", false), lse) < 1e-12);
}

} // namespace

TEST_CASE("Attention is the sum that a plain loop gives, whatever the counts of queries and keys") {
  unsigned seed = 1;
  for (int64_t t : {1, 63, 64, 65})
    for (int64_t s : {1, 63, 64, 65})
      for (bool causal : {false, true})
        checkForm({1, t, s, 2, 1, 3, 2, {}, {}, causal}, seed++);
}

TEST_CASE("Attention with shared heads, biases and masks of each shape is the sum that a plain loop gives") {
  unsigned seed = 100;
  for (Extents repeated : {Extents{2, 6, 5, 7}, Extents{1, 1, 1, 1}, Extents{2, 1, 1, 7}, Extents{1, 6, 5, 1}})
    for (int64_t groups : {1, 2, 3, 6})
      for (double rate : {0.0, 0.5}) {
        checkForm({2, 5, 7, 6, groups, 4, 3, repeated, {}, false, rate}, seed++);
        checkForm({2, 5, 7, 6, groups, 4, 3, {}, repeated, true, rate}, seed++);
        checkForm({2, 5, 7, 6, groups, 4, 3, repeated, repeated, false, rate}, seed++);
      }
}

TEST_CASE("Attention without queries, depth or width has an answer; without keys it is 0") {
  checkForm({1, 0, 3, 2, 1, 4, 2}, 1);
  checkForm({1, 3, 3, 2, 1, 0, 2}, 2);
  checkForm({1, 3, 3, 2, 1, 4, 0}, 3);
  checkForm({0, 3, 3, 2, 1, 4, 2}, 4);
  const Example keyless({1, 2, 0, 1, 1, 3, 2}, 5);
  CHECK(keyless.evaluated("out", "f32", false).low == Row{0, 0, 0, 0});
  CHECK(keyless.evaluated("lse", "f32", false).low == Row(2, -std::numeric_limits<double>::infinity()));
}

TEST_CASE("A query that sees no key gets the mean of the values, and a masked score of NaN is never seen") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string type = "(tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x1x2x2xi1>) -> "
                           "(tensor<1x2x1x1xf32>, tensor<1x1x2xf32>)";
  const auto out = [&](const Row &keys, const std::vector<int64_t> &mask) {
    return evaluate("%y, %lse = halftone.attention %0, %1, %2 mask %3 {scale = 1.0 : f64} : " + type, "1x2x1x1xf32",
                    {reals("1x2x1x1xf32", {1, 1}), reals("1x2x1x1xf32", keys), reals("1x2x1x1xf32", {3, 5}),
                     wholes("1x1x2x2xi1", mask)})
        .low;
  };
  CHECK(out({2, 7}, {0, 0, 1, 0}) == Row{4, 3});
  CHECK(out({nan, 7}, {0, 1, 0, 0}) == Row{5, 4});
}

TEST_CASE("Scores of float16 operands are float32: products beyond 65504 decide") {
  const TensorData q = reals("1x1x1x1xf16", {1000}), k = reals("1x2x1x1xf16", {1000, 999}),
                   v = reals("1x2x1x1xf16", {1, 2});
  CHECK(evaluate("%y, %lse = halftone.attention %0, %1, %2 {scale = 1.0 : f64} : (tensor<1x1x1x1xf16>, "
                 "tensor<1x2x1x1xf16>, tensor<1x2x1x1xf16>) -> (tensor<1x1x1x1xf16>, tensor<1x1x1xf32>)",
                 "1x1x1x1xf16", {q, k, v})
            .low == Row{1});
}

TEST_CASE("The pieces of attention's gradient add up to it, and each is that of its own queries") {
  // Five queries of two heads that share a key head of four keys. The second part has the last two queries.
  std::mt19937 random(11);
  const auto make = [&](const std::string &shape, const Extents &extents) {
    return reals(shape, randomReals(random, extents));
  };
  std::vector<TensorData> feeds{make("1x5x2x3xf64", {1, 5, 2, 3}), make("1x4x1x3xf64", {1, 4, 1, 3}),
                                make("1x4x1x2xf64", {1, 4, 1, 2}), make("1x2x5xf64", {1, 1, 2, 5}),
                                make("1x5x2x2xf64", {1, 5, 2, 2}), make("1x2x5xf64", {1, 1, 2, 5})};
  const auto gradient = [&](const std::string &asked, const std::string &byKeys, const std::string &byValues) {
    std::string names[] = {"%a", "%b", "%c"};
    names[asked == byKeys ? 1 : 2] = "%y";
    return evaluate(fmt::format("{}, {}, {} = halftone.attention_grad %0, %1, %2 lse %3, %4, %5 {{causal, scale = 0.5 "
                                ": f64}} : (tensor<1x5x2x3xf64>, tensor<1x4x1x3xf64>, tensor<1x4x1x2xf64>, "
                                "tensor<1x2x5xf64>, tensor<1x5x2x2xf64>, tensor<1x2x5xf64>) -> (tensor<1x5x2x3xf64>, "
                                "tensor<{}>, tensor<{}>)",
                                names[0], names[1], names[2], byKeys, byValues),
                    asked, feeds)
        .low;
  };
  const std::string keys = "1x4x1x3xf64", values = "1x4x1x2xf64";
  for (const bool ofKeys : {false, true}) {
    const auto found = [&](const std::string &parts) {
      return gradient(parts + (ofKeys ? keys : values), parts + keys, parts + values);
    };
    const Row whole = found(""), two = found("2x"), seven = found("7x");
    const size_t size = whole.size();
    CHECK(found("1x") == whole);
    REQUIRE(two.size() == 2 * size);
    REQUIRE(seven.size() == 7 * size);
    for (size_t i = 0; i < size; ++i) {
      CHECK(two[i] + two[size + i] == Approx(whole[i]));
      double first = 0, sum = 0;
      for (size_t part = 0; part < 7; ++part) {
        sum += seven[part * size + i];
        first += part < 3 ? seven[part * size + i] : 0;
      }
      CHECK(first == Approx(two[i])); // the first of two parts has 3 of the 5 queries
      CHECK(sum == Approx(whole[i]));
      CHECK(seven[5 * size + i] == 0);
      CHECK(seven[6 * size + i] == 0);
    }
  }
}
