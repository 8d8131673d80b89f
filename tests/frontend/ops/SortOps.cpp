// sort, argsort, top_k and in_top_k: results of real Keras (sorts.jsonl), symbolic shapes, errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/RecordedJson.h"
#include "tests/frontend/Slopes.h"

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;

namespace {

Row numbersOf(const Json &list) {
  Row numbers;
  for (const Json &each : list)
    numbers.push_back(each.is_string() ? std::stod(each.get<std::string>()) : each.get<double>());
  return numbers;
}
Tensor tensorFrom(const Json &json) {
  return Tensor(numbersOf(json["values"]), Shape(json["shape"].get<std::vector<int64_t>>()))
      .astype(standardize_dtype(json["dtype"].get<std::string>()));
}

/// Zeros of different signs differ; all NaNs are equal.
bool areSame(const Row &a, const Row &b) {
  return std::ranges::equal(a, b, [](double x, double y) {
    return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
  });
}

std::vector<Value> call(const std::string &op, const Json &args, const std::vector<Value> &v) {
  if (op == "top_k") {
    const auto [values, indices] = ops::top_k(v[0], args["k"].get<int64_t>());
    return {values, indices};
  }
  if (op == "in_top_k")
    return {ops::in_top_k(v[1], v[0], args["k"].get<int64_t>())};
  const auto axis = args["axis"].is_null() ? std::nullopt : std::optional(args["axis"].get<int64_t>());
  return {op == "sort" ? ops::sort(v[0], axis) : ops::argsort(v[0], axis)};
}

} // namespace

TEST_CASE("Sorts of real Keras are computed to the bit, with their gradients") {
  for (const std::string &line : recordedLines("sorts.jsonl")) {
    const Json recorded = Json::parse(line);
    const std::string op = recorded["op"];
    INFO(line);
    std::vector<Tensor> feeds{tensorFrom(recorded["x"])};
    if (recorded.contains("targets"))
      feeds.push_back(Tensor(numbersOf(recorded["targets"]), {std::ssize(recorded["targets"])}).astype(int32));
    const bool hasGradient = recorded.contains("gradient");
    const std::vector<Tensor> found = runOnce(Run::interpreted, feeds, [&](const std::vector<Value> &v) {
      std::vector<Value> results = call(op, recorded["args"], v);
      if (hasGradient) {
        const Shape shape = results[0].shape();
        const Value weights = ops::reshape(
            ops::cast(constant(counted({shape.elements()}).astype(float32)) + 1.0, results[0].dtype()), shape);
        results.push_back(gradients(ops::sum(results[0] * weights), {v[0]})[0]);
      }
      return results;
    });
    REQUIRE(found.size() == recorded["out"].size() + size_t(hasGradient));
    for (size_t i = 0; i < recorded["out"].size(); ++i) {
      const Tensor expected = tensorFrom(recorded["out"][i]);
      CHECK(found[i].dtype() == expected.dtype());
      CHECK(found[i].shape() == expected.shape());
      CHECK(areSame(numbers(found[i]), numbers(expected)));
    }
    if (hasGradient)
      CHECK(numbers(found.back()) == numbersOf(recorded["gradient"]));
  }
}

TEST_CASE("Compiled sorts give the interpreter's elements and indices") {
  const Tensor x({3, 1, 2, 3, -0.0, 0, 7, -5}, {2, 4});
  for (Run run : everyRun) {
    const std::vector<Tensor> y = runOnce(run, {x}, [](const std::vector<Value> &v) {
      const auto [values, indices] = ops::top_k(v[0], 2);
      return std::vector<Value>{ops::sort(v[0]), ops::argsort(v[0], 0), values, indices,
                                ops::sort(ops::cast(v[0], DType::float8_e5m2))};
    });
    CHECK(areSame(numbers(y[0]), {1, 2, 3, 3, -5, -0.0, 0, 7}));
    CHECK(numbers(y[1]) == Row{1, 1, 0, 1, 0, 0, 1, 0});
    CHECK(numbers(y[2]) == Row{3, 3, 7, 0});
    CHECK(numbers(y[3]) == Row{0, 3, 2, 0}); // -0.0 and 0 are equal
    CHECK(y[4].dtype() == DType::float8_e5m2);
    CHECK(numbers(y[4]) == Row{1, 2, 3, 3, -5, 0, 0, 7});
  }
}

