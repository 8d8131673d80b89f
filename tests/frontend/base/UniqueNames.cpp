// Names of objects: which resemble automatic names, and which are rejected.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/UniqueNames.h"
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

TEST_CASE("An automatic name is the class in small letters, alone or with a number") {
  for (const char *name : {"layer_normalization", "layer_normalization_1", "layer_normalization_120"})
    CHECK(detail::isAutomaticName(name, "LayerNormalization"));
  for (const char *name : {"layer", "layer_normalization_", "layer_normalization_0", "layer_normalization_01",
                           "layer_normalization_a", "layer_normalization_1_2", "normalization", ""}) {
    INFO(name);
    CHECK_FALSE(detail::isAutomaticName(name, "LayerNormalization"));
  }
}

static const Catch::Matchers::StdString::ContainsMatcher isRefused = Contains("must be UTF-8. Received: \"caf\\xe9");

TEST_CASE("A name that is not UTF-8 is refused where it is given, with the name in the message") {
  const std::string name = "caf\xe9";
  struct Own {
    std::string weight;
    Variable kernel{};
    void build(BuildContext &context, const Shape &) { kernel = context.add_weight({.shape = {}, .name = weight}); }
    Value call(const Value &x) const { return x * kernel; }
  };
  CHECK_THROWS_WITH(Dense(2, {.name = name}), isRefused && Contains("UniqueNames.cpp:"));
  CHECK_THROWS_WITH(Custom(Own{"w"}, {.name = name}), isRefused && Contains("UniqueNames.cpp:"));
  CHECK_THROWS_WITH(Sequential({Dense(2)}, {.name = name}), isRefused && Contains("UniqueNames.cpp:"));
  CHECK_THROWS_WITH(Model(Own{"w"}, {.name = name}), isRefused);
  CHECK_THROWS_WITH(Input({2}, {.name = name}), isRefused);
  CHECK_THROWS_WITH(Variable(Tensor::ones({1}), {.name = name}), isRefused);
  const Custom own(Own{name});
  CHECK_THROWS_WITH(own(Tensor::ones({1})), Contains("must be UTF-8") && Contains("layer: own"));
  CHECK_FALSE(own.built());
  CHECK_THROWS_WITH(metrics::MeanSquaredError({.name = name}), isRefused);
  CHECK_THROWS_WITH(losses::MeanSquaredError({.name = name}), isRefused);
  CHECK_THROWS_WITH(optimizers::SGD(0.1, {.name = name}), isRefused);
  CHECK_THROWS_WITH(optimizers::LossScaleOptimizer("sgd", {.name = name}), isRefused);
  CHECK_THROWS_WITH(register_layer("caf\xe9>Own", [](const Config &, const LayerArgs &) { return Layer(Dense(1)); }),
                    isRefused);
  const Dense named(2, {.name = "caf\u00e9 \u6f22"});
  CHECK(named.name() == "caf\u00e9 \u6f22");
}
