// Ops on plain float8 values: results equal to Keras's, gradients through them, and weights that cannot be trained.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/frontend/RecordedJson.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

// policies 11.10
TEST_CASE("Layers in plain float8 give Keras's results") {
  size_t rows = 0;
  for (const std::string &line : recordedLines("float8.jsonl")) {
    const Json row = Json::parse(line);
    INFO(row.at("config").dump());
    const Layer layer = layers::deserialize(ConfigAccess::make(row.at("config")));
    auto dims = row.at("shape").get<std::vector<int64_t>>();
    const Tensor x(row.at("x").get<std::vector<float>>(), Shape(dims));
    dims.erase(dims.begin());
    const Sequential model({Input(Shape(dims)), layer});
    std::vector<Tensor> weights;
    for (const Variable &weight : layer.weights())
      weights.emplace_back(row.at("weights").at(weights.size()).get<std::vector<float>>(), weight.shape());
    model.set_weights(weights);
    const Tensor y = layer(x);
    CHECK(y.dtype() == layer.compute_dtype());
    if (layer.class_name() == "Activation") // a single operation here, with several roundings in Keras
      CHECK(distance(numbers(y), elementsOf(row.at("y"))) <= 0.25);
    else
      CHECK(numbers(y) == elementsOf(row.at("y")));
    ++rows;
  }
  CHECK(rows == 36);
}

TEST_CASE("Gradients go through layers in plain float8") {
  for (const char *policy : {"float8_e4m3fn", "float8_e5m2"})
    for (const char *activation : {"gelu", "silu", "elu", "tanh", "softmax"}) {
      INFO(policy << " " << activation);
      const Sequential model({Input({4}), Dense(8), Activation(activation, {.dtype = DTypePolicy(policy)}),
                              Dense(1, {.kernel_initializer = "ones"})});
      model.compile({.optimizer = optimizers::SGD(0.05), .loss = "mse"});
      const Tensor x({0.5F, -1.0F, 0.25F, 1.0F, 1.0F, 0.5F, -0.5F, 0.75F}, {2, 4}), y({2.0F, -1.0F}, {2, 1});
      const double first = model.train_on_batch(x, y)["loss"];
      double last = first;
      for (int step = 0; step < 20; ++step)
        last = model.train_on_batch(x, y)["loss"];
      CHECK(last < first);
    }
}

TEST_CASE("A weight in float8 cannot be trained, and the error names it and the policy for training in float8") {
  const Sequential model({Input({8, 2}), Conv1D(2, 3, {.dtype = DTypePolicy("float8_e4m3fn"), .name = "narrow"})},
                         {.name = "net"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  try {
    (void)model.train_on_batch(Tensor::ones({1, 8, 2}), Tensor::ones({1, 6, 2}));
    FAIL("trained");
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::not_implemented_error);
    CHECK_THAT(error.message(), Contains("'net/narrow/kernel' has the dtype float8_e4m3fn, which cannot be trained") &&
                                    Contains("use the policy 'float8_from_float32'"));
  }
}