TEST_CASE("The gradient of sorted elements goes to their places, also that of a gradient") {
  const Tensor x({0.5, -1, 2, 3, 0.25, -2}, {2, 3});
  for (std::optional<int64_t> axis : {std::optional<int64_t>(), std::optional<int64_t>(0), std::optional<int64_t>(1)})
    CHECK(slopeError({x}, [axis](const std::vector<Value> &v) {
            const Value y = ops::sort(v[0], axis);
            return y * y * y;
          }) < 1e-5);
  CHECK(slopeError({x}, [](const std::vector<Value> &v) {
          const Value y = ops::top_k(v[0], 2)[0];
          return gradients(ops::sum(y * y * y), v)[0];
        }) < 1e-5);
}

TEST_CASE("Sorts of symbolic Values have the shapes of Keras, and are written into models") {
  const Value x = Input({5}), t = Input({}, {.dtype = int32});
  const auto [values, indices] = ops::top_k(x, 2);
  CHECK(values.shape() == Shape({none, 2}));
  CHECK(indices.dtype() == int32);
  CHECK(ops::sort(x, std::nullopt).shape() == Shape({none}));
  const Model model(Values{x, t}, Values{values, indices, ops::sort(x), ops::argsort(x, 1), ops::in_top_k(t, x, 1)});
  const Model read = Model::from_config(Config::parse(model.to_json()));
  const Tensors y =
      read.predict_all(Tensors{Tensor({5, 1, 4, 2, 3}, {1, 5}), Tensor({0}, {1}).astype(int32)}, {.verbose = 0});
  CHECK(numbers(y[0]) == Row{5, 4});
  CHECK(numbers(y[1]) == Row{0, 2});
  CHECK(numbers(y[2]) == Row{1, 2, 3, 4, 5});
  CHECK(numbers(y[3]) == Row{1, 3, 4, 2, 0});
  CHECK(numbers(y[4]) == Row{1});
}

TEST_CASE("Sorts refuse axes, counts and targets that do not fit") {
  const Tensor x({3, 1, 2, 4}, {2, 2}), number({3}, {}), targets = Tensor({0, 1, 0}, {3}).astype(int32);
  const auto refused = [&](const std::function<Value(const std::vector<Value> &)> &f) {
    return errorOf([&] {
      (void)runOnce(Run::interpreted, {x, number, targets},
                    [&](const std::vector<Value> &v) { return std::vector<Value>{f(v)}; });
    });
  };
  using List = std::vector<Value>;
  CHECK_THAT(refused([](const List &v) { return ops::sort(v[0], 2); }),
             Contains("ValueError: sort: axis 2 is out of range for rank 2"));
  CHECK_THAT(refused([](const List &v) { return ops::argsort(v[0], -3); }), Contains("argsort: axis -3 is out of"));
  CHECK_THAT(refused([](const List &v) { return ops::sort(v[1]); }), Contains("axis -1 is out of range for rank 0"));
  CHECK_THAT(
      refused([](const List &v) { return ops::top_k(v[0], 3)[0]; }),
      Contains("ValueError: top_k: k must be from 0 to the extent of the last axis. Received: k=3, x.shape=(2, 2)"));
  CHECK_THAT(refused([](const List &v) { return ops::top_k(v[0], -1)[0]; }), Contains("Received: k=-1"));
  CHECK_THAT(refused([](const List &v) { return ops::in_top_k(v[2], v[0], 1); }),
             Contains("Received: targets.shape=(3,), predictions.shape=(2, 2)"));
  CHECK_THAT(refused([](const List &v) { return ops::in_top_k(v[0], v[0], 1); }),
             Contains("TypeError: in_top_k needs integer targets, got float32"));
}
