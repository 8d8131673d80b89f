// Keras's own tests of layers, losses, metrics and regularizers, by their ids in the list of acceptance checks.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

struct Check {
  const char *id;
  std::function<void()> run;
};

struct SeenTypes { // returns its first input and records the dtypes of its inputs
  std::shared_ptr<std::vector<DType>> seen = std::make_shared<std::vector<DType>>();
  Value call(const Values &inputs) const {
    seen->clear();
    for (const Value &input : inputs)
      seen->push_back(input.dtype());
    return inputs[0];
  }
};
struct ReadTypes { // records the dtypes in which its variables are read
  std::shared_ptr<std::vector<DType>> seen = std::make_shared<std::vector<DType>>();
  std::vector<Variable> variables;
  Value call(const Value &x) const {
    seen->clear();
    for (const Variable &variable : variables)
      seen->push_back(Value(variable).dtype());
    return x;
  }
};
Variable variableOf(DType dtype, bool autocast) {
  return detail::makeVariable(Tensor::ones({2}).astype(dtype), {.name = "v", .path = "v", .autocast = autocast});
}
struct FloatxScope {
  explicit FloatxScope(const char *dtype) { config::set_floatx(dtype); }
  ~FloatxScope() { config::set_floatx("float32"); }
  FloatxScope(const FloatxScope &) = delete;
};

