// Layers without weights: each argument has Keras's effect.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ConfigAccess.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;

namespace {

double numberIn(const Json &text) { return std::stod(text.get<std::string>()); }
std::vector<double> numbersIn(const Json &texts) {
  std::vector<double> values;
  for (const Json &text : texts)
    values.push_back(numberIn(text));
  return values;
}
bool same(double found, double expected) { return found == expected || (std::isnan(found) && std::isnan(expected)); }

} // namespace

TEST_CASE("ReLU gives Keras's values and slopes for its three arguments") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/constraints.jsonl");
  int64_t rows = 0;
  for (std::string line; std::getline(file, line);) {
    const Json row = Json::parse(line);
    if (row.at("kind") != "relu")
      continue;
    ++rows;
    const Layer layer = deserialize(Config::parse(row.at("layer").dump()));
    const std::vector<double> x = numbersIn(row.at("x")), y = numbersIn(row.at("y")),
                              slopes = numbersIn(row.at("slopes"));
    for (const Run run : everyRun) {
      const auto results = runOnce(run, {Tensor(x, {std::ssize(x)}).astype(float32)}, [&](const std::vector<Value> &v) {
        const Value result = layer(v[0]);
        return std::vector{result, gradients(ops::sum(result), std::vector{v[0]})[0]};
      });
      const std::vector<double> found = numbers(results[0]), slope = numbers(results[1]);
      for (size_t i = 0; i < x.size(); ++i) {
        INFO(row.at("layer").at("config").dump() << " at " << x[i]);
        CHECK(same(found[i], y[i]));
        if (std::isfinite(x[i]))
          CHECK(slope[i] == slopes[i]);
      }
    }
  }
  CHECK(rows == 16);
}

TEST_CASE("LeakyReLU and ELU take Keras's defaults and refuse a negative slope") {
  const Tensor x({-2, 0, 3}, {1, 3});
  CHECK(near(numbers(LeakyReLU()(x)), {-0.6, 0, 3}, 1e-7));
  CHECK(numbers(LeakyReLU(0.5)(x)) == std::vector<double>{-1, 0, 3});
  CHECK(near(numbers(ELU()(x)), {std::expm1(-2.0), 0, 3}, 1e-7));
  CHECK(near(numbers(ELU(0.5)(x)), {0.5 * std::expm1(-2.0), 0, 3}, 1e-7));
  CHECK_THROWS_WITH(LeakyReLU(-0.5), Contains("The negative_slope value of a Leaky ReLU layer cannot be None or "
                                              "negative value") &&
                                         Contains("negative_slope=-0.5"));
  CHECK_THROWS_WITH(LeakyReLU(std::nan("")), Contains("negative_slope=nan"));
}

TEST_CASE("ReLU refuses negative arguments in Keras's words, and takes integers") {
  CHECK_THROWS_WITH(ReLU({.max_value = -1}),
                    Contains("max_value of a ReLU layer cannot be a negative value. Received: max_value=-1"));
  CHECK_THROWS_WITH(ReLU({.negative_slope = -0.5}),
                    Contains("negative_slope of a ReLU layer cannot be None or a negative value. Received: "
                             "negative_slope=-0.5"));
  CHECK_THROWS_WITH(ReLU({.threshold = -2}),
                    Contains("threshold of a ReLU layer cannot be None or a negative value. Received: threshold=-2"));
  const Tensor x = Tensor::of<int32_t>({-3, 0, 2, 9}, {4});
  CHECK(numbers(ReLU({.max_value = 4, .threshold = 1})(x)) == std::vector<double>{0, 0, 2, 4});
  CHECK(ReLU({.max_value = 4})(Tensor::ones({0, 3})).shape() == Shape{0, 3});
}

TEST_CASE("Softmax sums to one over the axes that it is given") {
  const Tensor x = counted({2, 3, 4});
  for (const Axes &axes : {Axes{-1}, Axes{1}, Axes{1, 2}, Axes{-1, 1}}) {
    const auto total = runOnce(Run::compiled, {x}, [&](const std::vector<Value> &v) {
      return std::vector{ops::sum(Softmax(axes)(v[0]), axes)};
    });
    CHECK(near(numbers(total[0]), std::vector<double>(static_cast<size_t>(total[0].size()), 1.0)));
  }
  // Softmax over e to the powers 0 to 11, in each sample.
  const std::vector<double> both = numbers(Softmax({1, 2})(x));
  double sum = 0;
  for (int i = 0; i < 12; ++i)
    sum += std::exp(i);
  CHECK(both[11] == Approx(std::exp(11) / sum));
  CHECK(both[23] == Approx(std::exp(11) / sum));
  CHECK_THROWS_WITH(Softmax(Axes()), Contains("at least one axis"));
}

