// Convolution layers: values, shapes of weights and results, names, policies, and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("A convolution of ones adds up the elements of each window") {
  const Tensor x = counted({1, 3, 3, 1});
  const ConvArgs ones{.kernel_initializer = "ones"};
  CHECK(numbers(Conv2D(1, 2, ones)(x)) == std::vector<double>{8, 12, 20, 24});
  CHECK(numbers(Conv2D(1, 3, {.padding = Padding::same, .kernel_initializer = "ones"})(x)) ==
        std::vector<double>{8, 15, 12, 21, 36, 27, 20, 33, 24});
  CHECK(numbers(Conv2D(1, 2, {.strides = 2, .padding = Padding::same, .kernel_initializer = "ones"})(x)) ==
        std::vector<double>{8, 7, 13, 8});
  CHECK(numbers(Conv1D(1, 2, {.padding = Padding::causal, .dilation_rate = 2, .kernel_initializer = "ones"})(
            counted({1, 4, 1}))) == std::vector<double>{0, 1, 2, 4});
  CHECK(numbers(DepthwiseConv1D(2, {.depthwise_initializer = "ones"})(counted({1, 3, 2}))) ==
        std::vector<double>{2, 4, 6, 8});
  CHECK(numbers(Conv1DTranspose(1, 2, {.strides = 2, .kernel_initializer = "ones"})(counted({1, 3, 1}))) ==
        std::vector<double>{0, 0, 1, 1, 2, 2});
  CHECK(numbers(SeparableConv1D(2, 2, {.depthwise_initializer = "ones", .pointwise_initializer = "ones"})(
            counted({1, 3, 2}))) == std::vector<double>{6, 6, 14, 14});
}

TEST_CASE("Weights and results have Keras's shapes") {
  const auto shapesOf = [](const Layer &layer, const Shape &input) {
    std::vector<std::string> shapes{layer(Input(input)).shape().str()};
    for (const Variable &weight : layer.weights())
      shapes.push_back(weight.name() + weight.shape().str());
    return shapes;
  };
  using Texts = std::vector<std::string>;
  CHECK(shapesOf(Conv2D(6, {3, 2}, {.groups = 2}), {5, 7, 4}) ==
        Texts{"(None, 3, 6, 6)", "kernel(3, 2, 2, 6)", "bias(6,)"});
  CHECK(shapesOf(Conv3D(2, 1, {.data_format = DataFormat::channels_first, .use_bias = false}), {3, 4, 5, 6}) ==
        Texts{"(None, 2, 4, 5, 6)", "kernel(1, 1, 1, 3, 2)"});
  CHECK(shapesOf(Conv2DTranspose(6, 3, {.strides = 2, .padding = Padding::same}), {5, 7, 4}) ==
        Texts{"(None, 10, 14, 6)", "kernel(3, 3, 6, 4)", "bias(6,)"});
  CHECK(shapesOf(DepthwiseConv2D(3, {.depth_multiplier = 2}), {5, 7, 4}) ==
        Texts{"(None, 3, 5, 8)", "kernel(3, 3, 4, 2)", "bias(8,)"});
  CHECK(shapesOf(SeparableConv2D(5, 3, {.depth_multiplier = 2}), {5, 7, 4}) ==
        Texts{"(None, 3, 5, 5)", "depthwise_kernel(3, 3, 4, 2)", "pointwise_kernel(1, 1, 8, 5)", "bias(5,)"});
  CHECK(Conv2D(4, 3, {.strides = 16})(Input({none, none, 3})).shape() == Shape{none, none, none, 4});
  CHECK(Conv2D(4, 300)(Input({none, none, 3})).shape() == Shape{none, none, none, 4});
  CHECK(Conv2D(4, 3)(Tensor::ones({0, 5, 5, 1})).shape() == Shape{0, 3, 3, 4});
}

TEST_CASE("The names of convolutions and pools are Keras's") {
  utils::clear_session();
  CHECK(Conv2D(1, 1).name() == "conv2d");
  CHECK(Conv2D(1, 1).name() == "conv2d_1");
  CHECK(Conv2DTranspose(1, 1).name() == "conv2d_transpose");
  CHECK(SeparableConv1D(1, 1).name() == "separable_conv1d");
  CHECK(MaxPooling2D().name() == "max_pooling2d");
  CHECK(GlobalAveragePooling3D().name() == "global_average_pooling3d");
  CHECK(ZeroPadding2D().name() == "zero_padding2d");
  CHECK(UpSampling1D().name() == "up_sampling1d");
}

