// One CompileArgs for several models: names represent an optimizer and metrics for each; and the known names.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <sstream>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

Sequential net() { return Sequential({Input({8}), Dense(3)}); }
void fit(const Model &model) { model.fit(Tensor::ones({4, 8}), Tensor::ones({4, 3}), {.epochs = 2, .verbose = 0}); }

} // namespace

TEST_CASE("One CompileArgs with names serves several models, each with its own state") {
  const CompileArgs args{.optimizer = "adam", .loss = "mse", .metrics = {"mae"}};
  const Sequential first = net(), second = net();
  first.compile(args);
  second.compile(args);
  fit(first);
  CHECK(first.optimizer().iterations() == 2);
  CHECK(second.optimizer().iterations() == 0);
  fit(second);
  fit(first);
  CHECK(first.optimizer().iterations() == 4);
  CHECK(second.optimizer().iterations() == 2);
  second.compile(args); // as in Keras, a new optimizer of that name
  CHECK(second.optimizer().iterations() == 0);
  fit(second);
  { // its variables are gone, and the name still represents a new optimizer
    const Sequential third = net();
    third.compile(args);
    fit(third);
  }
  const Sequential fourth = net();
  fourth.compile(args);
  fit(fourth);
  CHECK(fourth.optimizer().iterations() == 2);
}

TEST_CASE("Names stand for optimizers of each model also where the loss is scaled") {
  const PolicyScope scope("mixed_float16");
  const CompileArgs args{.optimizer = "adam", .loss = "mse"};
  const Sequential first = net(), second = net();
  first.compile(args);
  second.compile(args);
  CHECK_NOTHROW(fit(first)); // steps may be skipped
  CHECK_NOTHROW(fit(second));
  CHECK(first.optimizer().impl() != second.optimizer().impl());
}

TEST_CASE("An optimizer made of a name is the handle of the first model that gets it") {
  const Optimizer sgd = "sgd";
  const Sequential model = net();
  model.compile({.optimizer = sgd, .loss = "mse"});
  fit(model);
  CHECK(sgd.iterations() == 2);
  CHECK(sgd.impl() == model.optimizer().impl());
}

TEST_CASE("An optimizer object belongs to the variables of one model, as in Keras") {
  const CompileArgs args{.optimizer = optimizers::Adam(0.01), .loss = "mse"};
  const Sequential first = net(), second = net();
  first.compile(args);
  second.compile(args);
  fit(first);
  CHECK_THROWS_WITH(fit(second),
                    Contains("ValueError: Unknown variable: ") && Contains("you should recreate a new optimizer"));
}

TEST_CASE("Each name that an error lists as known can be used") {
  const std::string text = errorOf([] { (void)Optimizer("not a known name"); });
  const size_t begin = text.find("Known: ");
  REQUIRE(begin != std::string::npos);
  std::istringstream names(text.substr(begin + 7));
  int count = 0;
  for (std::string name; std::getline(names, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    INFO(name);
    CHECK_NOTHROW(Optimizer(name));
    ++count;
  }
  CHECK(count == 14);
  CHECK_THAT(errorOf([] { (void)Optimizer("LossScaleOptimizer"); }), Contains("needs an inner optimizer"));
  CHECK_THAT(errorOf([] { (void)net().quantize("ternary"); }), Contains("Expected one of") && !Contains("'ternary'"));
}
