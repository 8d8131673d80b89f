// Nets that train a few steps, compared with real Keras and float64: tests/data/keras/trained.jsonl.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace halftone;
using Json = nlohmann::json;

namespace {

Layer layerOf(const Json &args) {
  const std::string kind = args["class"], name = args["name"];
  PolicyArg dtype;
  if (!args["dtype"].is_null())
    dtype = args["dtype"].get<std::string>();
  if (kind == "Dense") {
    const double l2 = args["kernel_l2"];
    return layers::Dense(args["units"], {.activation = args["activation"].get<std::string>(),
                                         .use_bias = args["use_bias"],
                                         .kernel_regularizer = l2 == 0 ? Regularizer() : regularizers::L2(l2),
                                         .dtype = dtype,
                                         .name = name});
  }
  if (kind == "LayerNormalization")
    return layers::LayerNormalization({.dtype = dtype, .name = name});
  if (kind == "GroupNormalization")
    return layers::GroupNormalization({.groups = args["groups"], .dtype = dtype, .name = name});
  if (kind == "BatchNormalization")
    return layers::BatchNormalization({.dtype = dtype, .name = name});
  if (kind == "RMSNormalization")
    return layers::RMSNormalization({.dtype = dtype, .name = name});
  if (kind == "Rescaling")
    return layers::Rescaling(args["scale"].get<double>(), args["offset"].get<double>(), {.dtype = dtype, .name = name});
  throw std::invalid_argument("no such layer: " + kind);
}

PolicyArg policyOf(const Json &net) {
  const std::string base = net["policy"];
  if (net["rules"].empty())
    return base;
  DTypePolicyMap map{PolicyArg(base)};
  for (const Json &rule : net["rules"])
    map.insert(rule[0].get<std::string>(), rule[1].get<std::string>());
  return map;
}

Loss lossOf(const std::string &name) {
  if (name == "cce")
    return losses::CategoricalCrossentropy({.from_logits = true, .label_smoothing = 0.1});
  if (name == "scce")
    return losses::SparseCategoricalCrossentropy({.from_logits = true});
  if (name == "bce")
    return losses::BinaryCrossentropy({.from_logits = true});
  return name == "huber" ? Loss(losses::Huber()) : Loss(name);
}

Optimizer optimizerOf(const Json &net) {
  Json config{{"class_name", net["optimizer"]}, {"config", net["arguments"]}};
  return optimizers::deserialize(Config::parse(config.dump()));
}

std::vector<double> numbersOf(const Json &json) {
  std::vector<double> numbers;
  for (const Json &each : json)
    numbers.push_back(each.is_string() ? std::stod(each.get<std::string>()) : each.get<double>());
  return numbers;
}
std::vector<double> numbersOf(const Tensor &tensor) { return tensor.astype(float64).to_vector<double>(); }
Tensor tensorOf(const Json &numbers, const Shape &shape, DType dtype = float32) {
  return Tensor(numbersOf(numbers), shape).astype(dtype);
}

/// Differences relative to the largest expected element (at least 1e-3); infinite if only one of the two is finite.
std::vector<double> distances(const std::vector<double> &found, const std::vector<double> &expected) {
  REQUIRE(found.size() == expected.size());
  double scale = 1e-3;
  for (double number : expected)
    scale = std::max(scale, std::isfinite(number) ? std::abs(number) : 0.0);
  std::vector<double> all;
  for (size_t i = 0; i < found.size(); ++i)
    if (std::isfinite(found[i]) != std::isfinite(expected[i]))
      all.push_back(INFINITY);
    else
      all.push_back(std::isfinite(found[i]) ? std::abs(found[i] - expected[i]) / scale : 0.0);
  return all;
}
double largest(const std::vector<double> &distances) { return *std::ranges::max_element(distances); }

/// Returns true if the step of the optimizer is about as large for a small gradient as for a large one, initially or
/// always. The sign of a step for a gradient near 0 is then arbitrary.
bool stepsBySign(const Json &net) {
  const std::string optimizer = net["optimizer"];
  return optimizer != "SGD" && optimizer != "Ftrl" && optimizer != "Adagrad";
}

/// The elements of Keras and the exact ones. An element may differ from the exact one by a few roundings, by twice
/// Keras's error, or by several times the change in Keras's element when its inputs change by half an ulp.
class Expectation {
public:
  explicit Expectation(const Json &net)
      : roundings_(net["narrowest"] == "bfloat16"  ? 0.02
                   : net["narrowest"] == "float16" ? 0.003
                                                   : 2e-5) {}
  /// `straying` is the number of elements that may have any value.
  void check(const std::string &what, const std::vector<double> &found, const Json &keras, const Json &exact,
             double noise, int64_t straying = 0) const {
    const std::vector<double> byKeras = numbersOf(keras), offs = distances(found, numbersOf(exact));
    const double kerasOff = largest(distances(byKeras, numbersOf(exact)));
    const double allowed = std::max({roundings_, 2 * kerasOff, 8 * noise});
    INFO(what << ": " << largest(offs) << " from the exact numbers, Keras " << kerasOff << ", Keras's noise " << noise);
    const int64_t beyond = std::ranges::count_if(offs, [&](double off) { return off > allowed; });
    CHECK((beyond <= straying || largest(distances(found, byKeras)) <= roundings_));
  }

private:
  double roundings_;
};

Sequential modelOf(const Json &net) {
  std::vector<Layer> stack{Input({8})};
  for (const Json &args : net["layers"])
    stack.push_back(layerOf(args));
  Sequential model(stack, {.name = "net"});
  std::vector<Tensor> values;
  const std::vector<Variable> weights = model.weights();
  REQUIRE(weights.size() == net["weights"].size());
  for (size_t i = 0; i < weights.size(); ++i) {
    const Json &weight = net["weights"][i];
    CHECK(weights[i].path() == weight["path"].get<std::string>());
    CHECK(name(weights[i].dtype()) == weight["dtype"].get<std::string>());
    values.push_back(tensorOf(weight["value"], Shape(weight["shape"].get<std::vector<int64_t>>()), weights[i].dtype()));
  }
  model.set_weights(values);
  return model;
}

void checkNet(const Json &net, Numerics numerics) {
  const Json &exact = net["exact"], &noise = net["noise"];
  const Expectation expected(net);
  const int64_t batch = net["batch"];
  const bool classes = net["loss"] == "scce";
  utils::clear_session();
  PolicyScope scope(policyOf(net));
  Sequential model = modelOf(net);
  model.compile({.optimizer = optimizerOf(net), .loss = lossOf(net["loss"]), .numerics = numerics});
  const Tensor inference = model.predict_on_batch(tensorOf(net["xs"][0], {batch, 8}));
  CHECK(name(inference.dtype()) == net["dtype"].get<std::string>());
  expected.check("inference", numbersOf(inference), net["inference"], exact["inference"], noise["inference"]);
  std::vector<double> losses;
  for (size_t i = 0; i < net["xs"].size(); ++i) {
    BatchArgs args;
    if (!net["sample_weight"].is_null())
      args.sample_weight = tensorOf(net["sample_weight"], {batch});
    const Tensor y = classes ? tensorOf(net["ys"][i], {batch}, int32) : tensorOf(net["ys"][i], {batch, 3});
    losses.push_back(model.train_on_batch(tensorOf(net["xs"][i], {batch, 8}), y, args)["loss"]);
  }
  expected.check("losses", losses, net["losses"], exact["losses"], noise["losses"]);
  const std::vector<Variable> weights = model.weights();
  for (size_t i = 0; i < weights.size(); ++i)
    expected.check(weights[i].path(), numbersOf(weights[i].value()), net["after"][i], exact["after"][i],
                   noise["after"][i], stepsBySign(net) ? 1 + weights[i].shape().elements() / 32 : 0);
  CHECK(model.optimizer().iterations() == net["iterations"].get<int64_t>());
  const auto scaler = model.loss_scale_optimizer();
  CHECK(scaler.has_value() == !net["scale"].is_null());
  if (scaler)
    CHECK(scaler->state().scale == net["scale"].get<double>());
}

/// Checks every fourth net, from `quarter` on.
void checkNets(int quarter) {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/trained.jsonl");
  int nets = 0;
  for (std::string line; std::getline(file, line); ++nets) {
    if (nets % 4 != quarter)
      continue;
    const Json net = Json::parse(line);
    for (Numerics numerics : {Numerics::strict, Numerics::fast}) {
      INFO("net " << net["seed"] << (numerics == Numerics::strict ? ", strict" : ", fast") << ", policy "
                  << net["policy"] << net["rules"] << ", " << net["loss"] << ", " << net["optimizer"]
                  << net["arguments"] << ": " << net["layers"]);
      checkNet(net, numerics);
    }
  }
  CHECK(nets == 60);
}

} // namespace

// policies 11.1, 11.5, 12.2, 12.3, 13.1
TEST_CASE("nets trained under random policies by random optimizers are as near to the exact numbers as Keras's, first "
          "quarter",
          "[nets]") {
  checkNets(0);
}
TEMPLATE_TEST_CASE_SIG("nets trained under random policies by random optimizers are as near to the exact numbers as "
                       "Keras's, other quarters",
                       "[nets][full]", ((int quarter), quarter), 1, 2, 3) {
  checkNets(quarter);
}