TEST_CASE("Flatten moves channels to the end if they come first") {
  const Tensor x = counted({1, 2, 3});
  CHECK(numbers(Flatten()(x)) == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK(numbers(Flatten({.data_format = DataFormat::channels_first})(x)) == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(numbers(Flatten({.data_format = DataFormat::channels_first})(counted({1, 2, 2, 2}))) ==
        std::vector<double>{0, 4, 1, 5, 2, 6, 3, 7});
  CHECK(Flatten({.data_format = DataFormat::channels_first})(counted({3, 2})).shape() == Shape{3, 2});
  CHECK(Flatten({.data_format = DataFormat::channels_first})(counted({3})).shape() == Shape{3, 1});
  CHECK(Flatten({.data_format = DataFormat::channels_first})(counted({0, 2, 3})).shape() == Shape{0, 6});
}

TEST_CASE("Reshape refuses two unknown dimensions when it is made") {
  CHECK(Reshape({-1, 2})(counted({2, 6})).shape() == Shape{2, 3, 2});
  CHECK_THROWS_WITH(Reshape({-1, -1}), Contains("`-1` for a single unknown dimension"));
  CHECK(Reshape({})(counted({3, 1})).shape() == Shape{3});
}

TEST_CASE("Permute orders the axes behind the batch, and refuses dims that are no order of them") {
  CHECK(numbers(Permute({2, 1})(counted({1, 2, 3}))) == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(Permute({3, 1, 2})(counted({2, 3, 4, 5})).shape() == Shape{2, 5, 3, 4});
  CHECK(Permute({2, 1})(counted({0, 2, 3})).shape() == Shape{0, 3, 2});
  CHECK(Permute({2, 1})(Tensor::ones({1, 2, 3}, DType::bool_)).dtype() == DType::bool_);
  for (const std::vector<int64_t> &dims : {std::vector<int64_t>{0, 1}, {1, 1}, {1, 3}})
    CHECK_THROWS_WITH(Permute(dims), Contains("The set of indices in `dims` must be consecutive and start from 1"));
  CHECK_THROWS_WITH(Permute({1})(counted({2, 3, 4})), Contains("expected ndim=2, found ndim=3"));
}

TEST_CASE("RepeatVector repeats each sample n times") {
  CHECK(numbers(RepeatVector(2)(counted({2, 2}))) == std::vector<double>{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(RepeatVector(3)(counted({2, 0})).shape() == Shape{2, 3, 0});
  CHECK(RepeatVector(3)(Input({none})).shape() == Shape{none, 3, none});
  CHECK_THROWS_WITH(RepeatVector(0), Contains("Argument `n` should be a positive integer. Received: n=0"));
  CHECK_THROWS_WITH(RepeatVector(2)(counted({2, 3, 4})), Contains("expected ndim=2, found ndim=3"));
}

TEST_CASE("ActivityRegularization and Identity give their input, and one penalizes it") {
  const Tensor x({1, -2, 3, 0}, {2, 2});
  CHECK(numbers(layers::Identity()(x)) == numbers(x));
  const layers::ActivityRegularization layer({.l1 = 0.5, .l2 = 0.25});
  const std::vector<Tensor> results = runOnce(Run::compiled, {x}, [&](const std::vector<Value> &v) {
    const Value y = layer(v[0]);
    return std::vector<Value>{y, detail::Trace::current()->losses.at(0).value};
  });
  CHECK(numbers(results[0]) == numbers(x));
  CHECK(near(numbers(results[1]), {(0.5 * 6 + 0.25 * 14) / 2}));
  CHECK_THAT(errorOf([] { layers::ActivityRegularization({.l1 = -1.0}); }),
             Contains("ValueError") && Contains("l1=-1"));
  CHECK_FALSE(layer.get_config().contains("activity_regularizer"));
}

static Value sumOf(const Values &all) {
  Value sum = all[0];
  for (size_t i = 1; i < all.size(); ++i)
    sum += all[i];
  return sum;
}

TEST_CASE("A Lambda of one Value takes one input, a Lambda of Values takes all") {
  const Input a({2}), b({2});
  const Model difference({a, b}, {Lambda([](const Values &all) -> Value { return all[0] - all[1]; })(Values{a, b})});
  const Model three({a, b}, {Lambda(sumOf)(Values{a, b, a})});
  const Model one({a}, {Lambda([](const auto &x) { return x * 2.0; })(a)});
  const Tensor x({5, 7}, {1, 2}), y({1, 2}, {1, 2});
  CHECK(numbers(difference.predict({x, y}, {.verbose = 0})) == std::vector<double>{4, 5});
  CHECK(numbers(three.predict({x, y}, {.verbose = 0})) == std::vector<double>{11, 16});
  CHECK(numbers(one.predict(x, {.verbose = 0})) == std::vector<double>{10, 14});
  const Lambda first([](const Value &value) { return value; }, {.name = "first"});
  CHECK_THAT(errorOf([&] { (void)first(Values{a, b}); }), Contains("first") && Contains("input"));
}
