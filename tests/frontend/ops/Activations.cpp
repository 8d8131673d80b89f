// Derivatives of activations at their kinks, compared with formulas; dtypes of results for integers and bools.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;

/// The first `count` derivatives of f, elementwise, at the points `x`.
static std::vector<Row> derivatives(Run run, int count, const Row &x, const std::function<Value(const Value &)> &f) {
  Tensor points(x, {static_cast<int64_t>(x.size())});
  std::vector<Row> found;
  for (const Tensor &each : runOnce(run, {points}, [&](const std::vector<Value> &v) {
         std::vector<Value> results;
         Value y = f(v[0]);
         for (int i = 0; i < count; ++i)
           results.push_back(y = gradients(ops::sum(y), std::vector<Value>{v[0]})[0]);
         return results;
       }))
    found.push_back(numbers(each));
  return found;
}
static Row slopes(Run run, const Row &x, const std::string &activation) {
  return derivatives(run, 1, x, [&](const Value &v) { return ActivationArg(activation)(v); })[0];
}

TEST_CASE("slopes of activations at their kinks are Keras's") {
  for (Run run : everyRun) {
    CHECK(slopes(run, {0, -0.0, 1, -1}, "relu") == Row{0, 0, 1, 0});
    CHECK(slopes(run, {0, 6, 3, 7, -1}, "relu6") == Row{0, 0, 1, 0, 0});
    CHECK(near(slopes(run, {-3, 3, 0, -4, 4}, "hard_sigmoid"), {0, 0, 1.0 / 6, 0, 0}));
    CHECK(near(slopes(run, {0, 1, -1}, "leaky_relu"), {1, 1, 0.2}));
    CHECK(near(slopes(run, {0, 1, -1}, "elu"), {1, 1, std::exp(-1)}));
    CHECK(near(slopes(run, {0, 1}, "selu"), {1.0507009873554805 * 1.6732632423543772, 1.0507009873554805}));
    CHECK(near(slopes(run, {0}, "softplus"), {0.5}));
    CHECK(near(slopes(run, {0, 1, -1}, "softsign"), {1, 0.25, 0.25}));
    CHECK(near(slopes(run, {0}, "silu"), {0.5}));
    CHECK(near(slopes(run, {0}, "gelu"), {0.5}));
  }
}

