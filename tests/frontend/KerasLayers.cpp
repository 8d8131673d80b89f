// Outputs and gradients of layers, compared with those that real Keras gives for recorded configs, weights and inputs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/RecordedJson.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

using namespace halftone;
using namespace halftone::test;

namespace {

/// How far a result may be from Keras's, relative to the largest element.
double toleranceOf(DType dtype) {
  if (dtype == bfloat16)
    return 1.6e-2;
  if (dtype == uint8)
    return 1.0 / 128; // a sum near a half may be rounded the other way
  return dtype == float16 ? 2e-3 : 2e-6;
}
/// Layers that only move elements, or choose some: no bit differs.
bool isExact(const std::string &layer, const Json &config) {
  if (layer == "UpSampling2D" || layer == "Resizing")
    return config.at("interpolation") == "nearest";
  static const std::set<std::string> moving = {"Concatenate",
                                               "Cropping1D",
                                               "Cropping2D",
                                               "Cropping3D",
                                               "Flatten",
                                               "GlobalMaxPooling1D",
                                               "GlobalMaxPooling2D",
                                               "GlobalMaxPooling3D",
                                               "MaxPooling1D",
                                               "MaxPooling2D",
                                               "MaxPooling3D",
                                               "Permute",
                                               "RepeatVector",
                                               "Reshape",
                                               "UpSampling1D",
                                               "ZeroPadding1D",
                                               "ZeroPadding2D",
                                               "ZeroPadding3D"};
  return moving.contains(layer) || layer == "UpSampling3D";
}

template <class Wrt> std::vector<Value> slopes(const Value &loss, const std::vector<Wrt> &wrt) {
  return wrt.empty() ? std::vector<Value>() : gradients(loss, wrt);
}

class Row {
public:
  explicit Row(const std::string &line) : json_(Json::parse(line)) {
    for (size_t i = 0; i < json_.at("inputs").size(); ++i)
      inputs_.push_back(tensorOf(json_.at("inputs")[i], json_.at("input_dtypes")[i]));
  }
  std::string name() const { return json_.at("layer"); }
  std::string text() const { return name() + " " + json_.at("config").dump(); }

  void check() const {
    const Layer layer = made();
    for (const Run run : {Run::interpreted, Run::compiled}) {
      INFO((run == Run::compiled ? "compiled" : "interpreted"));
      checkState(layer, [&] { checkResults(layer, run); });
    }
  }

private:
  /// The layer of the config, built, with the recorded weights.
  Layer made() const {
    Config config;
    config.set("class_name", name());
    config.set("config", Config::parse(json_.at("config").dump()));
    const Layer layer = layers::deserialize(config);
    std::vector<Value> symbols;
    for (const Tensor &input : inputs_) {
      std::vector<int64_t> dims = input.shape().dims();
      dims.erase(dims.begin());
      symbols.push_back(Input(Shape(dims), {.dtype = input.dtype()}));
    }
    const Value result = layer(Values(symbols));
    std::vector<int64_t> dims = tensorOf(json_.at("output"), "float64").shape().dims();
    dims[0] = -1;
    CHECK(result.shape() == Shape(dims));
    CHECK(result.dtype() == standardize_dtype(json_.at("output_dtype").get<std::string>()));
    return layer;
  }
  template <class Check> void checkState(const Layer &layer, Check check) const {
    const std::vector<Variable> variables = layer.weights();
    std::vector<Tensor> values;
    REQUIRE(variables.size() == json_.at("weights").size());
    for (size_t i = 0; i < variables.size(); ++i) {
      const Json &recorded = json_.at("weights")[i];
      const std::string path = recorded.at("name");
      CHECK(variables[i].name() == path.substr(path.rfind('/') + 1));
      CHECK(variables[i].dtype() == standardize_dtype(recorded.at("dtype").get<std::string>()));
      CHECK(variables[i].trainable() == recorded.at("trainable").get<bool>());
      values.push_back(tensorOf(recorded.at("value"), recorded.at("dtype")));
    }
    layer.set_weights(values);
    check();
    if (!json_.contains("non_trainable_after"))
      return;
    const std::vector<Variable> states = layer.non_trainable_variables();
    for (size_t i = 0; i < states.size(); ++i)
      CHECK(distance(numbers(states[i]), elementsOf(json_.at("non_trainable_after")[i])) <= toleranceOf(float32));
  }
  void checkResults(const Layer &layer, Run run) const {
    std::vector<Tensor> feeds = inputs_;
    feeds.push_back(tensorOf(json_.at("cotangent"), "float32"));
    const bool training = json_.at("call").value("training", false);
    const auto results = runOnce(run, feeds, [&](const std::vector<Value> &v) {
      std::vector<Value> x(v.begin(), v.end() - 1), floats;
      const Value y = layer(Values(x), {.training = training});
      const Value loss = ops::sum(ops::cast(y, float32) * v.back());
      std::copy_if(x.begin(), x.end(), std::back_inserter(floats), [](const Value &i) { return is_float(i.dtype()); });
      std::vector<Value> found{y};
      for (const std::vector<Value> &part : {slopes(loss, floats), slopes(loss, layer.trainable_variables())})
        found.insert(found.end(), part.begin(), part.end());
      return found;
    });
    const double tolerance = toleranceOf(results[0].dtype());
    CHECK(distance(numbers(results[0]), elementsOf(json_.at("output"))) <=
          (isExact(name(), json_.at("config")) ? 0.0 : tolerance));
    size_t next = 1;
    for (const char *part : {"inputs", "weights"})
      for (const Json &expected : json_.at("grad_x").at(part))
        if (!expected.is_null())
          CHECK(distance(numbers(results.at(next++)), elementsOf(expected)) <= 3 * tolerance);
    CHECK(next == results.size());
  }

