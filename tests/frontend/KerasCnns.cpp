// Whole nets saved by real Keras: predictions, and the losses of 20 training steps.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/RecordedJson.h"
#include <catch2/catch.hpp>
#include <map>

using namespace halftone;
using namespace halftone::test;

namespace {

/// The tolerances: predictions relative to the largest, losses relative to the recorded one. Keras's PyTorch backend
/// reproduces the rows within them.
struct Tolerances {
  double predictions, firstLoss, losses;
};
Tolerances tolerancesOf(const std::string &policy) {
  if (policy == "mixed_bfloat16")
    return {2e-2, 3e-3, 3e-2};
  return policy == "mixed_float16" ? Tolerances{3e-3, 2e-4, 1e-2} : Tolerances{2e-6, 1e-6, 3e-5};
}

/// The net of a row, with the recorded weights. The row of a Sequential names no inputs: each layer follows the
/// previous one.
Model netOf(const Json &row) {
  std::vector<int64_t> dims;
  for (const Json &dim : row.at("input_shape"))
    if (!dim.is_null())
      dims.push_back(dim.get<int64_t>());
  const Input input(Shape(dims), {.dtype = standardize_dtype(row.at("dtypes")[0].get<std::string>())});
  std::map<std::string, Value> results;
  std::vector<std::pair<Layer, const Json *>> layers;
  Value last = input;
  for (const Json &saved : row.at("layers")) {
    std::vector<Value> inputs;
    for (const Json &name : saved.at("inputs"))
      inputs.push_back(results.at(name.get<std::string>()));
    if (saved.at("class_name") != "InputLayer") {
      const Layer layer = layers::deserialize(Config::parse(saved.dump()));
      last = layer(inputs.empty() ? Values(last) : Values(inputs));
      layers.emplace_back(layer, &saved.at("weights"));
    }
    results[saved.at("config").at("name").get<std::string>()] = last;
  }
  const Model net({input}, {last});
  for (const auto &[layer, recorded] : layers) {
    std::vector<Tensor> weights;
    for (const Json &weight : *recorded)
      weights.push_back(tensorOf(weight, "float32"));
    layer.set_weights(weights);
  }
  return net;
}

LossSpec lossOf(const Json &saved) {
  if (saved.is_string())
    return saved.get<std::string>();
  REQUIRE(saved.at("class_name") == "SparseCategoricalCrossentropy");
  return losses::SparseCategoricalCrossentropy({.from_logits = saved.at("config").at("from_logits").get<bool>()});
}

} // namespace

TEST_CASE("CNNs that Keras saved predict as recorded, and train along the recorded losses") {
  int64_t rows = 0;
  for (const std::string &line : recordedLines("cnns.jsonl")) {
    const Json row = Json::parse(line);
    INFO(row.at("name"));
    ++rows;
    const Tolerances tolerances = tolerancesOf(row.at("policy"));
    PolicyScope scope(row.at("policy").get<std::string>());
    const Model net = netOf(row);
    const Tensor x = tensorOf(row.at("x"), row.at("dtypes")[0]), y = tensorOf(row.at("y"), row.at("dtypes")[1]);
    CHECK(distance(numbers(net.predict(x, {.verbose = 0})), elementsOf(row.at("predict"))) <= tolerances.predictions);
    net.compile({.optimizer = optimizers::deserialize(Config::parse(row.at("optimizer").dump())),
                 .loss = lossOf(row.at("loss"))});
    REQUIRE(row.at("losses").size() == 20);
    for (size_t step = 0; step < 20; ++step) {
      INFO("step " << step);
      const double loss = net.train_on_batch(x, y)["loss"], recorded = row.at("losses")[step];
      const double tolerance = step == 0 ? tolerances.firstLoss : tolerances.losses;
      CHECK(std::abs(loss - recorded) <= tolerance * recorded);
    }
  }
  CHECK(rows == 7);
}
