// User-defined losses by their registered names: in compile(), in configs and in files.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

static Value cubes(const Value &y_true, const Value &y_pred) {
  return ops::mean(ops::power(ops::abs(y_true - y_pred), 3), -1);
}
static Sequential compiled(const LossSpec &loss) {
  Sequential model({Input({2}), Dense(2, {.kernel_initializer = "ones"})});
  model.compile({.optimizer = "sgd", .loss = loss});
  return model;
}

TEST_CASE("A registered loss is in configs and files as Keras names a function, and is found by that name") {
  register_loss("mine>cubes", cubes);
  const Loss named("mine>cubes");
  CHECK(losses::serialize(named).dump() ==
        R"({"module":"builtins","class_name":"function","config":"mine>cubes","registered_name":"function"})");
  CHECK(losses::deserialize(losses::serialize(named)).impl() == named.impl());
  const Tensor x({1, 2}, {1, 2}), y({1, 5}, {1, 2});
  const TemporaryFolder folder;
  for (const LossSpec &loss : {LossSpec(cubes), LossSpec("mine>cubes"), LossSpec(named)}) {
    const Sequential model = compiled(loss);
    CHECK(model.evaluate(x, y, {.verbose = 0})["loss"] == 8);
    model.save(folder / "a.keras");
    const Model loaded = load_model(folder / "a.keras");
    CHECK(loaded.to_json() == model.to_json());
    CHECK(loaded.evaluate(x, y, {.verbose = 0})["loss"] == 8);
  }
}

TEST_CASE("A registered loss keeps the reduction with which it is registered") {
  const Loss sums([](const Value &y_true, const Value &y_pred) { return ops::sum(y_true - y_pred, -1); },
                  {.reduction = "sum"});
  register_loss("sums", sums);
  const Tensor x({1, 2, 1, 2}, {2, 2}), y({1, 5, 1, 5}, {2, 2});
  const TemporaryFolder folder;
  const Sequential model = compiled(sums);
  model.save(folder / "a.keras");
  CHECK(load_model(folder / "a.keras").evaluate(x, y, {.verbose = 0})["loss"] == 0);
  CHECK(numbers(Loss("sums")(Tensor({2, 2}, {2, 1}), Tensor({1, 0.5F}, {2, 1}))) == std::vector<double>{2.5});
}

TEST_CASE("A loss that a config cannot hold is refused with the line that registers it") {
  register_loss("mine>cubes", cubes);
  const std::string line = R"(register_loss("package>name", f))";
  CHECK_THAT(errorOf([] { losses::serialize(Loss([](const Value &a, const Value &b) { return a - b; })); }),
             Contains("ValueError: The loss 'loss' is a function, which no config can hold") && Contains(line));
  // The name of the function alone would omit the reduction.
  CHECK_THAT(errorOf([] { losses::serialize(Loss(cubes, {.reduction = "sum"})); }), Contains(line));
  CHECK_THAT(errorOf([] { losses::serialize(Loss()); }), Contains("ValueError"));
  CHECK_THAT(errorOf([] { losses::deserialize(losses::serialize(Loss("theirs>cubes"))); }),
             Contains("ValueError: Could not interpret loss identifier: theirs>cubes") && Contains("mine>cubes") &&
                 Contains(R"(with register_loss("theirs>cubes", f))"));
}

TEST_CASE("Names of registered losses have one package or none, and are not those of the library") {
  for (const char *name : {"", ">x", "x>"})
    CHECK_THAT(errorOf([name] { register_loss(name, cubes); }),
               Contains(R"(ValueError: A function of the kind loss is registered as "package>name" or "name")"));
  for (const char *name : {"mse", "MeanSquaredError", "huber"})
    CHECK_THAT(errorOf([name] { register_loss(name, cubes); }),
               Contains("ValueError") && Contains("is the name of a built-in loss: register yours as \"package>"));
  CHECK_THAT(errorOf([] { register_loss("empty", Loss()); }), Contains("ValueError: register_loss() needs a loss"));
  CHECK_THROWS_WITH(Loss("empty"), Contains("Could not interpret loss identifier: empty"));
  // Two packages may have functions of the same name.
  register_loss("first>same", cubes);
  register_loss("second>same", [](const Value &a, const Value &b) { return ops::mean(a - b, -1); });
  CHECK(Loss("first>same").impl() != Loss("second>same").impl());
}
