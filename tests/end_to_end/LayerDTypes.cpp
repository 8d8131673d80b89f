// Dtypes of layers: the values that are cast, the dtypes in which variables are read, and both in the IR.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <regex>
#include <set>

using namespace halftone;
using namespace halftone::layers;

namespace {

using Origins = std::map<std::string, int>;
/// The number of casts of each origin in a model's program in stage cast.
Origins castsOf(const Model &model, Program program = Program::predict) {
  Origins origins;
  std::string text = model.ir(Stage::cast, {.program = program, .batch_size = 4});
  std::regex origin("halftone\\.cast[^\n]*origin = \"([^\"]*)\"");
  for (std::sregex_iterator at(text.begin(), text.end(), origin), end; at != end; ++at)
    ++origins[(*at)[1]];
  std::regex any("halftone\\.cast ");
  int total = 0, named = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), any), end; at != end; ++at)
    ++total;
  for (const auto &[name, count] : origins)
    named += count;
  CHECK(total == named); // each has an origin
  return origins;
}

struct Reader { // has one weight and records the dtype in which it is read
  std::shared_ptr<DType> seen = std::make_shared<DType>();
  std::shared_ptr<DType> input = std::make_shared<DType>();
  DType stored = float32;
  Variable variable{};
  void build(BuildContext &context, const Shape &) {
    variable = context.add_weight({.shape = {}, .initializer = "ones", .dtype = stored, .name = "w"});
  }
  Value call(const Value &x) const {
    *seen = Value(variable).dtype();
    *input = x.dtype();
    return x;
  }
};
struct Nest { // a layer that calls another layer
  Layer inner;
  Value call(const Value &x) const { return inner(x); }
};
Custom<Reader> reader(const char *policy, bool autocast = true, DType stored = float32) {
  return Custom(Reader{.stored = stored}, {.dtype = policy, .autocast = autocast});
}
DType readAlone(const Custom<Reader> &layer) {
  (void)layer(Tensor::ones({4, 2}));
  return *layer.self().seen;
}
DType readNested(const char *outer, const Custom<Reader> &layer) {
  (void)Custom(Nest{layer}, {.dtype = outer})(Tensor::ones({4, 2}));
  return *layer.self().seen;
}
DType readInModel(const char *model, const Custom<Reader> &layer) {
  PolicyScope scope(model);
  (void)Sequential({Input({2}), layer}).predict(Tensor::ones({4, 2}), {.verbose = 0});
  return *layer.self().seen;
}

} // namespace

// policies 11.1, 11.7
TEST_CASE("The cast stage has the policy's casts and no others") {
  auto dense = [](const char *policy) {
    PolicyScope scope(policy);
    return Sequential({Input({3}), Dense(5), Dense(2)});
  };
  CHECK(castsOf(dense("float32")).empty());
  CHECK(castsOf(dense("float64")) == Origins{{"layer input", 1}}); // the Input has dtype floatx
  for (const char *policy : {"mixed_float16", "mixed_bfloat16"})
    CHECK(castsOf(dense(policy)) == Origins{{"layer input", 1}, {"variable read", 4}, {"layer output", 2}});
  CHECK(castsOf(dense("float16")) == Origins{{"layer input", 1}, {"layer output", 2}});
  Sequential head({Input({3}), Dense(5, {.dtype = "mixed_float16"}), Dense(2, {.dtype = "float32"})});
  CHECK(castsOf(head) == Origins{{"layer input", 2}, {"variable read", 2}, {"layer output", 1}});
  Sequential kept({Input({3}), Dense(5, {.dtype = "mixed_float16", .autocast = false})});
  CHECK(castsOf(kept).count("layer input") == 0);
}

TEST_CASE("In a training step of a float32 model nothing is cast but counts and labels") {
  Sequential model({Input({3}), Dense(5), BatchNormalization(), LayerNormalization(), Dense(2)});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  model.train_on_batch(Tensor::ones({4, 3}), Tensor::ones({4, 2}));
  for (const auto &[origin, count] : castsOf(model, Program::train)) {
    INFO(origin);
    CHECK(origin == "optimizer"); // the iteration, an integer, for Adam's step size
    CHECK(count == 1);
  }
}