TEST_CASE("A convolution computes in its policy's dtype and keeps its weights in the variables'") {
  for (const char *policy : {"float32", "float16", "bfloat16", "float64", "mixed_float16", "mixed_bfloat16"}) {
    const DTypePolicy wanted(policy);
    const Conv2D layer(2, 2, {.activation = "relu", .dtype = policy});
    const Tensor y = layer(Tensor::ones({2, 3, 3, 2}));
    INFO(policy);
    CHECK(y.dtype() == wanted.compute_dtype());
    CHECK(layer.kernel().dtype() == wanted.variable_dtype());
    CHECK(layer.bias().dtype() == wanted.variable_dtype());
  }
  DTypePolicyMap map("float32");
  map.insert("net/narrow", DTypePolicy("mixed_bfloat16"));
  Sequential net(
      {Input({4, 4, 1}), Conv2D(2, 2, {.dtype = map, .name = "narrow"}), Conv2D(2, 2, {.dtype = map, .name = "wide"})},
      {.name = "net"});
  CHECK(net.layers()[0].compute_dtype() == bfloat16);
  CHECK(net.layers()[1].compute_dtype() == float32);
}

TEST_CASE("Penalties and constraints of a convolution act on its kernels") {
  const Conv2D layer(1, 2, {.kernel_initializer = "ones", .kernel_regularizer = regularizers::L1(0.5)});
  Sequential net({Input({2, 2, 1}), layer});
  net.compile({.optimizer = optimizers::SGD(0.5), .loss = "mse"});
  const Tensor x = Tensor::zeros({1, 2, 2, 1}), y = Tensor::zeros({1, 1, 1, 1});
  CHECK(net.evaluate(x, y, {.verbose = 0})["loss"] == Approx(2.0)); // four ones by 0.5
  net.fit(x, y, {.verbose = 0});
  CHECK(numbers(layer.kernel()) == std::vector<double>(4, 0.75));
  const DepthwiseConv1D bounded(1, {.depthwise_initializer = "ones", .depthwise_constraint = "non_neg"});
  Sequential fallen({Input({1, 1}), bounded});
  fallen.compile({.optimizer = optimizers::SGD(10.0), .loss = "mse"});
  fallen.fit(Tensor::ones({1, 1, 1}), Tensor::zeros({1, 1, 1}), {.verbose = 0});
  CHECK(numbers(bounded.kernel()) == std::vector<double>{0});
}

TEST_CASE("Each kernel of a convolution in two parts has a penalty and a constraint of its own") {
  const auto lossOfZeros = [](const Layer &layer) {
    Sequential net({Input({2, 2, 1}), layer});
    net.compile({.optimizer = optimizers::SGD(10.0), .loss = "mse"});
    const Tensor x = Tensor::zeros({1, 2, 2, 1}), y = Tensor::zeros({1, 1, 1, 1});
    const double loss = net.evaluate(x, y, {.verbose = 0})["loss"];
    net.fit(x, y, {.verbose = 0});
    return loss;
  };
  const DepthwiseConv2D depthwise(2, {.depthwise_initializer = "ones", .depthwise_regularizer = regularizers::L1(0.5)});
  CHECK(lossOfZeros(depthwise) == Approx(2.0)); // four ones by 0.5
  const SeparableConv2D separable(1, 2,
                                  {.depthwise_initializer = "ones",
                                   .pointwise_initializer = "ones",
                                   .depthwise_regularizer = regularizers::L1(0.25),
                                   .pointwise_regularizer = regularizers::L1(0.5),
                                   .pointwise_constraint = "non_neg"});
  CHECK(lossOfZeros(separable) == Approx(1.5)); // four ones by 0.25, one by 0.5
  const std::vector<Variable> kernels = separable.weights();
  CHECK(numbers(kernels.at(0)) == std::vector<double>(4, -1.5)); // steps of 2.5 and 5
  CHECK(numbers(kernels.at(1)) == std::vector<double>{0});
}

