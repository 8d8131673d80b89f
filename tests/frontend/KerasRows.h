// Recorded layers of real Keras: outputs and gradients that a layer made from the recorded config must reproduce.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/frontend/RecordedJson.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

namespace halftone::test {

/// The maximum difference from Keras's result, relative to the largest element.
inline double toleranceOf(DType dtype) {
  if (dtype == bfloat16)
    return 1.6e-2;
  if (dtype == uint8)
    return 1.0 / 128; // a sum near a midpoint may be rounded the other way
  return dtype == float16 ? 2e-3 : 2e-6;
}
/// Layers that only move or select elements: the results are bit-identical.
inline bool isExact(const std::string &layer, const Json &config) {
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

template <class Wrt> std::vector<Value> slopesOf(const Value &loss, const std::vector<Wrt> &wrt) {
  return wrt.empty() ? std::vector<Value>() : gradients(loss, wrt);
}

/// One recorded layer, and its call on its inputs.
class Row {
public:
  using Call = std::function<Values(const Layer &layer, const Values &inputs, const Json &row)>;

  /// `float32Tolerance` replaces toleranceOf() for float32 results.
  explicit Row(const std::string &line, Call call = {}, double float32Tolerance = toleranceOf(float32))
      : json_(Json::parse(line)), call_(std::move(call)), float32Tolerance_(float32Tolerance) {
    if (!call_)
      call_ = [](const Layer &layer, const Values &inputs, const Json &row) {
        return Values(layer(inputs, {.training = row.at("call").value("training", false)}));
      };
    isList_ = json_.at("output_dtype").is_array();
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
    const Values results = call_(layer, Values(symbols), json_);
    for (size_t i = 0; i < results.size(); ++i) {
      std::vector<int64_t> dims = tensorOf(of("output", i), "float64").shape().dims();
      dims[0] = -1;
      CHECK(results[i].shape() == Shape(dims));
      CHECK(results[i].dtype() == standardize_dtype(of("output_dtype", i).get<std::string>()));
    }
    return layer;
  }
  /// The recorded field `key` of output `output`.
  const Json &of(const char *key, size_t output) const { return isList_ ? json_.at(key)[output] : json_.at(key); }
  size_t outputs() const { return isList_ ? json_.at("output_dtype").size() : 1; }
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
  /// The outputs, then the gradients of the inputs and of the weights.
  std::vector<Tensor> resultsOf(const Layer &layer, Run run) const {
    std::vector<Tensor> feeds = inputs_;
    for (size_t i = 0; i < outputs(); ++i)
      feeds.push_back(tensorOf(of("cotangent", i), "float32"));
    return runOnce(run, feeds, [&](const std::vector<Value> &v) {
      std::vector<Value> x(v.begin(), v.begin() + std::ssize(inputs_)), floats;
      const Values y = call_(layer, Values(x), json_);
      Value loss;
      for (size_t i = 0; i < outputs(); ++i) {
        const Value part = ops::sum(ops::cast(y[i], float32) * v[x.size() + i]);
        loss = loss.defined() ? loss + part : part;
      }
      std::copy_if(x.begin(), x.end(), std::back_inserter(floats), [](const Value &i) { return is_float(i.dtype()); });
      std::vector<Value> found(y.begin(), y.end());
      for (const std::vector<Value> &part : {slopesOf(loss, floats), slopesOf(loss, layer.trainable_variables())})
        found.insert(found.end(), part.begin(), part.end());
      return found;
    });
  }
  void checkResults(const Layer &layer, Run run) const {
    const std::vector<Tensor> results = resultsOf(layer, run);
    const DType dtype = results[0].dtype();
    const double tolerance = dtype == float32 ? float32Tolerance_ : toleranceOf(dtype);
    for (size_t i = 0; i < outputs(); ++i)
      checkNear(i, numbers(results[i]), elementsOf(of("output", i)),
                isExact(name(), json_.at("config")) ? 0.0 : tolerance);
    size_t next = outputs();
    for (const char *part : {"inputs", "weights"})
      for (size_t i = 0; i < json_.at("grad_x").at(part).size(); ++i)
        if (const Json &expected = json_.at("grad_x").at(part)[i]; !expected.is_null()) {
          checkGradient(next, part, i, numbers(results.at(next)), tolerance);
          ++next;
        }
    CHECK(next == results.size());
  }
  /// For the steps of a sequence, a 16-bit result may be further from Keras's, which rounds each op of a step and not
  /// only the states. It must then be at most as far from the float32 result as Keras's is.
  void checkNear(size_t result, const std::vector<double> &found, const std::vector<double> &expected,
                 double most) const {
    const double difference = distance(found, expected);
    if (difference <= most || !hasSteps() || text().find("mixed_") == std::string::npos) {
      CHECK(difference <= most);
      return;
    }
    if (wide_.empty())
      wide_ = inFloat32();
    const std::vector<double> wide = numbers(wide_[result]);
    CHECK(distance(found, wide) <= distance(expected, wide));
  }
  std::vector<Tensor> inFloat32() const {
    std::string text = json_.dump();
    for (const std::string policy : {"mixed_float16", "mixed_bfloat16"})
      for (size_t at = 0; (at = text.find(policy, at)) != std::string::npos;)
        text.replace(at, policy.size(), "float32");
    Json row = Json::parse(text);
    for (Json &dtype : row.at("output_dtype"))
      dtype = "float32";
    const Row wide(row.dump(), call_, float32Tolerance_);
    const Layer layer = wide.made();
    std::vector<Tensor> results;
    wide.checkState(layer, [&] { results = wide.resultsOf(layer, Run::compiled); });
    return results;
  }
  void checkGradient(size_t result, const std::string &part, size_t i, const std::vector<double> &found,
                     double tolerance) const {
    const Json &gradients = json_.at("grad_x").at(part);
    // Sums of attention have a different order on each CPU: 6.6e-6 was observed in float32.
    // Keras accumulates the gradients of the steps of a sequence in 16 bits: 7.5 tolerances were observed.
    const bool narrow = tolerance > float32Tolerance_;
    const double most = (narrow && (isAttention() || hasSteps()) ? 8 : isAttention() ? 4 : 3) * tolerance;
    if (part != "weights" || !json_.at("weights")[i].at("name").get<std::string>().ends_with("key/bias")) {
      checkNear(result, found, elementsOf(gradients[i]), most);
      return;
    }
    // It shifts all scores of a query equally, so its gradient is 0 except for the roundings of the other gradients.
    double largest = 0;
    for (const Json &each : gradients)
      for (double element : elementsOf(each))
        largest = std::max(largest, std::abs(element));
    for (double element : found)
      CHECK(std::abs(element) <= most * largest);
  }
  bool hasSteps() const { return json_.at("call").contains("states"); }
  bool isAttention() const { return name().ends_with("Attention"); }

  Json json_;
  Call call_;
  double float32Tolerance_;
  bool isList_ = false; // several outputs
  std::vector<Tensor> inputs_;
  mutable std::vector<Tensor> wide_{}; // results in float32, computed on demand
};

/// Checks the rows of one file whose layers `isChosen` selects. Returns their number.
template <class Chosen>
int64_t checkRows(const char *file, Chosen isChosen, const Row::Call &call = {},
                  double float32Tolerance = toleranceOf(float32)) {
  int64_t count = 0;
  for (const std::string &line : recordedLines(file)) {
    const Row row(line, call, float32Tolerance);
    if (!isChosen(row.name()))
      continue;
    ++count;
    INFO(row.text());
    row.check();
  }
  return count;
}

} // namespace halftone::test
