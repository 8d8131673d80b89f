// Layers read from configs: compared with Keras's facts about the same models; and malformed configs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/LayerRecords.h"
#include "frontend/io/KerasArchive.h"
#include "halftone/Error.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace halftone;
using namespace halftone::detail;
using Catch::Matchers::Contains;

static const std::string archives = HALFTONE_SOURCE_DIR "/tests/data/keras/archives/";

static ModelRecord recordOf(const std::string &file) {
  return modelRecord(KerasArchive(archives + file).json("config.json"));
}

static std::vector<std::string> pathsOf(const ModelRecord &model) {
  std::vector<std::string> paths;
  for (const LayerRecord &layer : model.layers)
    paths.push_back(layer.path);
  return paths;
}

TEST_CASE("Paths, classes and dtypes are those that Keras had when it wrote the archive") {
  std::ifstream facts(archives + "layers.jsonl");
  std::string line;
  size_t files = 0;
  for (; std::getline(facts, line); ++files) {
    const auto fact = nlohmann::json::parse(line);
    const ModelRecord model = recordOf(fact["file"].get<std::string>());
    CAPTURE(model.name);
    size_t shown = 0;
    for (const auto &expected : fact["layers"]) {
      const std::string name = expected["name"], className = expected["class"];
      // Attention creates its own dropout and softmax, which have no path.
      const bool isInAttention = fact["file"] == "attending.keras" && expected["path"].is_null();
      if (isInAttention)
        continue;
      ++shown;
      CAPTURE(name);
      // Keras gives no path to a layer that has no build() of its own; here each layer has one.
      const auto found = std::find_if(model.layers.begin(), model.layers.end(), [&](const LayerRecord &layer) {
        return expected["path"].is_null() ? layer.path.ends_with(name)
                                          : layer.path == expected["path"].get<std::string>();
      });
      REQUIRE(found != model.layers.end());
      CHECK(found->className == className);
      REQUIRE(found->policy);
      CHECK(found->policy->name() == expected["policy"].get<std::string>());
      const std::optional<DTypePolicyMap> map = found->policy->as_map();
      const DTypePolicy policy = map ? (*map)[found->path] : *found->policy;
      CHECK(halftone::name(policy.compute_dtype()) == expected["compute"].get<std::string>());
      CHECK(halftone::name(policy.variable_dtype()) == expected["variable"].get<std::string>());
    }
    CHECK(model.layers.size() == shown);
  }
  CHECK(files == 7);
}

TEST_CASE("layer records keep the order of layers and mark outputs, softmax and loss scaling") {
  const ModelRecord functional = recordOf("functional.keras"), scaled = recordOf("scaled.keras");
  CHECK(pathsOf(functional) ==
        std::vector<std::string>{"shared", "tower/dense", "tower/relu", "joined", "logits", "priority", "team"});
  std::vector<std::string> outputs;
  for (const LayerRecord &layer : functional.layers)
    if (layer.isOutput)
      outputs.push_back(layer.path);
  CHECK(outputs == std::vector<std::string>{"priority", "team"});
  CHECK(functional.name == "tickets");
  CHECK(functional.scaler == LossScaler::given);
  CHECK_FALSE(functional.policy);
  CHECK_FALSE(scaled.policy); // a Sequential that is read gets the global policy
  CHECK(scaled.scaler == LossScaler::none);
  CHECK(scaled.layers.back().isOutput);
  CHECK(scaled.layers.back().activation == "softmax");
  CHECK_FALSE(scaled.layers.front().isOutput);
}

TEST_CASE("The layers that an attention layer makes follow it, also in a model that cannot be made") {
  CHECK(pathsOf(recordOf("attending.keras")) == std::vector<std::string>{"cross",
                                                                         "cross/query",
                                                                         "cross/key",
                                                                         "cross/value",
                                                                         "cross/attention_output",
                                                                         "block/residual",
                                                                         "block/residual/mix",
                                                                         "block/self",
                                                                         "block/self/heads",
                                                                         "block/self/heads/query",
                                                                         "block/self/heads/key",
                                                                         "block/self/heads/value",
                                                                         "block/self/heads/attention_output",
                                                                         "grouped",
                                                                         "grouped/query",
                                                                         "grouped/key",
                                                                         "grouped/value",
                                                                         "grouped/attention_output",
                                                                         "mapped",
                                                                         "mapped/query",
                                                                         "mapped/key",
                                                                         "mapped/gate",
                                                                         "mapped/value",
                                                                         "mapped/attention_output",
                                                                         "head"});
}

TEST_CASE("Two keys of a map that match a projection are an error with the path of the projection") {
  auto config = nlohmann::ordered_json::parse(KerasArchive(archives + "attending.keras").json("config.json").dump());
  for (auto &layer : config["config"]["layers"])
    if (layer["config"]["name"] == "mapped")
      layer["config"]["dtype"]["config"]["policy_map"]["mapped/attention.*put"] = "float16";
  try {
    (void)modelRecord(Config::parse(config.dump()));
    FAIL("accepted");
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::value_error);
    CHECK(error.layer_path() == "mapped/attention_output");
    CHECK_THAT(error.message(), Contains("matches multiple dtype policy specification keys"));
  }
}

static std::string layer(const std::string &name, const std::string &more = "") {
  return fmt::format(R"({{"class_name": "Dense", "config": {{"name": "{}", "trainable": true{}}}}})", name, more);
}
static std::string model(const std::string &className, const std::string &name, const std::string &layers,
                         const std::string &more = "") {
  return fmt::format(R"({{"class_name": "{}", "config": {{"name": "{}", "trainable": true, "layers": [{}]{}}}}})",
                     className, name, layers, more);
}