TEST_CASE("Arguments that cannot be are refused when a convolution is made") {
  CHECK_THROWS_WITH(Conv2D(2, {3, 3, 3}), Contains("The `kernel_size` argument must be a tuple of 2 integers. Received "
                                                   "kernel_size=(3, 3, 3)"));
  CHECK_THROWS_WITH(Conv2D(2, 0), Contains("kernel_size=(0, 0), with values that do not satisfy `value >= 1`"));
  CHECK_THROWS_WITH(Conv2D(2, 3, {.strides = -1}), Contains("The `strides` argument must be a tuple of 2 integers. "
                                                            "Received strides=(-1, -1)"));
  CHECK_THROWS_WITH(Conv3D(2, 3, {.dilation_rate = {1, 0, 1}}), Contains("dilation_rate=(1, 0, 1)"));
  CHECK_THROWS_WITH(Conv1D(0, 3), Contains("Invalid value for argument `filters`. Expected a strictly positive value. "
                                           "Received filters=0."));
  CHECK_THROWS_WITH(Conv2D(4, 3, {.groups = 0}), Contains("The number of groups must be a positive integer"));
  CHECK_THROWS_WITH(Conv2D(4, 3, {.groups = 3}),
                    Contains("evenly divisible by the number of groups. Received: groups=3, "
                             "filters=4."));
  CHECK_THROWS_WITH(
      Conv2D(4, 3, {.strides = {1, 2}, .dilation_rate = 2}),
      Contains("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: strides=(1, "
               "2) and dilation_rate=(2, 2)"));
  CHECK_THROWS_WITH(Conv2D(4, 3, {.padding = Padding::causal}), Contains("Received: causal"));
  CHECK_THROWS_WITH(Conv1DTranspose(4, 3, {.padding = Padding::causal}), Contains("Received: causal"));
  CHECK_THROWS_WITH(Conv2DTranspose(4, 3, {.strides = 2, .output_padding = 2}),
                    Contains("`output_padding` must be strictly less than `strides` for all dimensions. Received: "
                             "output_padding=(2, 2), strides=(2, 2)"));
  CHECK_THROWS_WITH(DepthwiseConv2D(3, {.depth_multiplier = 0}), Contains("`depth_multiplier`"));
  CHECK_THROWS_WITH(SeparableConv1D(-1, 3), Contains("Received filters=-1."));
}

TEST_CASE("Inputs that do not fit are refused with the layer's path, and the layer stays as it was") {
  const auto refused = [](const Layer &layer, const Shape &shape) {
    std::string text;
    try {
      (void)layer(Tensor::ones(shape));
    } catch (const Error &error) {
      CHECK(error.kind() == ErrorKind::value_error);
      CHECK(error.layer_path() == layer.name());
      text = error.message();
    }
    CHECK_FALSE(layer.built());
    CHECK(layer.weights().empty());
    return text;
  };
  CHECK_THAT(refused(Conv2D(2, 5), {1, 4, 8, 1}),
             Contains("Computed output size would be zero or negative. Received inputs shape=(None, 4, 8, 1), of which "
                      "axis 1 needs an extent of at least 5"));
  CHECK_THAT(refused(Conv1D(2, 3, {.dilation_rate = 2}), {1, 4, 1}), Contains("an extent of at least 5"));
  CHECK_THAT(refused(Conv2D(2, 3, {.padding = Padding::same}), {1, 0, 8, 1}), Contains("an extent of at least 1"));
  CHECK_THAT(refused(Conv2DTranspose(2, 3), {1, 0, 8, 1}), Contains("an extent of at least 1"));
  CHECK_THAT(refused(Conv2D(2, 3, {.groups = 2}), {1, 8, 8, 3}), Contains("Received groups=2, but the input has 3 "
                                                                          "channels"));
  CHECK_THAT(refused(Conv2D(2, 3), {1, 8, 8}), Contains("expected ndim=4, found ndim=3"));
  CHECK_THAT(refused(DepthwiseConv2D(3), {1, 8, 8, 0}), Contains("should be defined and positive"));
  CHECK_THAT(refused(SeparableConv2D(2, 9), {1, 8, 8, 1}), Contains("an extent of at least 9"));
  CHECK_THROWS_WITH(Conv2D(2, 3)(Input({8, 8, none})), Contains("should be defined and positive"));
  const Conv2D built(2, 3);
  (void)built(Tensor::ones({1, 8, 8, 3}));
  CHECK_THROWS_WITH(built(Tensor::ones({1, 8, 8, 4})), Contains("expected axis 3 of input shape to have value 3"));
}
