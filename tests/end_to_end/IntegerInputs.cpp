// Integer and bool inputs of float layers give the same results as floats of the same values.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <functional>

using namespace halftone;
using namespace halftone::layers;
using Catch::Detail::Approx;

namespace {

/// Numbers whose differences and sums exceed the range of 8 bits.
const Tensor &first() {
  static const Tensor tensor({200, 3, 250, 9, 100, 255, 7, 77}, {1, 4, 2});
  return tensor;
}
const Tensor &second() {
  static const Tensor tensor({1, 200, 30, 255, 90, 100, 2, 200}, {1, 4, 2});
  return tensor;
}
Tensor in(DType dtype, const Tensor &x) { return dtype == int8 ? (x / 2.0f - 64.0f).astype(int8) : x.astype(dtype); }

std::vector<double> numbersOf(const Tensor &tensor) { return tensor.astype(float64).to_vector<double>(); }

struct Case {
  const char *name;
  std::function<Layer()> make;
  bool takesTwo = false;
};

/// Layers whose results have the compute dtype.
const std::vector<Case> &ofComputeDtype() {
  static const std::vector<Case> cases{{"Softmax", [] { return Softmax(); }},
                                       {"Softmax over two axes", [] { return Softmax({1, 2}); }},
                                       {"PReLU", [] { return PReLU({.alpha_initializer = "ones"}); }},
                                       {"LayerNormalization", [] { return LayerNormalization(); }},
                                       {"GroupNormalization", [] { return GroupNormalization({.groups = 1}); }},
                                       {"RMSNormalization", [] { return RMSNormalization(); }},
                                       {"BatchNormalization", [] { return BatchNormalization(); }},
                                       {"Dense", [] { return Dense(2, {.kernel_initializer = "ones"}); }},
                                       {"Average", [] { return Average(); }, true},
                                       {"Dot with normalize", [] { return Dot(Axes{2}, {.normalize = true}); }, true},
                                       {"Attention", [] { return Attention(); }, true},
                                       {"Attention of sums", [] { return Attention({.score_mode = "concat"}); }, true},
                                       {"AdditiveAttention", [] { return AdditiveAttention(); }, true},
                                       {"MultiHeadAttention", [] { return MultiHeadAttention(1, 2); }, true},
                                       {"GroupQueryAttention", [] { return GroupQueryAttention(2, 1, 1); }, true}};
  return cases;
}

/// Layers and activations whose results are floats, in floatx as in Keras.
std::vector<Case> ofFloatx() {
  std::vector<Case> cases{
      {"ReLU with a slope", [] { return ReLU({.negative_slope = 0.1}); }},
      {"ReLU with a slope and a threshold", [] { return ReLU({.negative_slope = 0.1, .threshold = 1.0}); }},
      {"LeakyReLU", [] { return LeakyReLU(); }},
      {"ELU", [] { return ELU(); }},
      {"UnitNormalization", [] { return UnitNormalization(); }},
      {"AveragePooling1D", [] { return AveragePooling1D(2); }},
      {"GlobalAveragePooling1D", [] { return GlobalAveragePooling1D(); }}};
  for (const char *activation :
       {"softmax",     "log_softmax",    "relu6",     "selu",      "gelu",        "silu",
        "sigmoid",     "hard_sigmoid",   "hard_silu", "hard_tanh", "hard_shrink", "soft_shrink",
        "tanh_shrink", "celu",           "glu",       "mish",      "log_sigmoid", "squareplus",
        "sparse_plus", "sparse_sigmoid", "sparsemax", "tanh",      "softplus",    "softsign"})
    cases.push_back({activation, [activation] { return Activation(activation); }});
  return cases;
}

Tensor call(const Case &each, DType dtype, bool asFloats) {
  set_random_seed(1);
  const Layer layer = each.make();
  Tensors inputs{in(dtype, first())};
  if (each.takesTwo)
    inputs = Tensors{in(dtype, first()), in(dtype, second())};
  if (!asFloats)
    return layer(inputs);
  return each.takesTwo ? layer(Tensors{inputs[0].astype(float32), inputs[1].astype(float32)})
                       : layer(inputs[0].astype(float32));
}

void checkNumbers(const Tensor &integers, const Tensor &floats, double margin) {
  const std::vector<double> a = numbersOf(integers), b = numbersOf(floats);
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i)
    CHECK(a[i] == Approx(b[i]).epsilon(margin).margin(margin / 10));
}

void checkOfComputeDtype(const std::vector<DType> &dtypes) {
  for (const char *policy : {"float32", "bfloat16"}) {
    const PolicyScope scope{PolicyArg(policy)};
    for (const Case &each : ofComputeDtype())
      for (const DType dtype : dtypes) {
        CAPTURE(policy, each.name, name(dtype));
        const Tensor integers = call(each, dtype, false), floats = call(each, dtype, true);
        CHECK(integers.dtype() == floats.dtype());
        checkNumbers(integers, floats, floats.dtype() == bfloat16 ? 1e-2 : 1e-5);
      }
  }
}

void checkOfFloatx(const std::vector<DType> &dtypes) {
  for (const Case &each : ofFloatx())
    for (const DType dtype : dtypes) {
      CAPTURE(each.name, name(dtype));
      const Tensor integers = call(each, dtype, false);
      CHECK(is_float(integers.dtype()));
      checkNumbers(integers, call(each, dtype, true), 1e-5);
    }
}

} // namespace

// policies 11.11
TEST_CASE("layers that compute in floats take uint8 in the compute dtype") { checkOfComputeDtype({uint8}); }

TEST_CASE("layers that compute in floats take integers and bools in the compute dtype", "[full]") {
  checkOfComputeDtype({int8, int32, DType::bool_});
}

TEST_CASE("activations of uint8 are those of floats") { checkOfFloatx({uint8}); }

TEST_CASE("activations of integers and bools are those of floats", "[full]") {
  checkOfFloatx({int8, int32, DType::bool_});
}

TEST_CASE("the least of integers has the least share in a softmax") {
  const std::vector<float> shares = Softmax()(Tensor({1, 2, 3, 9}, {1, 4}).astype(uint8)).to_vector<float>();
  CHECK(shares[3] == Approx(0.996288f));
  CHECK(shares[0] == Approx(0.000334217f));
  const std::vector<float> logs =
      Activation("log_softmax")(Tensor({-100, 100}, {1, 2}).astype(int8)).to_vector<float>();
  CHECK(logs == std::vector<float>{-200, 0});
}

TEST_CASE("activity penalties of integers are those of floats, in every layer that hands integers on") {
  const Regularizer penalty = regularizers::L1L2(0.01, 0.02);
  const std::vector<std::function<Layer()>> layers{[] { return ActivityRegularization({.l1 = 0.01, .l2 = 0.02}); },
                                                   [&] { return Identity({.activity_regularizer = penalty}); },
                                                   [&] { return Flatten({.activity_regularizer = penalty}); },
                                                   [&] { return Reshape({4}, {.activity_regularizer = penalty}); },
                                                   [&] { return Dropout(0.5, {.activity_regularizer = penalty}); }};
  for (const auto &make : layers)
    for (const DType dtype : {float32, int32, uint8}) {
      const Tensor x({4, 3, 250, 3}, {1, 4});
      const Sequential model({Input({4}, {.dtype = dtype}), make()});
      model.compile({.loss = "mse"});
      CAPTURE(name(dtype), model.layers().back().class_name());
      CHECK(model.evaluate(x.astype(dtype), x, {.verbose = 0})["loss"] == Approx(1253.28));
    }
}
