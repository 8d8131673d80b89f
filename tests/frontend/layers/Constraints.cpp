// Constraints: values and updates of real Keras, loss scaling, policies and errors.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ConfigAccess.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <limits>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;

namespace {

std::vector<Json> recordedRows(const std::string &kind) {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/constraints.jsonl");
  std::vector<Json> rows;
  for (std::string line; std::getline(file, line);)
    if (Json row = Json::parse(line); row.at("kind") == kind)
      rows.push_back(std::move(row));
  return rows;
}
Config configIn(const Json &json) { return Config::parse(json.dump()); }
Tensor tensorOf(const Json &values, const Shape &shape, DType dtype = float32) {
  return Tensor(values.get<std::vector<double>>(), shape).astype(dtype);
}
/// Returns true if `found` equals Keras's result within the tolerance. Keras's NaN, null here, arises from zeros in
/// float16, where JAX flushes epsilon to 0; the result here is 0.
bool isResult(const Json &row, const std::vector<double> &found, double tolerance) {
  std::vector<double> expected;
  for (size_t i = 0; i < found.size(); ++i) {
    const Json &value = row.at("result").at(i);
    if (value.is_null() && row.at("dtype") != "float16")
      return false;
    expected.push_back(value.is_null() ? 0.0 : value.get<double>());
  }
  return near(found, expected, tolerance);
}
Tensor projected(Run run, const Constraint &constraint, const Tensor &weight) {
  return runOnce(run, {weight}, [&](const std::vector<Value> &v) { return std::vector{constraint(v[0])}; })[0];
}
Tensor ramp(const Shape &shape) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>((i * 29) % 37) * 0.05f - 0.9f;
  return Tensor(std::move(data), shape);
}
double largestNorm(const Tensor &matrix) { // the largest norm of a column
  const std::vector<double> x = numbers(matrix);
  const auto columns = static_cast<size_t>(matrix.shape()[1]);
  double largest = 0;
  for (size_t column = 0; column < columns; ++column) {
    double sum = 0;
    for (size_t i = column; i < x.size(); i += columns)
      sum += x[i] * x[i];
    largest = std::max(largest, std::sqrt(sum));
  }
  return largest;
}

} // namespace

TEST_CASE("Constraints project weights to Keras's values, and keep their dtype") {
  const std::vector<Json> rows = recordedRows("projection");
  REQUIRE(rows.size() == 27);
  for (const Json &row : rows) {
    INFO(row.at("constraint").dump() << " in " << row.at("dtype"));
    const Constraint constraint = constraints::deserialize(configIn(row.at("constraint")));
    CHECK(Json::parse(constraints::serialize(constraint).dump()) == row.at("constraint"));
    const DType dtype = standardize_dtype(row.at("dtype").get<std::string>());
    const Tensor weight = tensorOf(row.at("weight"), {4, 3}, dtype);
    const double tolerance = dtype == float32 ? 1e-6 : dtype == float16 ? 2e-3 : 1.6e-2; // a few roundings
    for (const Run run : everyRun) {
      const Tensor found = projected(run, constraint, weight);
      CHECK(found.dtype() == dtype);
      CHECK(isResult(row, numbers(found), tolerance));
    }
  }
}

TEST_CASE("Optimizers apply constraints after each update, as Keras does") {
  const std::vector<Json> rows = recordedRows("updates");
  REQUIRE(rows.size() == 27);
  for (const Json &row : rows) {
    INFO(row.at("optimizer").dump() << " under " << row.at("constraint").dump());
    for (const Run run : {Run::interpreted, Run::compiled}) {
      const Optimizer optimizer = optimizers::deserialize(configIn(row.at("optimizer")));
      const Variable kernel = detail::makeVariable(
          tensorOf(row.at("weight"), {3, 2}), {.name = "kernel",
                                               .path = "net/h/kernel",
                                               .constraint = constraints::deserialize(configIn(row.at("constraint")))});
      detail::CompiledFunction step = recorded(run, [&](const std::vector<Value> &v) {
        optimizer.apply({v[0]}, {kernel});
        return std::vector<Value>{};
      });
      for (size_t i = 0; i < row.at("gradients").size(); ++i) {
        (void)step.run({tensorOf(row.at("gradients")[i], {3, 2})});
        CHECK(near(numbers(kernel), row.at("after")[i].get<std::vector<double>>(), 2e-6));
      }
    }
  }
}

TEST_CASE("Each layer's constraints hold after training, under mixed policies too") {
  for (const char *policy : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    INFO(policy);
    const Dense dense(3,
                      {.kernel_constraint = constraints::MaxNorm(0.25), .bias_constraint = "non_neg", .dtype = policy});
    const LayerNormalization normalized(
        {.beta_constraint = "non_neg", .gamma_constraint = constraints::MaxNorm(0.5), .dtype = policy});
    Sequential model({Input({4}), dense, normalized, Dense(2, {.dtype = policy})});
    model.compile({.optimizer = optimizers::SGD(0.5), .loss = "mse"});
    model.fit(ramp({12, 4}), ramp({12, 2}), {.batch_size = 4, .epochs = 2, .verbose = 0});
    CHECK(largestNorm(dense.kernel().value()) <= 0.2525);
    for (const double b : numbers(dense.bias()))
      CHECK(b >= 0.0);
    const std::vector<Variable> weights = normalized.weights();
    CHECK(largestNorm(weights[0].value().reshape({3, 1})) <= 0.505); // gamma
    for (const double b : numbers(weights[1]))
      CHECK(b >= 0.0);
    // The next step reads the constrained weight, not a narrow copy made before.
    const Tensor before = model.predict(ramp({4, 4}), {.verbose = 0});
    model.set_weights(model.get_weights());
    CHECK(numbers(before) == numbers(model.predict(ramp({4, 4}), {.verbose = 0})));
  }
}

