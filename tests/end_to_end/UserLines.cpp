// "at:", the locations of the IR and the ledger name lines of user programs, and never the library's own source.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

bool isOfTheLibrary(const std::string &text) {
  return std::ranges::any_of(std::array{"frontend/", "runtime/", "dialect/", "compiler/", "tools/", "include/halftone"},
                             [&](const char *folder) { return text.find(folder) != std::string::npos; });
}
/// A net of layers that create other layers, under a policy that casts.
Model net() {
  const Value x = Input({6, 8}, {.name = "x"});
  Value y = MultiHeadAttention(2, 4, {.name = "attention"})(x, x);
  y = LayerNormalization({.name = "norm"})(y);
  y = SeparableConv1D(8, 3, {.name = "separable"})(y);
  y = Sequential({Dense(4, {.name = "inner"})}, {.name = "nested"})(y);
  return Model(x, Dense(3, {.name = "out"})(Flatten()(y)), {.name = "net"});
}

} // namespace

TEST_CASE("What a file or the library makes has no line, and what a program makes has the program's") {
  const TemporaryFolder folder;
  const PolicyScope policy("mixed_bfloat16");
  const Model made = net();
  made.save(folder / "net.keras");
  const Model loaded = load_model(folder / "net.keras"), cloned = clone_model(made),
              fromConfig = Model::from_config(Config::parse(made.to_json()));
  for (const Model *model : {&loaded, &cloned, &fromConfig}) {
    try {
      (void)model->predict_on_batch(Tensor::ones({2, 6, 9}));
      FAIL("expected an error");
    } catch (const Error &error) {
      INFO(error.what());
      CHECK_FALSE(isOfTheLibrary(error.what()));
      CHECK(std::string(error.where().file).empty());
      CHECK_THAT(error.what(), !Contains("  at:"));
    }
    for (const Layer &layer : model->layers())
      CHECK_FALSE(isOfTheLibrary(layer.name()));
  }
  for (const Model *model : {&made, &loaded, &cloned, &fromConfig}) {
    model->compile({.optimizer = "adam", .loss = "mse"});
    CHECK_FALSE(isOfTheLibrary(model->ir(Stage::cast, {.program = Program::train, .locations = true})));
    for (const CastLedger::Row &row : model->cast_ledger().rows) {
      INFO(row.path << " " << row.value << " " << row.location);
      CHECK_FALSE(isOfTheLibrary(row.location));
      if (model == &made && row.path.starts_with("out"))
        CHECK_THAT(row.location, Contains("UserLines.cpp"));
    }
  }
}

TEST_CASE("An error about a layer of the program's names its line") {
  const unsigned line = __LINE__ + 1;
  const Dense dense(3, {.name = "dense"});
  (void)dense(Input({4}));
  try {
    (void)dense(Input({5}));
    FAIL("expected an error");
  } catch (const Error &error) {
    CHECK_THAT(error.where().file, EndsWith("UserLines.cpp"));
    CHECK(error.where().line == line);
  }
}

TEST_CASE("An error about a wrong policy in a file names no line of the library") {
  const Sequential model({Input({4}), Dense(2, {.name = "d"})});
  std::string text = model.to_json();
  for (size_t at = text.find("float32"); at != std::string::npos; at = text.find("float32", at + 1))
    text.replace(at, 7, "no_such");
  try {
    (void)Model::from_config(Config::parse(text));
    FAIL("expected an error");
  } catch (const Error &error) {
    INFO(error.what());
    CHECK(std::string(error.where().file).empty());
    CHECK_FALSE(isOfTheLibrary(error.what()));
  }
}
