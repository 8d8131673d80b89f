// Names of layers, the weights of a layer, and weights that exceed the memory.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/UniqueNames.h"
#include "frontend/layers/LayerImpl.h"
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

template <class F> std::string errorOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}
std::vector<std::string> pathsOf(const std::vector<Variable> &variables) {
  std::vector<std::string> paths;
  for (const Variable &variable : variables)
    paths.push_back(variable.path());
  return paths;
}

struct ConvNet2D {
  Value call(const Value &x) const { return x; }
};
struct MLPBlock3x3Wide {
  Value call(const Value &x) const { return x; }
};
struct Twice {
  Dense first{4, {.name = "same"}}, second{4, {.name = "same"}};
  Value call(const Value &x) const { return second(first(x)); }
};

} // namespace

// The results of keras.src.utils.naming.to_snake_case.
TEST_CASE("automatic names are Keras's, with digits, capitals and underscores") {
  const std::pair<const char *, const char *> names[] = {
      {"Conv2D", "conv2d"},
      {"Conv2DTranspose", "conv2d_transpose"},
      {"LSTMCell", "lstm_cell"},
      {"MyABC", "my_abc"},
      {"AlphaBetaGamma", "alpha_beta_gamma"},
      {"A1Bc2De", "a1_bc2_de"},
      {"GELU2Layer", "gelu2_layer"},
      {"X", "x"},
      {"HTTPServer2", "http_server2"},
      {"LowRank_", "low_rank_"},
      {"_Private", "__private"},
      {"ABCd", "ab_cd"},
      {"ABc", "a_bc"},
      {"Layer1A", "layer1a"},
      {"Layer1Ab", "layer1_ab"},
      {"aB1C", "a_b1c"},
      {"a-b c", "abc"},
      {"Foo__Bar", "foo___bar"},
      {"ReLU", "re_lu"},
      {"PReLU", "p_re_lu"},
      {"UNet3Plus", "u_net3_plus"},
      {"Resnet50V2", "resnet50v2"},
      {"Dense_1", "dense_1"},
      {"FP8Dense", "fp8_dense"},
      {"i8Dense", "i8_dense"},
      {"Block2X2a", "block2x2a"},
      {"ABCDef123GhiJKL4mn", "abc_def123_ghi_jkl4mn"},
      {"RMSNormalization", "rms_normalization"},
      {"GaußNetz", "gauß_netz"},
  };
  for (auto [className, name] : names)
    CHECK(detail::snakeCase(className) == name);
  utils::clear_session();
  CHECK(Custom(ConvNet2D{}).name() == "conv_net2d");
  CHECK(Custom(ConvNet2D{}).name() == "conv_net2d_1");
  CHECK(Custom(MLPBlock3x3Wide{}).name() == "mlp_block3x3_wide");
}

TEST_CASE("a model's layers have names of their own") {
  Input x({4}, {.name = "x"}), again({4}, {.name = "x"});
  auto twice = [](const char *name) {
    return Contains(std::string("ValueError: The name \"") + name +
                    "\" is used 2 times in the model. All operation names should be unique.");
  };
  CHECK_THAT(errorOf([&] { Model(x, Dense(2, {.name = "a"})(Dense(3, {.name = "a"})(x))); }), twice("a"));
  CHECK_THAT(errorOf([&] { Model({x, again}, Add()({x, again})); }), twice("x"));
  CHECK_THAT(errorOf([&] { Model(x, Dense(2, {.name = "x"})(x)); }), twice("x"));
  CHECK_THAT(errorOf([&] {
               utils::clear_session();
               Dense automatic(3); // it is named "dense"
               Model(x, Dense(2, {.name = "dense"})(automatic(x)));
             }),
             twice("dense"));
  auto inSequential = [](const char *name) {
    return Contains(std::string("ValueError: All layers added to a Sequential model should have unique names. Name '") +
                    name + "' is already the name of a layer in this model. Update the `name` argument");
  };
  CHECK_THAT(errorOf([] { Sequential({Dense(2, {.name = "q"}), Dense(2, {.name = "q"})}); }), inSequential("q"));
  CHECK_THAT(errorOf([] { Sequential({Input({4}, {.name = "q"}), Dense(2, {.name = "q"})}); }), inSequential("q"));
  Sequential inner({Input({4}), Dense(4, {.name = "d"})}, {.name = "d"});
  CHECK_THAT(errorOf([&] { Sequential({inner, Dense(2, {.name = "d"})}); }), inSequential("d"));
  Sequential grown({Input({4}), Dense(4, {.name = "e"})});
  CHECK_THAT(errorOf([&] { grown.add(Dense(2, {.name = "e"})); }), inSequential("e"));
  CHECK(grown.layers().size() == 1);

  // No duplicate names: a layer that is called twice, names in other models, custom layers.
  Dense shared(4, {.name = "shared"});
  CHECK(Model(x, shared(shared(x))).layers().size() == 2);
  CHECK(Model(x, Dense(2, {.name = "e"})(grown(x))).layers().size() == 3);
  Model custom(Twice{});
  (void)custom(Tensor::ones({1, 4}));
  CHECK(custom.layers().size() == 2);
}

