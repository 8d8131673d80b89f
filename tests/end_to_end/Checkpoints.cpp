// Training resumed from a checkpoint is bit-identical to uninterrupted training; restoring under another policy.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Saving.h"
#include "runtime/TensorAccess.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/devices/Registry.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::layers;

namespace {

struct NamedPolicy {
  const char *name;
  PolicyArg policy;
};
std::vector<NamedPolicy> policies() {
  return {{"float32", "float32"},
          {"mixed_float16", "mixed_float16"},
          {"mixed_bfloat16", "mixed_bfloat16"},
          {"bfloat16", "bfloat16"},
          {"a map", DTypePolicyMap("mixed_bfloat16", {{"net/b", "float32"}, {"net/a", "bfloat16"}})}};
}

/// A net trained with a schedule, moving averages, dropout and normalization. mixed_float16 scales the loss.
Sequential net(const PolicyArg &policy) {
  const PolicyScope scope(policy);
  Sequential model({Input({6}), Dense(19, {.activation = "relu", .name = "a"}), BatchNormalization({.name = "n"}),
                    Dropout(0.3, {.name = "d"}), Dense(1, {.name = "b"})},
                   {.name = "net"});
  model.compile({.optimizer = optimizers::Adam(schedules::ExponentialDecay(0.01, 3, 0.9),
                                               {.use_ema = true, .ema_overwrite_frequency = 4}),
                 .loss = "mse"});
  return model;
}

/// The bytes of each variable, by its path. The host computes the rates of a schedule from the update count.
std::vector<std::pair<std::string, std::string>> stateOf(const Model &model) {
  std::vector<Variable> variables = model.variables();
  for (const Variable &variable : model.optimizer().impl()->allVariables())
    if (variable.impl()->role != detail::VariableRole::learning_rate)
      variables.push_back(variable);
  std::vector<std::pair<std::string, std::string>> all;
  for (const Variable &variable : variables) {
    const Tensor value = variable.value();
    all.emplace_back(variable.path(), std::string(reinterpret_cast<const char *>(TensorAccess::data(value)),
                                                  static_cast<size_t>(TensorAccess::bytes(value))));
  }
  return all;
}

History fit(const Model &model, FitArgs args) {
  const Tensor x = counted({41, 6}) * 0.01, y = counted({41, 1}) * 0.02;
  args.batch_size = 8; // the last batch has one row
  args.verbose = 0;
  args.validation_data = ValidationData(x, y);
  return model.fit(x, y, args);
}

struct Pair {
  NamedPolicy from, to;
};
std::vector<Pair> pairs() {
  std::vector<Pair> all;
  for (const NamedPolicy &from : policies())
    for (const NamedPolicy &to : policies())
      if (std::string_view(from.name) != to.name)
        all.push_back({from, to});
  return all;
}

/// The expected lines of a restore, from the variables of both models.
std::vector<std::string> expectedLines(const Model &from, const Model &to) {
  std::vector<std::string> lines;
  const auto variablesOf = [](const Model &model) {
    std::vector<Variable> variables = model.variables();
    for (const Variable &variable : model.optimizer().impl()->allVariables())
      variables.push_back(variable);
    return variables;
  };
  for (const Variable &target : variablesOf(to))
    for (const Variable &source : variablesOf(from))
      if (source.path() == target.path() && source.dtype() != target.dtype() &&
          target.impl()->role != detail::VariableRole::learning_rate)
        lines.push_back(target.path() + ": " + std::string(name(source.dtype())) + " -> " +
                        std::string(name(target.dtype())));
  const char *scale[] = {"step_counter", "dynamic_scale", "skipped_steps", "last_fault"};
  const bool had = from.loss_scale_optimizer().has_value(), has = to.loss_scale_optimizer().has_value();
  for (const char *part : scale)
    if (had != has)
      lines.push_back(std::string("loss_scale_optimizer/") + part +
                      (has ? ": reinitialized, since the file has none"
                           : ": not used, since the model's optimizer does not scale the loss"));
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Trains six epochs, and trains the last three again in another model restored from a checkpoint.
void checkResumes(const NamedPolicy &each) {
  INFO(each.name);
  TemporaryFolder folder;
  set_random_seed(11);
  const Sequential whole = net(each.policy);
  const History all = fit(whole, {.epochs = 6, .callbacks = {callbacks::ModelCheckpoint(folder / "{epoch}.ckpt")}});
  set_random_seed(12); // as in another process: other weights, seeds and orders
  const Sequential resumed = net(each.policy);
  const Checkpoint::Restored restored = Checkpoint(resumed).restore(folder / "3.ckpt");
  CHECK(restored.epoch == 3);
  CHECK(restored.converted.empty());
  const History rest = fit(resumed, {.epochs = 6, .initial_epoch = restored.epoch});
  CHECK(rest.epoch() == std::vector<int64_t>{3, 4, 5});
  for (const char *key : {"loss", "val_loss"}) {
    const std::vector<double> losses = all[key];
    CHECK(rest[key] == std::vector<double>(losses.begin() + 3, losses.end()));
  }
  CHECK(stateOf(resumed) == stateOf(whole));
  CHECK(stateOf(resumed).size() > 20);
}
void checkResumesWith(int threads) {
  const std::shared_ptr<CpuDevice> device = sharedCpuDevice().valueOrThrow();
  const int before = device->threads();
  device->setThreads(threads).orThrow();
  for (const NamedPolicy &each : policies())
    checkResumes(each);
  device->setThreads(before).orThrow();
}

} // namespace

TEST_CASE("Three epochs, a checkpoint and three epochs more give the bits of six epochs under any policy",
          "[checkpoint]") {
  checkResumesWith(1);
}

TEST_CASE("With two threads training goes on from a checkpoint with the same bits", "[checkpoint]") {
  checkResumesWith(2);
}

TEST_CASE("A checkpoint of each policy restores under each other policy, and each conversion is listed",
          "[checkpoint]") {
  for (const auto &[from, to] : pairs()) {
    INFO(from.name << " to " << to.name);
    TemporaryFolder folder;
    const Sequential source = net(from.policy), target = net(to.policy);
    (void)fit(source, {.epochs = 1});
    Checkpoint(source).save(folder / "a.ckpt");
    Checkpoint::Restored restored = Checkpoint(target).restore(folder / "a.ckpt");
    std::sort(restored.converted.begin(), restored.converted.end());
    CHECK(restored.converted == expectedLines(source, target));
    for (size_t i = 0; i < source.variables().size(); ++i) {
      const Variable given = source.variables()[i], found = target.variables()[i];
      CHECK(numbers(found) == numbers(given.value().astype(found.dtype())));
    }
    CHECK(target.optimizer().iterations() == source.optimizer().iterations());
    if (const auto scaled = target.loss_scale_optimizer())
      CHECK(scaled->state().scale == 32768.0);
    CHECK(fit(target, {.epochs = 2, .initial_epoch = restored.epoch}).epoch() == std::vector<int64_t>{1});
  }
}