TEST_CASE("values and slopes of the activations that have only a name are Keras's") {
  const auto values = [](Run run, const Row &x, const std::string &activation) {
    const Tensor points(x, {static_cast<int64_t>(x.size())});
    return numbers(runOnce(run, {points}, [&](const std::vector<Value> &v) {
      return std::vector<Value>{ActivationArg(activation)(v[0])};
    })[0]);
  };
  struct Line {
    const char *name;
    Row x, y, slopes;
  };
  const double s = 1 / (1 + std::exp(1.0));
  for (const Line &line : {
           Line{"celu", {0, 1, -1}, {0, 1, std::expm1(-1.0)}, {1, 1, std::exp(-1.0)}},
           Line{"hard_shrink", {0.5, -0.5, 1, -1, 0.25}, {0, 0, 1, -1, 0}, {0, 0, 1, 1, 0}},
           Line{"soft_shrink", {0.5, -0.5, 1, -1, 0}, {0, 0, 0.5, -0.5, 0}, {0, 0, 1, 1, 0}},
           Line{"hard_silu", {-3, 3, 0, -4, 4, 1}, {0, 3, 0, 0, 4, 2.0 / 3}, {0, 1, 0.5, 0, 1, 5.0 / 6}},
           Line{"hard_swish", {-3, 3}, {0, 3}, {0, 1}},
           Line{"hard_tanh", {-1, 1, 0, 2, -2}, {-1, 1, 0, 1, -1}, {1, 1, 1, 0, 0}},
           Line{"log_sigmoid", {0, 1, -30}, {-std::log(2.0), std::log(1 - s), -30}, {0.5, s, 1}},
           Line{"mish", {0, 1}, {0, std::tanh(std::log1p(std::exp(1.0)))}, {0.6, 1.04903625}},
           Line{"sparse_plus", {-1, 1, 0, 2, -2}, {0, 1, 0.25, 2, 0}, {0, 1, 0.5, 1, 0}},
           Line{"sparse_sigmoid", {-1, 1, 0, 2}, {0, 1, 0.5, 1}, {0.25, 0.25, 0.5, 0}},
           Line{"squareplus",
                {0, 1, -1},
                {1, (1 + std::sqrt(5.0)) / 2, (std::sqrt(5.0) - 1) / 2},
                {0.5, 0.7236068, 0.2763932}},
           Line{"tanh_shrink", {0, 1}, {0, 1 - std::tanh(1.0)}, {0, std::tanh(1.0) * std::tanh(1.0)}},
       })
    for (Run run : everyRun) {
      INFO(line.name);
      CHECK(near(values(run, line.x, line.name), line.y));
      CHECK(near(slopes(run, line.x, line.name), line.slopes));
    }
  CHECK(ActivationArg("hard_swish").name() == "hard_silu");
  const Tensor rows(Row{1, 2, 0, -1}, {1, 4});
  const std::vector<Tensor> halves = runOnce(Run::compiled, {rows}, [](const std::vector<Value> &v) {
    return std::vector<Value>{ActivationArg("glu")(v[0])};
  });
  CHECK(halves[0].shape() == Shape{1, 2});
  CHECK(near(numbers(halves[0]), {0.5, 2 * s}));
  CHECK_THROWS_WITH(runOnce(Run::compiled, {Tensor(Row{1, 2, 3}, {1, 3})},
                            [](const std::vector<Value> &v) { return std::vector<Value>{ActivationArg("glu")(v[0])}; }),
                    Catch::Matchers::Contains("even extent. Received: shape=(1, 3)"));
}

TEST_CASE("sparsemax has Keras's values and slopes, also for equal elements") {
  // Keras 3.15.1: keras.activations.sparsemax, and its gradients for the cotangent (1, 2, 4).
  const Tensor x({0.5, 0.25, -1, 3, 1, 1, 2, 2, 2, 0.25, 0.25, 0}, {4, 3});
  for (const Run run : everyRun) {
    const auto results = runOnce(run, {x}, [](const std::vector<Value> &v) {
      const Value y = ActivationArg("sparsemax")(v[0]);
      const Value cotangent = ops::exp2(ops::arange(3.0, {}, {}, float32));
      return std::vector{y, gradients(ops::sum(y * cotangent), std::vector{v[0]})[0]};
    });
    CHECK(near(numbers(results[0]), {0.375, 0.125, 0, 1, 0, 0, 0, 0, 0, 1.0 / 6, 1.0 / 6, 0}));
    CHECK(near(numbers(results[1]), {-2, 0.5, 0, 0, 0, 0, 0, 0, 0, -2, 0, -1}));
  }
  CHECK_THAT(errorOf([] {
               (void)runOnce(Run::compiled, {Tensor::full({}, 1)},
                             [](const std::vector<Value> &v) { return std::vector{ActivationArg("sparsemax")(v[0])}; });
             }),
             Contains("sparsemax: axis -1 is out of range for rank 0"));
}

TEST_CASE("softplus is smooth: three derivatives agree with those of the sigmoid, at 0 and far from it") {
  const Row x{0, -0.0, 1, -2, 30, -30, 1e-4};
  for (Run run : everyRun) {
    std::vector<Row> found = derivatives(run, 3, x, [](const Value &v) { return ops::softplus(v); });
    for (size_t i = 0; i < x.size(); ++i) {
      double s = 1 / (1 + std::exp(-x[i]));
      INFO("at " << x[i]);
      CHECK(found[0][i] == Approx(s).epsilon(1e-12));
      CHECK(found[1][i] == Approx(s * (1 - s)).epsilon(1e-9).margin(1e-15));
      CHECK(found[2][i] == Approx(s * (1 - s) * (1 - 2 * s)).epsilon(1e-9).margin(1e-15));
    }
  }
}