TEST_CASE("the Input of a Sequential keeps its name") {
  Sequential model({Input({2}, {.name = "pixels"}), Dense(1)});
  CHECK(model.inputs()[0].node()->name == "pixels");
  CHECK(model.predict({{"pixels", Tensor::ones({3, 2})}}, {.verbose = 0}).shape() == Shape{3, 1});
  CHECK_THAT(errorOf([&] { (void)model.predict({{"other", Tensor::ones({3, 2})}}, {.verbose = 0}); }),
             Contains("ValueError: `x` names the input 'other'; the inputs are [pixels]"));
}

TEST_CASE("weights are what is saved; states of random layers are variables only, of those that draw") {
  utils::clear_session();
  Sequential model(
      {Input({4}), Dense(2), Dropout(0.0), Dropout(0.5), GaussianNoise(0.0), GaussianNoise(0.1), BatchNormalization()},
      {.name = "net"});
  const std::vector<std::string> weights{"net/dense/kernel",
                                         "net/dense/bias",
                                         "net/batch_normalization/gamma",
                                         "net/batch_normalization/beta",
                                         "net/batch_normalization/moving_mean",
                                         "net/batch_normalization/moving_variance"};
  CHECK(pathsOf(model.weights()) == weights);
  CHECK(model.get_weights().size() == weights.size());
  CHECK(model.variables().size() == weights.size() + 2);
  const std::vector<std::string> states{
      "net/dropout_1/seed_generator/seed_generator_state", "net/gaussian_noise_1/seed_generator/seed_generator_state",
      "net/batch_normalization/moving_mean", "net/batch_normalization/moving_variance"};
  CHECK(pathsOf(model.non_trainable_variables()) == states);
  CHECK(model.count_params() == 18);
  CHECK(Dense(3).weights().empty());
  // Training with layers that draw no random numbers equals training without them.
  model.compile({.loss = "mse"});
  CHECK(std::isfinite(model.train_on_batch(Tensor::ones({4, 4}), Tensor::zeros({4, 2}))["loss"]));
}

TEST_CASE("inside an AutocastScope variables are read in its dtype") {
  Dense layer(2, {.use_bias = false});
  (void)layer(Tensor::ones({1, 3}));
  const Variable kernel = layer.kernel();
  auto read = jit([=](const Value &x) { return x + Value(kernel); });
  const Tensor half = Tensor::zeros({3, 2}, float16);
  CHECK(read(half).dtype() == float32);
  {
    AutocastScope scope(float16);
    CHECK(kernel.dtype() == float16);
    CHECK(read(half).dtype() == float16); // retraced
    {
      AutocastScope own(std::nullopt);
      CHECK(kernel.dtype() == float32);
      CHECK(read(half).dtype() == float32);
    }
    // A layer reads in its own compute dtype, whatever the scope of the call.
    CHECK(layer(Tensor::ones({1, 3})).dtype() == float32);
    CHECK(read(half).dtype() == float16);
  }
  CHECK(kernel.dtype() == float32);
  CHECK(read(half).dtype() == float32);
  CHECK_THAT(errorOf([] { AutocastScope scope(int32); }),
             Contains("ValueError: `AutocastScope` can only be used with a floating-point target dtype"));
}

TEST_CASE("a weight too large is one error with the layer, the bytes asked for and those free") {
  const int64_t wide = int64_t(1) << 20;
  for (const char *initializer : {"zeros", "glorot_uniform", "normal"})
    for (DType dtype : {float32, float16, float64}) {
      INFO(initializer << " " << name(dtype));
      Dense layer(wide, {.kernel_initializer = initializer, .dtype = dtype, .name = "vast"});
      const std::string error = errorOf([&] { (void)layer(Tensor::ones({1, wide}, dtype)); });
      CHECK_THAT(error, StartsWith("RuntimeError: weight 'kernel' of shape (1048576, 1048576) and dtype " +
                                   std::string(name(dtype)) + " takes " +
                                   std::to_string(wide * wide * itemsize(dtype)) + " bytes, "));
      CHECK_THAT(error, Contains("bytes are free\n  layer: vast\n  at: "));
      CHECK_FALSE(layer.built());
    }
  const int64_t vast = int64_t(1) << 31;
  CHECK_THAT(errorOf([&] { Sequential({Input({vast}), Dense(vast / 2)}); }),
             Contains("ValueError: weight 'kernel' of shape (2147483648, 1073741824) and dtype float32 is too large\n"
                      "  layer: "));
  CHECK_THAT(errorOf([&] { Sequential({Input({vast, vast}), Embedding(vast, vast * 4)}); }),
             Contains("has more elements than 63 bits can count\n  layer: "));
}
