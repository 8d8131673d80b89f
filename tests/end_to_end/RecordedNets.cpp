// Random stacks of layers under random policies, compared with real Keras, op by op: tests/data/keras/nets.jsonl.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace halftone;
using Json = nlohmann::json;

static Layer layerOf(const Json &args) {
  PolicyArg dtype;
  if (!args["dtype"].is_null())
    dtype = args["dtype"].get<std::string>();
  auto penalty = [&](const char *name) {
    double factor = args[name];
    return factor == 0 ? Regularizer() : Regularizer(regularizers::L2(factor));
  };
  std::string kind = args["class"];
  if (kind == "Dense")
    return layers::Dense(args["units"], {.activation = args["activation"].get<std::string>(),
                                         .use_bias = args["use_bias"],
                                         .kernel_regularizer = penalty("kernel_regularizer"),
                                         .activity_regularizer = penalty("activity_regularizer"),
                                         .dtype = dtype,
                                         .autocast = args["autocast"]});
  if (kind == "LayerNormalization")
    return layers::LayerNormalization({.dtype = dtype});
  if (kind == "GroupNormalization")
    return layers::GroupNormalization({.groups = args["groups"], .dtype = dtype});
  if (kind == "BatchNormalization")
    return layers::BatchNormalization({.dtype = dtype});
  if (kind == "RMSNormalization")
    return layers::RMSNormalization({.dtype = dtype});
  if (kind == "UnitNormalization")
    return layers::UnitNormalization({.dtype = dtype});
  if (kind == "Activation")
    return layers::Activation(args["activation"].get<std::string>(), {.dtype = dtype});
  if (kind == "Softmax")
    return layers::Softmax(-1, {.dtype = dtype});
  if (kind == "ReLU")
    return layers::ReLU({.dtype = dtype});
  if (kind == "Rescaling")
    return layers::Rescaling(args["scale"].get<double>(), args["offset"].get<double>(), {.dtype = dtype});
  throw std::invalid_argument("no such layer: " + kind);
}

static Sequential modelOf(const Json &net) {
  std::vector<Layer> stack{Input({net["features"].get<int64_t>()})};
  for (const Json &args : net["layers"])
    stack.push_back(layerOf(args));
  return Sequential(stack);
}

static Tensor tensorOf(const Json &numbers, const Shape &shape, DType dtype = float32) {
  return Tensor(numbers.get<std::vector<float>>(), shape).astype(dtype);
}

/// The largest difference, relative to the largest expected element (at least 1e-3).
static double difference(const Tensor &found, const Json &expected) {
  std::vector<float> numbers = found.astype(float32).to_vector<float>();
  REQUIRE(numbers.size() == expected.size());
  double worst = 0, scale = 1e-3;
  for (size_t i = 0; i < numbers.size(); ++i) {
    worst = std::max<double>(worst, std::abs(numbers[i] - expected[i].get<float>()));
    scale = std::max<double>(scale, std::abs(expected[i].get<float>()));
  }
  return worst / scale;
}

/// A few ulp of the narrowest dtype in the net.
static double toleranceOf(const Json &net) {
  std::string policies = net["policy"];
  for (const Json &args : net["layers"])
    policies += args["dtype"].is_null() ? "" : " " + args["dtype"].get<std::string>();
  if (policies.find("bfloat16") != policies.npos)
    return 0.04;
  return policies.find("float16") != policies.npos ? 0.005 : 1e-5;
}

// policies 11.1, 11.5, 11.6
TEMPLATE_TEST_CASE_SIG("random nets under random policies compute what Keras computes, in quarters", "[nets]",
                       ((int quarter), quarter), 0, 1, 2, 3) {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/nets.jsonl");
  int nets = 0;
  for (std::string line; std::getline(file, line); ++nets) {
    if (nets % 4 != quarter)
      continue;
    Json net = Json::parse(line);
    INFO("net " << net["seed"] << ", policy " << net["policy"] << ": " << net["layers"]);
    PolicyScope scope(net["policy"].get<std::string>());
    Sequential model = modelOf(net);
    Tensor x = tensorOf(net["x"], {net["batch"].get<int64_t>(), net["features"].get<int64_t>()});
    Tensor y = tensorOf(net["y"], {net["batch"].get<int64_t>(), 3});
    std::vector<Tensor> weights;
    for (const Json &weight : net["weights"])
      weights.push_back(tensorOf(weight["value"], Shape(weight["shape"].get<std::vector<int64_t>>()),
                                 standardize_dtype(weight["dtype"].get<std::string>())));
    std::vector<Variable> variables = model.variables();
    REQUIRE(variables.size() == weights.size());
    for (size_t i = 0; i < weights.size(); ++i)
      CHECK(name(variables[i].dtype()) == net["weights"][i]["dtype"].get<std::string>());
    model.set_weights(weights);
    model.compile({.optimizer = optimizers::SGD(net["learning_rate"].get<double>()),
                   .loss = "mse",
                   .numerics = Numerics::strict});
    double tolerance = toleranceOf(net);

    Tensor inference = model(x);
    CHECK(name(inference.dtype()) == net["dtype"].get<std::string>());
    CHECK(difference(inference, net["inference"]) <= tolerance);
    CHECK(difference(model(x, {.training = true}), net["training"]) <= tolerance);

    model.set_weights(weights);
    double loss = model.train_on_batch(x, y)["loss"];
    CHECK(std::abs(loss - net["loss"].get<double>()) <= tolerance * std::max(1.0, net["loss"].get<double>()));
    CHECK(model.loss_scale_optimizer().has_value() == (net["optimizer"] == "LossScaleOptimizer"));
    std::vector<Tensor> after = model.get_weights();
    for (size_t i = 0; i < after.size(); ++i) {
      INFO("weight " << i << ", " << net["weights"][i]["name"]);
      CHECK(difference(after[i], net["weights"][i]["after"]) <= tolerance);
    }
  }
  CHECK(nets == 80);
}