const Check checks[] = {
    {"A-050",
     [] {
       Tensor x = Tensor::ones({4, 4});
       Dense pure(2, {.dtype = "float16"}), mixed(2, {.dtype = "mixed_float16"});
       CHECK(pure(x).dtype() == float16);
       CHECK(mixed(x).dtype() == float16);
       CHECK(pure.kernel().dtype() == float16);
       CHECK(mixed.kernel().dtype() == float32);
       CHECK(mixed.compute_dtype() == float16);
       CHECK(mixed.dtype() == float32);
     }},
    {"A-052",
     [] {
       Custom layer(SeenTypes{});
       (void)layer({Tensor::ones({2}, float64), Tensor::ones({2}, int32)});
       CHECK(*layer.self().seen == std::vector<DType>{float32, int32});
     }},
    {"A-057",
     [] {
       Dense layer(3);
       (void)layer(Tensor::ones({2, 4}));
       CHECK_THAT(errorOf([&] { layer.set_dtype_policy("gptq/4/-1_from_float32"); }),
                  Contains("ValueError") && Contains("Implicitly enabling GPTQ quantization") &&
                      Contains("is not supported"));
     }},
    {"A-058",
     [] {
       PolicyScope scope("mixed_float16");
       Input input({10});
       Model model({input}, {Dense(5)(input)});
       std::vector<std::string> names;
       for (const Layer &layer : model.layers())
         names.push_back(layer.class_name());
       CHECK(names == std::vector<std::string>{"InputLayer", "Dense"});
     }},
    {"A-060",
     [] {
       Variable variable = variableOf(float32, true);
       runOnce(Run::compiled, {Tensor::full({2}, 3, float16), Tensor::full({2}, 1.0 + 1.0 / 4096)},
               [&](const std::vector<Value> &v) {
                 AutocastScope scope(float16);
                 variable.assign(v[0]);
                 CHECK(Value(variable).dtype() == float16);
                 variable.assign(v[1]);
                 CHECK(variable.dtype() == float16);
                 return std::vector<Value>{};
               });
       CHECK(variable.dtype() == float32);
       CHECK(numbers(variable) == std::vector<double>(2, 1.0 + 1.0 / 4096)); // stored without rounding
     }},
    {"A-061",
     [] {
       Custom layer(
           ReadTypes{.variables = {variableOf(int32, true), variableOf(float32, false), variableOf(float32, true)}},
           {.dtype = "mixed_float16"});
       (void)layer(Tensor::ones({2}));
       CHECK(*layer.self().seen == std::vector<DType>{int32, float32, float16});
     }},
    {"A-062",
     [] {
       CHECK_THAT(errorOf([] { AutocastScope scope(int32); }),
                  Contains("ValueError: `AutocastScope` can only be used with a floating-point"));
     }},
    {"A-064",
     [] {
       Tensor y = GroupNormalization({.groups = 2, .dtype = "mixed_float16"})(Tensor::full({2, 4, 8}, 70000));
       for (double value : numbers(y))
         CHECK_FALSE(std::isnan(value));
     }},
    {"A-065",
     [] {
       CHECK(near(numbers(RMSNormalization()(Tensor({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 10}))),
                  {0, .18731716, .37463433, .5619515, .74926865, .9365858, 1.123903, 1.3112202, 1.4985373, 1.6858544}));
     }},
    {"A-066",
     [] {
       CHECK(near(numbers(Softmax()(Tensor({1, 2, 1, 1, 2, 1}, {2, 3}))),
                  {.21194157, .5761169, .21194157, .21194157, .5761169, .21194157}));
     }},
    {"A-068", // the dtype has no setter, so setting it does not compile
     [] {
       Tensor a({1, 2}, {2}), b({2, 4}, {2});
       CHECK(losses::MeanSquaredError({.dtype = "float16"})(a, b).dtype() == float16);
       CHECK(losses::MeanSquaredError({.dtype = DTypePolicy("mixed_float16")})(a, b).dtype() == float16);
     }},
    {"A-069",
     [] {
       PolicyScope scope("mixed_float16");
       Tensor a({1, 2}, {2}), b({2, 4}, {2});
       CHECK(losses::MeanSquaredError()(a, b).dtype() == float32);
       FloatxScope floatx("float16");
       CHECK(losses::MeanSquaredError()(a, b).dtype() == float16);
     }},
    {"A-070",
     [] {
       for (const PolicyArg &dtype : {PolicyArg("float16"), PolicyArg(DTypePolicy("mixed_float16"))}) {
         metrics::MeanSquaredError metric({.dtype = dtype});
         metric.update_state(Tensor({1, 2}, {2}), Tensor({2, 4}, {2}));
         CHECK(metric.dtype() == float16);
         for (const Variable &state : metric.variables())
           CHECK(state.dtype() == float16);
         CHECK(metric.result() == 2.5);
       }
     }},
    {"A-072",
     [] {
       std::vector<float> w;
       double absolute = 0, squares = 0;
       for (int i = 0; i < 16; ++i) {
         w.push_back(0.25f * static_cast<float>(i) - 1.75f);
         absolute += std::abs(w.back());
         squares += w.back() * w.back();
       }
       Tensor weights(w, {4, 4});
       auto penalty = [&](const Regularizer &regularizer) {
         return numbers(runOnce(Run::compiled, {weights}, [&](const std::vector<Value> &v) {
           return std::vector<Value>{regularizer(v[0])};
         })[0])[0];
       };
       CHECK(near({penalty(regularizers::L1(.1)), penalty(regularizers::L2(.1)), penalty(regularizers::L1L2(.1, .2))},
                  {.1 * absolute, .1 * squares, .1 * absolute + .2 * squares}));
       CHECK(near({penalty("l1"), penalty("l2"), penalty("l1l2")}, {.01 * absolute, .01 * squares, 0}));
       double cosines = 0;
       for (size_t i = 0; i < 4; ++i)
         for (size_t j = 0; j < i; ++j) {
           double ij = 0, ii = 0, jj = 0;
           for (size_t k = 0; k < 4; ++k) {
             ij += w[4 * i + k] * w[4 * j + k];
             ii += w[4 * i + k] * w[4 * i + k];
             jj += w[4 * j + k] * w[4 * j + k];
           }
           cosines += std::abs(ij) / std::sqrt(ii * jj);
         }
       CHECK(near({penalty("orthogonal_regularizer")}, {.01 * cosines / 6}, 1e-5));
       CHECK_FALSE(Regularizer().defined());
       CHECK_THAT(errorOf([] { Regularizer("typo"); }), Contains("ValueError"));
     }},
};

} // namespace

// policies 11.1, 12.1
TEST_CASE("Acceptance checks of layers, losses, metrics and regularizers") {
  for (const Check &check : checks)
    DYNAMIC_SECTION(check.id) { check.run(); }
}