TEST_CASE("activations of integers and bools are computed in floatx but for relu") {
  Tensor integers(std::vector<int32_t>{0, 1, 7}, {3});
  for (DType dtype : {DType::uint8, DType::int16, DType::int32, DType::bool_}) {
    std::vector<Tensor> y = runOnce(Run::compiled, {integers.astype(dtype)}, [](const std::vector<Value> &v) {
      std::vector<Value> results{ops::relu(v[0])};
      for (const char *each :
           {"relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "hard_sigmoid", "softplus", "softsign"})
        results.push_back(ActivationArg(each)(v[0]));
      return results;
    });
    CHECK(y[0].dtype() == (dtype == DType::bool_ ? DType::int32 : dtype));
    CHECK(numbers(y[0]) == (dtype == DType::bool_ ? Row{0, 1, 1} : Row{0, 1, 7}));
    for (size_t i = 1; i < y.size(); ++i)
      CHECK(y[i].dtype() == float32);
    CHECK(numbers(y[1])[2] == (dtype == DType::bool_ ? 1 : 6));
    CHECK(numbers(y[8])[0] == Approx(std::log(2)));
  }
}

TEST_CASE("Each activation that is a function computes what its name does, and a pointer to it is that name") {
  using Plain = Value (*)(const Value &);
  const std::pair<const char *, Plain> named[] = {{"relu", activations::relu},
                                                  {"relu6", activations::relu6},
                                                  {"selu", activations::selu},
                                                  {"silu", activations::silu},
                                                  {"sigmoid", activations::sigmoid},
                                                  {"hard_sigmoid", activations::hard_sigmoid},
                                                  {"hard_silu", activations::hard_silu},
                                                  {"hard_tanh", activations::hard_tanh},
                                                  {"tanh_shrink", activations::tanh_shrink},
                                                  {"mish", activations::mish},
                                                  {"log_sigmoid", activations::log_sigmoid},
                                                  {"sparse_plus", activations::sparse_plus},
                                                  {"sparse_sigmoid", activations::sparse_sigmoid},
                                                  {"tanh", activations::tanh},
                                                  {"softplus", activations::softplus},
                                                  {"softsign", activations::softsign},
                                                  {"exponential", ops::exp}};
  const Tensor x(Row{-4, -0.75, 0, 0.25, 2, 7}, {6});
  for (const auto &[name, function] : named) {
    INFO(name);
    CHECK(ActivationArg(function).name() == name);
    const std::vector<Tensor> y =
        runOnce(Run::interpreted, {x}, [&, f = function, n = name](const std::vector<Value> &v) {
          return std::vector<Value>{f(v[0]), ActivationArg(n)(v[0])};
        });
    CHECK(numbers(y[0]) == numbers(y[1]));
  }
  const Plain own = [](const Value &v) { return v * 2; };
  CHECK(ActivationArg(own).name() == "function");
  CHECK_THROWS_WITH(ActivationArg(Plain()), Catch::Matchers::Contains("received an empty one"));
}

TEST_CASE("Activations take Keras's arguments") {
  // Keras 3.15.1: keras.activations for these arguments.
  const Tensor x(Row{-2, -0.25, 0.5, 3}, {2, 2});
  const std::vector<Tensor> y = runOnce(Run::compiled, {x}, [](const std::vector<Value> &v) {
    return std::vector<Value>{activations::celu(v[0], 0.5),       activations::hard_shrink(v[0], 1),
                              activations::soft_shrink(v[0], 1),  activations::squareplus(v[0], 0),
                              activations::threshold(v[0], 0, 9), activations::glu(v[0], 0),
                              activations::sparsemax(v[0], 0)};
  });
  CHECK(near(numbers(y[0]), {0.5 * std::expm1(-4), 0.5 * std::expm1(-0.5), 0.5, 3}));
  CHECK(numbers(y[1]) == Row{-2, 0, 0, 3});
  CHECK(numbers(y[2]) == Row{-1, 0, 0, 2});
  CHECK(near(numbers(y[3]), {0, 0, 0.5, 3}));
  CHECK(numbers(y[4]) == Row{9, 9, 0.5, 3});
  CHECK(near(numbers(y[5]), {-2 / (1 + std::exp(-0.5)), -0.25 / (1 + std::exp(-3))}));
  CHECK(numbers(y[6]) == Row{0, 0, 1, 1});
}

static Value bent(const Value &x) { return ops::where(x < 0, 0.5 * x, x); }

TEST_CASE("A registered activation is in configs and files as Keras names a function, and is found by that name") {
  CHECK(ActivationArg(bent).name() == "function");
  const ActivationArg before(bent);
  register_activation("mine>bent", bent);
  CHECK(before.name() == "mine>bent"); // a pointer is known by its name, even if it was given before registration
  const ActivationArg lambda([](const Value &x) { return x + 1; });
  register_activation("raised", lambda);
  CHECK(lambda.name() == "raised");
  using namespace layers;
  const Sequential model({Input({2}), Dense(2, {.activation = bent, .kernel_initializer = "ones"}),
                          Activation("mine>bent"), Activation(lambda)});
  const std::string text = model.to_json();
  CHECK_THAT(
      text,
      Contains(
          R"("activation":{"module":"builtins","class_name":"function","config":"mine>bent","registered_name":"function"})") &&
          Contains(R"("config":"raised")"));
  const TemporaryFolder folder;
  model.save(folder / "a.keras");
  const Tensor x({-1, -3, 1, 2}, {2, 2});
  for (const Model &again : {load_model(folder / "a.keras"), clone_model(model)}) {
    CHECK(again.to_json() == text);
    CHECK(numbers(again.predict(x, {.verbose = 0})) == Row{0, 0, 4, 4});
  }
}

TEST_CASE(
    "An activation that a config cannot hold is refused with the line that registers it, and so is a file of one") {
  register_activation("mine>known", bent);
  const layers::Activation unnamed([](const Value &x) { return x * 2; });
  CHECK_THAT(errorOf([&] { (void)unnamed.get_config(); }),
             Contains("ValueError: `activation` is a function, which a config cannot hold") &&
                 Contains(R"(register_activation("package>name", f))"));
  std::string text = layers::Activation("mine>known").get_config().dump();
  text.replace(text.find("mine>known"), 10, "mine>other");
  const Config saved = Config::parse(
      R"({"module":"keras.layers","class_name":"Activation","registered_name":null,"config":)" + text + "}");
  CHECK_THAT(errorOf([&] { (void)layers::deserialize(saved); }),
             Contains("ValueError: Could not interpret activation function identifier: mine>other") &&
                 Contains("mine>known") && Contains(R"(with register_activation("mine>other", f))"));
}

TEST_CASE("Names of registered activations have one package or none, and are not those of the library") {
  for (const char *name : {"", ">x", "x>"})
    CHECK_THAT(errorOf([name] { register_activation(name, bent); }),
               Contains(R"(ValueError: A function of the kind activation is registered as "package>name" or "name")"));
  for (const char *name : {"relu", "swish", "linear", "function"})
    CHECK_THAT(errorOf([name] { register_activation(name, bent); }),
               Contains("ValueError") && Contains("is the name of a built-in activation"));
  register_activation("mine>relu", bent); // its package distinguishes it from the library's
  CHECK(ActivationArg("mine>relu").name() == "mine>relu");
  CHECK(ActivationArg(ops::relu).name() == "relu");
  register_activation("nothing", ActivationArg());
  CHECK(numbers(runOnce(Run::compiled, {Tensor(Row{-1, 2}, {2})}, [](const std::vector<Value> &v) {
          return std::vector{ActivationArg("nothing")(v[0])};
        })[0]) == Row{-1, 2});
}