// policies 11.2
TEST_CASE("Variables are read by Keras's scopes") {
  CHECK(readAlone(reader("mixed_float16")) == float16);
  CHECK(readAlone(reader("float32")) == float32);
  CHECK(readAlone(reader("float16", true, float32)) == float32); // no scope: both dtypes are float16
  CHECK(readAlone(reader("float32", true, float64)) == float64);
  // autocast = false has no effect alone, but it has within the scope of another layer.
  Custom<Reader> kept = reader("mixed_float16", false);
  CHECK(readAlone(kept) == float16);
  CHECK(*kept.self().input == float32);
  CHECK(readNested("mixed_float16", reader("mixed_float16", false)) == float32);
  CHECK(readInModel("mixed_float16", reader("mixed_float16", false)) == float32);
  CHECK(readInModel("float32", reader("mixed_float16", false)) == float16);
  {
    PolicyScope scope("mixed_float16");
    Sequential model({Input({3}), Dense(2, {.autocast = false})});
    model.compile({.loss = "mse"});
    for (Program program : {Program::predict, Program::test, Program::train}) // Keras on JAX differs for test and train
      CHECK(castsOf(model, program).count("variable read") == 0);
  }
  // The compute dtype of the inner layer applies, even if it is narrower.
  CHECK(readNested("mixed_float16", reader("float32")) == float32);
  CHECK(readNested("mixed_float16", reader("float32", true, float64)) == float32);
  CHECK(readNested("mixed_float16", reader("mixed_bfloat16")) == bfloat16);
  CHECK(readNested("float32", reader("mixed_bfloat16")) == bfloat16);
  CHECK(readInModel("mixed_float16", reader("mixed_bfloat16")) == bfloat16);
  // Under an integer policy variables keep their stored dtype, and float inputs are cast.
  Custom integer(Reader{}, {.dtype = DType::int8});
  CHECK(readNested("mixed_float16", integer) == float32);
  CHECK(*integer.self().input == int8);
}

// policies 11.3
TEST_CASE("A Sequential without an Input takes the first layer's compute dtype, an Input floatx") {
  PolicyScope scope("mixed_float16");
  Sequential implied({Dense(2), Dense(2, {.dtype = "float32"})}), given({Input({3}), Dense(2)});
  (void)implied.predict(Tensor::ones({4, 3}), {.verbose = 0});
  (void)given.predict(Tensor::ones({4, 3}), {.verbose = 0});
  CHECK(implied.inputs()[0].dtype() == float16);
  CHECK(given.inputs()[0].dtype() == float32);
  CHECK(castsOf(implied).count("layer input") == 1); // the cast before the float32 layer
  Tensor ints = Tensor::of<int32_t>({1, 2, 3}, {1, 3});
  CHECK(given.predict(ints, {.verbose = 0}).dtype() == float16);
}

// policies 11.4
TEST_CASE("A built layer's policy can be set: its computation changes, its weights do not") {
  Sequential model({Input({3}), Dense(2, {.kernel_initializer = initializers::Constant(1.0 / 3)})});
  Tensor x = Tensor::ones({1, 3});
  CHECK(model.predict(x, {.verbose = 0}).dtype() == float32);
  Layer dense = model.layers().back();
  dense.set_dtype_policy("mixed_bfloat16");
  Tensor y = model.predict(x, {.verbose = 0});
  CHECK(y.dtype() == bfloat16);
  CHECK(castsOf(model) == Origins{{"layer input", 1}, {"variable read", 2}, {"layer output", 1}});
  CHECK(dense.variables()[0].dtype() == float32);
  dense.set_dtype_policy("float16"); // no scope: the kernel is read in its own dtype, and float32 is the common dtype
  CHECK(model.predict(x, {.verbose = 0}).dtype() == float32);
  CHECK(dense.variables()[0].dtype() == float32);
  CHECK(dense.dtype() == float16); // the dtype of the next weight
  dense.set_dtype_policy("float32");
  CHECK(model.predict(x, {.verbose = 0}).to_vector<float>()[0] == Approx(1.0));
}