TEST_CASE("A model inside another is named by what it is built in") {
  const std::string input = R"({"class_name": "InputLayer", "config": {"name": "x"}})";
  const auto paths = [](const std::string &json) { return pathsOf(modelRecord(Config::parse(json))); };
  const std::string late = model("Sequential", "inner", layer("a")),
                    early = model("Sequential", "inner", input + "," + layer("a"));
  CHECK(paths(model("Sequential", "outer", input + "," + early)) == std::vector<std::string>{"inner/a"});
  CHECK(paths(model("Sequential", "outer", input + "," + late)) == std::vector<std::string>{"outer/inner/a"});
  CHECK(paths(model("Sequential", "outer", late + "," + layer("b"))) ==
        std::vector<std::string>{"outer/inner/a", "outer/b"});
  const std::string graph = model("Functional", "graph", input + "," + layer("a"), R"(, "input_layers": [])");
  CHECK(paths(model("Sequential", "outer", graph + "," + layer("b"))) == std::vector<std::string>{"a", "outer/b"});
  // A shared layer occurs twice in the file. Inner layers may be in lists or under names.
  CHECK(paths(model("Functional", "g", graph + "," + layer("a"), R"(, "input_layers": [])")) ==
        std::vector<std::string>{"a"});
  const std::string cells = fmt::format(
      R"(, "cells": [{}, {{"deep": {}}}], "other": {{"class_name": "Zeros", "config": {{}}}})", layer("c"), layer("d"));
  CHECK(paths(model("Sequential", "s", layer("rnn", cells))) ==
        std::vector<std::string>{"s/rnn", "s/rnn/c", "s/rnn/d"});
  // A model of a user-defined class, and a model whose config has no name.
  CHECK(paths(R"({"class_name": "pkg>Own", "config": {"name": "own", "trainable": true, "head": )" + layer("h") +
              "}}") == std::vector<std::string>{"own/h"});
  CHECK(modelRecord(Config::parse(R"({"class_name": "pkg>UnnamedOne", "config": {}})")).name == "unnamed_one");
}

TEST_CASE("layer records read policies as names, as null and when absent") {
  const auto policyOf = [](const std::string &dtype) {
    return modelRecord(Config::parse(model("Sequential", "s", layer("a", ", \"dtype\": " + dtype))))
        .layers.at(0)
        .policy;
  };
  CHECK(policyOf("\"mixed_float16\"")->name() == "mixed_float16");
  CHECK_FALSE(policyOf("null"));
  CHECK_FALSE(policyOf(R"({"class_name": "DTypePolicy", "config": {"name": null}})"));
  CHECK(policyOf(R"({"class_name": "QuantizedDTypePolicy", "config": {"mode": "int8", "source_name": "bfloat16"}})")
            ->quantization_mode() == "int8");
}

TEST_CASE("layer records name the place of a value of a wrong type") {
  const auto errorOf = [](const std::string &json) -> std::string {
    try {
      (void)modelRecord(Config::parse(json));
    } catch (const Error &error) {
      return error.what();
    }
    return "no error";
  };
  const std::pair<std::string, std::string> rows[] = {
      {"{}", "TypeError: class_name: expected a string, found null"},
      {R"({"class_name": 7, "config": {}})", "class_name: expected a string, found an integer"},
      {R"({"class_name": "Sequential"})", "TypeError: config: expected an object, found null"},
      {R"({"class_name": "Sequential", "config": {"name": "s"}})", "config.layers: expected a list, found null"},
      {R"({"class_name": "Sequential", "config": {"name": "s", "layers": {}}})",
       "config.layers: expected a list, found an object"},
      {R"({"class_name": "Sequential", "config": {"name": [], "layers": []}})",
       "config.name: expected a string, found a list"},
      {model("Sequential", "s", "7"), "config.layers[0]: expected an object, found an integer"},
      {model("Sequential", "s", layer("a") + ",null"), "config.layers[1]: expected an object, found null"},
      {model("Sequential", "s", R"({"class_name": "Dense"})"),
       "config.layers[0].config: expected an object, found null"},
      {model("Sequential", "s", R"({"class_name": "Dense", "config": 1})"),
       "config.layers[0].config: expected an object"},
      {model("Sequential", "s", layer("a/b")), "'a/b' is not a layer name; expected a name without '/'"},
      {model("Sequential", "s", layer("a", R"(, "dtype": 16)")),
       "config.layers[0].config.dtype: expected a policy's name or object, found an integer"},
      {model("Sequential", "s", layer("a", R"(, "dtype": "float15")")),
       "config.layers[0].config.dtype: Cannot convert 'float15'"},
      {model("Sequential", "s", layer("a", R"(, "dtype": {"class_name": "Nope", "config": {}})")),
       "'Nope' is not the class"},
      {model("Sequential", "s", layer("a", R"(, "dtype": {"class_name": "DTypePolicy", "config": []})")),
       "config.layers[0].config.dtype: The `config` of a dtype policy must be an object"},
      {model("Functional", "f", R"({"module": 3, "name": "x"})", R"(, "input_layers": [])"),
       "config.layers[0].class_name: expected a string"}};
  for (const auto &[json, expected] : rows) {
    CAPTURE(json);
    CHECK_THAT(errorOf(json), Contains(expected));
  }
}
