// The tool decides for an archive as a program decides for the same model.
// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone-policy/Decision.h"
#include "halftone/Halftone.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::tools;
using Catch::Matchers::Contains;

static RecordedModel archive(const std::string &name) {
  return readModel(HALFTONE_SOURCE_DIR "/tests/data/keras/archives/" + name + ".keras");
}

/// The models of make_archives.py, written as Halftone programs.
static Model sequential() {
  const PolicyScope scope("mixed_bfloat16");
  return Sequential({Input({4}), Dense(3, {.activation = "relu", .dtype = "mixed_float16", .name = "encoder_0"}),
                     Dense(3, {.dtype = "mixed_float16", .name = "encoder_1"}),
                     LayerNormalization({.dtype = "float32", .name = "norm"}), Dense(2, {.name = "head"})},
                    {.name = "net"});
}
static Model functional() {
  const PolicyScope scope("mixed_float16");
  Input left({4}, {.name = "left"}), right({4}, {.name = "right"});
  Dense shared(4, {.name = "shared"});
  Sequential tower({Input({4}), Dense(4, {.name = "dense"}), ReLU({.name = "relu"})}, {.name = "tower"});
  Value a = shared(left), b = tower(shared(right));
  Value joined = Add({.name = "joined"})({a, b}) * 2.0;
  Value team = Softmax(-1, {.dtype = "float32", .name = "team"})(Dense(3, {.name = "logits"})(joined));
  return Model({left, right}, {Dense(1, {.name = "priority"})(joined), team}, {.name = "tickets"});
}
static Model nested() {
  Sequential inner({Input({4}), Dense(4, {.name = "dense"})}, {.name = "inner"});
  Input x({4}, {.name = "x"});
  Model graph({x}, {Dense(4, {.name = "plain"})(x)}, {.name = "graph"});
  return Sequential({Input({4}), inner, graph, Dense(2, {.name = "dense"})}, {.name = "outer"});
}

static void collect(const Layer &parent, std::map<std::string, Layer> &layers) {
  for (const Layer &child : parent.layers()) {
    layers.insert_or_assign(child.path(), child);
    collect(child, layers);
  }
}

static void checkEqual(const std::string &name, const Model &program, const DTypePolicyMap &map) {
  CAPTURE(name);
  const RecordedModel recorded = archive(name);
  const Resolution resolved = resolvePolicies(recorded, {.map = map});
  const PolicyReport report = program.apply_policy(map);
  std::map<std::string, Layer> layers;
  collect(program, layers);
  CHECK(resolved.unusedKeys == report.unused_keys);
  REQUIRE(resolved.layers.size() == report.rows.size());
  for (const Decision &decision : resolved.layers) {
    CAPTURE(decision.path);
    const auto row = std::find_if(report.rows.begin(), report.rows.end(),
                                  [&](const PolicyReport::Row &other) { return other.path == decision.path; });
    REQUIRE(row != report.rows.end());
    CHECK(decision.policy.name() == row->policy);
    CHECK(decision.key == row->key);
    const Layer &layer = layers.at(decision.path);
    CHECK(decision.className == layer.class_name());
    CHECK(decision.compute == layer.compute_dtype());
    if (!layer.variables().empty())
      CHECK(decision.variable == layer.variables()[0].dtype());
  }
  program.compile({.optimizer = "sgd", .loss = "mse"});
  if (!recorded.scalesLoss)
    CHECK(resolved.lossScaling == program.loss_scale_optimizer().has_value());
}

TEST_CASE("A map decides for an archive as for the same model in a program") {
  checkEqual(
      "sequential", sequential(),
      DTypePolicyMap("float32", {{"net/encoder_[0-9]", "float16"}, {"net/norm", "bfloat16"}, {"norm", "float16"}}));
  checkEqual("sequential", sequential(),
             DTypePolicyMap("mixed_float16", {{".*0", "float64"}, {"encoder_0", "float16"}}));
  checkEqual(
      "functional", functional(),
      DTypePolicyMap("mixed_bfloat16", {{"tower/.*", "float32"}, {"team", "float32"}, {"tickets/.*", "float16"}}));
  checkEqual("nested", nested(),
             DTypePolicyMap("mixed_bfloat16",
                            {{"inner/.*", "float32"}, {"outer/inner/.*", "float16"}, {"outer/dense", "float16"}}));
}

TEST_CASE("Two keys for one path are an error with the words and the path of apply_policy") {
  const DTypePolicyMap map("float32", {{"net/h.*", "float16"}, {".*d", "bfloat16"}});
  const auto errorOf = [](auto call) {
    try {
      call();
    } catch (const Error &error) {
      return std::pair(error.message(), error.layer_path());
    }
    return std::pair(std::string("no error"), std::string());
  };
  const auto told = errorOf([&] { (void)resolvePolicies(archive("sequential"), {.map = map}); });
  CHECK(told == errorOf([&] { (void)sequential().apply_policy(map); }));
  CHECK(told.second == "net/head");
}

TEST_CASE("without a policy map the recorded policies decide, or one policy for all layers") {
  const Resolution recorded = resolvePolicies(archive("sequential"), {});
  CHECK(recorded.layers[0].policy.name() == "mixed_float16");
  CHECK_FALSE(recorded.lossScaling);
  const Resolution replaced = resolvePolicies(archive("sequential"), {.policy = DTypePolicy("mixed_float16")});
  CHECK(replaced.lossScaling);
  for (const Decision &layer : replaced.layers)
    CHECK(layer.policy.name() == "mixed_float16");
  CHECK(resolvePolicies(archive("sequential"), {.policy = DTypePolicy("float16")}).layers[2].variable ==
        DType::float16);
  CHECK(resolvePolicies(archive("scaled"), {}).lossScaling);
  CHECK_FALSE(resolvePolicies(archive("scaled"), {.policy = DTypePolicy("bfloat16")}).lossScaling);
  CHECK(resolvePolicies(archive("mapped"), {}).layers[0].key == "mapped/first");
  CHECK(resolvePolicies(archive("mapped"), {}).unusedKeys == std::vector<std::string>{"mapped/never"});
}