// policies 11.6
TEST_CASE("Weight regularizers see the variable dtype, activity regularizers the compute dtype") {
  auto lossOf = [](bool activity, Numerics numerics) {
    PolicyScope scope("mixed_float16");
    DenseArgs args{.use_bias = false, .kernel_initializer = initializers::Constant(300)};
    (activity ? args.activity_regularizer : args.kernel_regularizer) = regularizers::L2(0.5);
    Sequential model({Input({1}), Dense(1, args), Dense(1, {.kernel_initializer = "zeros"})});
    model.compile({.optimizer = "sgd", .loss = "mse", .numerics = numerics});
    return model.test_on_batch(Tensor::ones({2, 1}), Tensor::zeros({2, 1}))["loss"];
  };
  CHECK(lossOf(false, Numerics::fast) == 45000);
  CHECK(lossOf(false, Numerics::strict) == 45000);
  CHECK(lossOf(true, Numerics::fast) == 44992); // computed in float32, rounded once: 300^2 is infinite in float16
  CHECK(lossOf(true, Numerics::strict) == 44992);
  // The penalty is divided by the batch size.
  Sequential model(
      {Input({1}),
       Dense(1, {.use_bias = false, .kernel_initializer = "ones", .activity_regularizer = regularizers::L1(0.1)})});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  Tensor x({1, 2, 3, 6}, {4, 1});
  CHECK(model.test_on_batch(x, x)["loss"] == Approx(0.1 * 12 / 4));
}

// policies 11.6
TEST_CASE("Only trainable weights are regularized") {
  Sequential model({Input({2}), Dense(2, {.kernel_initializer = "ones",
                                          .bias_initializer = "ones",
                                          .kernel_regularizer = "l2",
                                          .bias_regularizer = "l1"})});
  Tensor x = Tensor::zeros({1, 2}), y = Tensor::ones({1, 2});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  CHECK(model.test_on_batch(x, y)["loss"] == Approx(0.01 * 4 + 0.01 * 2));
  model.layers().back().set_trainable(false);
  CHECK(model.test_on_batch(x, y)["loss"] == Approx(0.0));
}

// policies 12.1
TEST_CASE("Losses and metrics compute in floatx under every policy") {
  PolicyScope scope("float16");
  Sequential model({Input({1}, {.dtype = float16}), Dense(1, {.kernel_initializer = "ones"})});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mse"}});
  // 300^2 is inf in float16.
  Logs logs = model.test_on_batch(Tensor::full({2, 1}, 300), Tensor::zeros({2, 1}));
  CHECK(logs["loss"] == 90000);
  CHECK(logs["mse"] == 90000);
}

// policies 11.3
TEST_CASE("the input dtype of a Sequential is that of its Input, else the first layer's compute dtype") {
  CHECK(Sequential({Input({2}, {.dtype = float64}), Dense(1)}).input_dtype() == float64);
  CHECK(Sequential({Input({2}, {.dtype = uint8}), Flatten()}).input_dtype() == uint8);
  const Sequential first({Dense(1, {.dtype = "mixed_float16"})});
  CHECK(first.input_dtype() == float32); // that of its own policy, before it is built
  (void)first(Tensor({1.f, 2.f}, {1, 2}));
  CHECK(first.input_dtype() == float16);
  const Sequential outer({Input({2}, {.dtype = bfloat16}), Sequential({Input({2}), Dense(1)})});
  CHECK(outer.input_dtype() == bfloat16);
  const PolicyScope policy("mixed_bfloat16");
  Input x({2}, {.dtype = float64});
  CHECK(Model({x}, {Dense(1)(x)}).input_dtype() == bfloat16); // as in Keras: that of its policy
  CHECK(Dense(1).input_dtype() == bfloat16);
}