TEST_CASE("Embedding, GroupNormalization, BatchNormalization and add_weight pass constraints on") {
  const Embedding table(5, 2, {.embeddings_constraint = "unit_norm"});
  (void)table(Tensor::zeros({2}, int32));
  CHECK(table.embeddings().impl()->constraint.name() == "UnitNorm");
  const auto namesOf = [](const Layer &layer) {
    (void)layer(Tensor::ones({2, 4}));
    std::string names;
    for (const Variable &variable : layer.weights())
      names += variable.name() + ":" + variable.impl()->constraint.name() + " ";
    return names;
  };
  CHECK(namesOf(GroupNormalization({.groups = 2, .beta_constraint = "non_neg", .gamma_constraint = "max_norm"})) ==
        "gamma:MaxNorm beta:NonNeg ");
  CHECK(namesOf(BatchNormalization({.beta_constraint = "NonNeg", .gamma_constraint = "min_max_norm"})) ==
        "gamma:MinMaxNorm beta:NonNeg moving_mean: moving_variance: ");
  struct Scaled {
    Variable scale{};
    void build(BuildContext &context, const Shape &) {
      scale = context.add_weight({.shape = {1}, .constraint = "non_neg", .name = "scale"});
    }
    Value call(const Value &x) const { return x * scale; }
  };
  CHECK(namesOf(Custom(Scaled())) == "scale:NonNeg ");
}

TEST_CASE("A step that loss scaling skips leaves a constrained weight bit by bit as it was") {
  Dense dense(2, {.use_bias = false, .kernel_constraint = constraints::MaxNorm(0.125), .dtype = "mixed_float16"});
  Sequential model({Input({4}), dense});
  model.compile({.optimizer = optimizers::LossScaleOptimizer(optimizers::SGD(0.1)), .loss = "mse"});
  const Tensor y = ramp({4, 2});
  model.set_weights({ramp({4, 2})}); // violates the constraint, so that applying the constraint would be visible
  const std::vector<float> before = dense.kernel().value().to_vector<float>();
  model.train_on_batch(Tensor::full({4, 4}, std::numeric_limits<double>::infinity()), y);
  CHECK(model.loss_scale_optimizer()->state().skipped_steps == 1);
  CHECK(dense.kernel().value().to_vector<float>() == before);
  model.train_on_batch(ramp({4, 4}), y);
  CHECK(largestNorm(dense.kernel().value()) <= 0.126);
}

TEST_CASE("Variables that training leaves out are not constrained") {
  Dense frozen(3, {.kernel_constraint = "non_neg", .trainable = false});
  Sequential model({Input({4}), frozen, Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const std::vector<double> before = numbers(frozen.kernel());
  model.fit(ramp({4, 4}), ramp({4, 1}), {.verbose = 0});
  CHECK(numbers(frozen.kernel()) == before);
}

TEST_CASE("Constraints hold at zeros, empty axes, infinities and NaN as their formulas do") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const Run run : everyRun) {
    CHECK(numbers(projected(run, "max_norm", Tensor::zeros({3, 2}))) == std::vector<double>(6, 0.0));
    CHECK(numbers(projected(run, "unit_norm", Tensor::zeros({3, 2}, float16))) == std::vector<double>(6, 0.0));
    CHECK(projected(run, "max_norm", Tensor::zeros({0, 2})).shape() == Shape{0, 2});
    CHECK(numbers(projected(run, "unit_norm", Tensor(std::vector<float>{3}, {1}))) ==
          std::vector<double>{static_cast<float>(3.0f / (1e-7f + 3.0f))});
    const std::vector<double> special =
        numbers(projected(run, "non_neg", Tensor(std::vector<double>{inf, -inf, nan}, {3})));
    CHECK(special[0] == inf);
    CHECK(special[1] == 0.0);
    CHECK(std::isnan(special[2]));
  }
}

TEST_CASE("A constraint may be a function; errors name the variable") {
  Dense halved(
      1, {.use_bias = false, .kernel_constraint = [](const Value &w) { return w * 0.0 + 0.5; }, .name = "halved"});
  Sequential model({Input({2}), halved}, {.name = "net"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(ramp({2, 2}), ramp({2, 1}), {.verbose = 0});
  CHECK(numbers(halved.kernel()) == std::vector<double>{0.5, 0.5});
  const auto trainedBy = [](const Constraint &constraint) {
    Sequential wrong({Input({2}), Dense(1, {.bias_constraint = constraint, .name = "wrong"})}, {.name = "net"});
    wrong.compile({.optimizer = "sgd", .loss = "mse"});
    wrong.fit(ramp({2, 2}), ramp({2, 1}), {.verbose = 0});
  };
  CHECK_THROWS_WITH(trainedBy(constraints::UnitNorm(1)), Contains("axis") && Contains("layer: net/wrong/bias"));
  CHECK_THROWS_WITH(trainedBy([](const Value &w) { return ops::sum(w); }),
                    Contains("must match") && Contains("layer: net/wrong/bias"));
  CHECK_THROWS_WITH(Constraint("max_nrm"),
                    Contains("Could not interpret constraint identifier: max_nrm. Known: max_norm"));
  CHECK_THROWS_WITH(Constraint(std::function<Value(const Value &)>()), Contains("received an empty one"));
  CHECK_FALSE(Constraint().defined());
  CHECK(Constraint(constraints::MaxNorm(3)).name() == "MaxNorm"); // not a function, though callable
}