  Json json_;
  std::vector<Tensor> inputs_;
};

/// Checks the rows of one file, of layers that `isChosen` chooses; how many there are.
template <class Chosen> int64_t checkRows(const char *file, Chosen isChosen) {
  int64_t count = 0;
  for (const std::string &line : recordedLines(file)) {
    const Row row(line);
    if (!isChosen(row.name()))
      continue;
    ++count;
    INFO(row.text());
    row.check();
  }
  return count;
}

} // namespace

TEST_CASE("Layers with weights, and merges, give Keras's outputs and gradients for recorded rows") {
  const std::set<std::string> chosen = {"Dense",   "Embedding", "LayerNormalization", "RMSNormalization",
                                        "Softmax", "Add",       "GroupNormalization", "BatchNormalization",
                                        "Flatten", "Multiply",  "UnitNormalization",  "Concatenate"};
  CHECK(checkRows("layers.jsonl", [&](const std::string &name) { return chosen.contains(name); }) == 32);
}

TEST_CASE("Layers that move elements give Keras's outputs and gradients for recorded rows") {
  const std::set<std::string> chosen = {"UpSampling1D",  "UpSampling2D", "UpSampling3D",  "Cropping1D",
                                        "Cropping2D",    "Cropping3D",   "ZeroPadding1D", "ZeroPadding2D",
                                        "ZeroPadding3D", "RepeatVector", "Permute",       "Reshape"};
  CHECK(checkRows("layers.jsonl", [&](const std::string &name) { return chosen.contains(name); }) == 29);
}

TEST_CASE("Global pooling gives Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("layers.jsonl", [](const std::string &name) { return name.starts_with("Global"); }) == 10);
}

TEST_CASE("Layers for images give Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("image_layers.jsonl", [](const std::string &name) { return name != "Resizing"; }) == 38);
}

TEST_CASE("Resizing gives Keras's outputs and gradients by every interpolation, with and without antialias") {
  CHECK(checkRows("image_layers.jsonl", [](const std::string &name) { return name == "Resizing"; }) == 38);
}

TEST_CASE("Convolutions give Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("layers.jsonl", [](const std::string &name) {
          return name == "Conv1D" || name == "Conv2D" || name == "Conv3D";
        }) == 33);
}

TEST_CASE("Transposed convolutions give Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("layers.jsonl", [](const std::string &name) { return name.ends_with("DTranspose"); }) == 15);
}

TEST_CASE("Depthwise and separable convolutions give Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("layers.jsonl", [](const std::string &name) {
          return name.starts_with("Depthwise") || name.starts_with("Separable");
        }) == 23);
}

TEST_CASE("Pooling gives Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("layers.jsonl", [](const std::string &name) {
          return name.starts_with("MaxPooling") || name.starts_with("AveragePooling");
        }) == 24);
}
