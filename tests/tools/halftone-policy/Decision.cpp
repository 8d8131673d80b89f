// The tool decides for an archive as a program does for the same model.
// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone-policy/Decision.h"
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include "tools/halftone-policy/LayerChecks.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
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
  if (recorded.scaler == LossScaler::none)
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
  CHECK_FALSE(resolvePolicies(archive("scaled"), {}).lossScaling);
  CHECK_FALSE(resolvePolicies(archive("scaled"), {.policy = DTypePolicy("bfloat16")}).lossScaling);
  CHECK(resolvePolicies(archive("mapped"), {}).layers[0].key == "mapped/first");
  CHECK(resolvePolicies(archive("mapped"), {}).unusedKeys == std::vector<std::string>{"mapped/never"});
}

namespace {

/// The message of the error that f throws; "" if it throws none.
template <class F> std::string messageOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

constexpr const char *targets[] = {"float32",
                                   "float16",
                                   "mixed_bfloat16",
                                   "int8_from_float32",
                                   "int4_from_float32",
                                   "int4/2_from_float32",
                                   "float8_from_float32",
                                   "gptq/4/2_from_float32",
                                   "awq/4/2_from_float32"};

} // namespace

// policies 10.7
TEST_CASE("the tool refuses a policy where apply_policy refuses it, and finds an error there, in the same cases") {
  const TemporaryFolder folder;
  const auto target = compiler::Target::find("x86-64-v3").valueOrThrow();
  for (const std::string mode : {"", "int8", "int4", "float8", "lora"}) {
    const std::string path = folder / ("m" + mode + ".keras");
    const Sequential model({Input({4}), Dense(4, {.name = "a"}), Dense(2, {.name = "b"})}, {.name = "s"});
    const Layer layer = model.get_layer("a");
    if (mode == "lora")
      layer.enable_lora(1);
    else if (!mode.empty())
      (void)layer.quantize(mode);
    model.save(path);
    const RecordedModel recorded = readModel(path);
    for (const char *name : targets) {
      CAPTURE(mode, name);
      const DTypePolicy policy = dtype_policies::get(name);
      const DTypePolicyMap map(policy, {{"s/b", "float32"}});
      const std::string told = messageOf([&] { (void)load_model(path).apply_policy(map); });
      CHECK(messageOf([&] { (void)resolvePolicies(recorded, {.map = map}); }) == told);
      map.save(folder / "map.json");
      const std::vector<Finding> findings = checkLayers(readMapFile(folder / "map.json"), recorded, *target);
      CHECK(std::ranges::any_of(findings, &Finding::isError) == !told.empty());
      const DTypePolicyMap all(policy, {});
      CHECK(messageOf([&] { (void)resolvePolicies(recorded, {.policy = policy}); }) ==
            messageOf([&] { (void)load_model(path).apply_policy(all); }));
    }
  }
}

// policies 13.1
TEST_CASE("the tool says of a file that its loss is scaled if compile() scales it after load_model") {
  const TemporaryFolder folder;
  const auto dense = [] { return Dense(1, {.name = "a"}); };
  const auto inner = [&] { return Sequential({Input({2}), dense()}, {.name = "inner"}); };
  const auto graph = [&] {
    Input x({2}, {.name = "x"});
    return Model({x}, {dense()(x)}, {.name = "graph"});
  };
  const std::vector<std::function<Model()>> models{
      inner, graph, [&] { return Sequential({Input({2}), inner()}, {.name = "outer"}); },
      [&] { return Sequential({Input({2}), graph()}, {.name = "outer"}); }};
  const std::vector<std::function<std::optional<Optimizer>()>> optimizers{
      [] { return std::nullopt; }, [] { return optimizers::SGD(0.1); },
      [] { return optimizers::LossScaleOptimizer(optimizers::SGD(0.1)); },
      [] { return optimizers::SGD(0.1, {.loss_scale_factor = 8.0}); }};
  const auto hasFactor = [](const Model &model) {
    return model.optimizer().get_config().dump().find(R"("loss_scale_factor":8.0)") != std::string::npos;
  };
  for (const char *made : {"float32", "mixed_float16"})
    for (size_t i = 0; i < models.size(); ++i)
      for (size_t j = 0; j < optimizers.size(); ++j) {
        const std::string path = folder / "m.keras";
        {
          const PolicyScope scope{PolicyArg(made)};
          const Model model = models[i]();
          if (const std::optional<Optimizer> optimizer = optimizers[j]())
            model.compile({.optimizer = *optimizer, .loss = "mse"});
          model.save(path, {.overwrite = true});
        }
        for (const char *global : {"float32", "mixed_float16", "mixed_bfloat16"}) {
          CAPTURE(made, i, j, global);
          const PolicyScope scope{PolicyArg(global)};
          const Model loaded = load_model(path);
          if (j == 0)
            loaded.compile({.optimizer = "sgd", .loss = "mse"});
          const bool isScaled = loaded.loss_scale_optimizer() || hasFactor(loaded);
          CHECK(resolvePolicies(readModel(path), {}).lossScaling == isScaled);
        }
      }
}
