// The number of launches of a training step, and its memory.
// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/Mlp.h"
#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <regex>

using namespace halftone;
using namespace halftone::testing;

namespace {

struct PlanFigures {
  int64_t launches = 0, parts = 0, copies = 0, arena = 0, live = 0;
};

PlanFigures figuresOf(const std::string &plan) {
  PlanFigures figures;
  std::smatch match;
  REQUIRE(std::regex_search(plan, match, std::regex("arena (\\d+) bytes \\((\\d+) live")));
  figures.arena = std::stoll(match[1]);
  figures.live = std::stoll(match[2]);
  std::istringstream lines(plan);
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_search(line, std::regex("^\\d+: ")))
      continue;
    if (std::regex_search(line, std::regex("^\\d+: (copy|zero) ")))
      ++figures.copies;
    else
      ++(std::regex_search(line, std::regex("^\\d+: with ")) ? figures.parts : figures.launches);
  }
  return figures;
}

/// The training step of 784-512-...-10 with `hidden` hidden layers under `policy`, at batch 128.
PlanFigures trainStep(const std::string &policy, int hidden) {
  using namespace layers;
  PolicyScope scope(policy);
  Sequential model({Input({28, 28}, {.dtype = uint8}), Rescaling(1.0 / 255), Flatten()});
  for (int i = 0; i < hidden; ++i)
    model.add(Dense(512, {.activation = "relu"}));
  model.add(Dense(10));
  CompileArgs args;
  args.optimizer = optimizers::Adam(1e-3);
  args.loss = losses::SparseCategoricalCrossentropy({.from_logits = true});
  args.metrics = {"accuracy"};
  model.compile(args);
  const auto start = std::chrono::steady_clock::now();
  const std::string plan = model.ir(Stage::plan, {.program = Program::train, .batch_size = 128});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const PlanFigures figures = figuresOf(plan);
  std::cout << policy << ", " << hidden << " hidden layers: " << figures.launches << " launches (" << figures.parts
            << " joined parts), " << figures.copies << " copies, arena " << figures.arena << " of " << figures.live
            << " live, " << seconds.count() << " s\n";
  return figures;
}

} // namespace

TEST_CASE("a training step is few launches, in an arena hardly larger than what lives in it") {
  using Case = std::pair<std::string, int>;
  for (const auto &[policy, hidden] :
       {Case{"float32", 2}, Case{"mixed_bfloat16", 2}, Case{"float32", 12}, Case{"mixed_float16", 2},
        Case{"mixed_float16", 12}, Case{"mixed_float16", 50}}) {
    const PlanFigures figures = trainStep(policy, hidden);
    INFO(policy << " " << hidden);
    // Forward and backward of each layer, the loss, bias gradients, the update; scalars, 32 reductions per kernel.
    CHECK(figures.launches <= 2 * hidden + 8 + hidden / 8);
    // The kernel of scalars stores the total and the count of loss and accuracy, and the word of skipped steps, in the
    // variables and in the fetches of the step. It also stores the old loss scale, which the update reads after the new
    // scale is computed.
    CHECK(figures.copies == 0);
    CHECK(static_cast<double>(figures.arena) <= 1.1 * static_cast<double>(figures.live));
  }
}

TEST_CASE("a normalization's forward and its backward are one launch each") {
  using namespace layers;
  auto launchesWith = [](const std::function<void(Sequential &)> &add) {
    Sequential model({Input({256})});
    model.add(Dense(64));
    add(model);
    model.add(Dense(10));
    CompileArgs args;
    args.optimizer = optimizers::SGD(1e-3);
    args.loss = losses::SparseCategoricalCrossentropy({.from_logits = true});
    model.compile(args);
    return figuresOf(model.ir(Stage::plan, {.program = Program::train, .batch_size = 128})).launches;
  };
  const int64_t plain = launchesWith([](Sequential &) {});
  CHECK(launchesWith([](Sequential &model) { model.add(LayerNormalization()); }) <= plain + 2);
  CHECK(launchesWith([](Sequential &model) { model.add(RMSNormalization()); }) <= plain + 2);
  CHECK(launchesWith([](Sequential &model) { model.add(UnitNormalization()); }) <= plain + 2);
  CHECK(launchesWith([](Sequential &model) { model.add(Activation("softmax")); }) <= plain + 2);
  // Groups and channels are different rows of the same tensor.
  CHECK(launchesWith([](Sequential &model) { model.add(GroupNormalization({.groups = 8})); }) <= plain + 4);
}
