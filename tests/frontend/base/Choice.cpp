// Strings of closed sets: literals, strings known at run time, and configs.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>

using namespace halftone;
using Catch::Matchers::Contains;

static_assert(Choice<Padding>("same") == Padding::same);
static_assert(Choice<MonitorMode>("auto") == MonitorMode::automatic);
static_assert(Choice<Padding>(Padding::causal).word() == std::string_view("causal"));

TEST_CASE("A word that is known at run time is looked up, and an error lists the words") {
  const std::string word = "channels_first";
  CHECK(choice<DataFormat>(word) == DataFormat::channels_first);
  CHECK_THROWS_WITH(choice<Padding>("full"), Contains(R"(expected one of "valid", "same", "causal"; got "full")"));
  CHECK_THROWS_WITH(choice<Padding>("Same"), Contains(R"(got "Same")"));
}

TEST_CASE("A layer's words go into its config, and a data format of null is channels_last") {
  const layers::Conv2D layer(4, 3, {.padding = "same", .data_format = "channels_first"});
  CHECK_THAT(layer.get_config().dump(),
             Contains(R"("padding":"same")") && Contains(R"("data_format":"channels_first")"));
  CHECK_THAT(layers::MaxPooling2D(2).get_config().dump(), Contains(R"("data_format":"channels_last")"));
  const Config config = Config::parse(
      R"({"module": "keras.layers", "class_name": "Flatten", "config": {"name": "f", "data_format": null}})");
  CHECK_THAT(layers::deserialize(config).get_config().dump(), Contains(R"("data_format":"channels_last")"));
}
