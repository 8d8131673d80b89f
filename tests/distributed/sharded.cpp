// Processes that divide the optimizer state learn the same bits as processes that each have all of it.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProcessRun.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/optimizers/OptimizerParts.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Sha256.h"
#include "tests/distributed/Ranks.h"
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <vector>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::layers;
using namespace halftone::optimizers;
using namespace halftone::detail;

namespace {

struct Case {
  std::string name, policy;
  std::function<Optimizer()> optimizer;
  bool overflows = false;   // in some steps a row of one process overflows float16
  bool constrained = false; // a kernel has a constraint
  int64_t width = 40;       // width of the hidden layer
  /// With fast numerics, 16-bit gradients are rounded at other points if only a part of them is read, and a norm is
  /// summed in the order of the kernel that contains it.
  bool isStrict = false;
  bool normalizes = false; // over the rows of all processes: a sum within the backward pass
};

std::vector<Case> optimizerCases() {
  std::vector<Case> cases;
  for (const char *name : {"sgd", "adam", "adamw", "rmsprop", "lion", "adagrad", "adadelta", "adamax", "nadam",
                           "adafactor", "ftrl", "lamb", "muon", "schedulefreeadamw"})
    cases.push_back({name, "float32", [name] { return Optimizer(name); }});
  return cases;
}

std::vector<Case> argumentCases() {
  const auto adam = [](const AdamArgs &args) { return [args] { return Optimizer(Adam(1e-2, args)); }; };
  return {
      {.name = "momentum",
       .policy = "bfloat16",
       .optimizer = [] { return Optimizer(SGD(0.05, {.momentum = 0.9, .nesterov = true})); },
       .isStrict = true},
      {"adam", "mixed_bfloat16", adam({.amsgrad = true, .weight_decay = 0.01})},
      {"adam with faults", "mixed_float16", adam({}), true},
      {"accumulated with faults", "mixed_float16", adam({.gradient_accumulation_steps = 2}), true},
      {"global_clipnorm", "mixed_float16", adam({.global_clipnorm = 0.1}), true},
      {"clipnorm, accumulated", "float32", adam({.clipnorm = 0.05, .gradient_accumulation_steps = 3})},
      {"clipvalue, averages", "mixed_bfloat16",
       adam({.clipvalue = 0.01, .use_ema = true, .ema_momentum = 0.5, .ema_overwrite_frequency = 3})},
      {"averages", "float32", adam({.use_ema = true, .ema_momentum = 0.9})},
      {.name = "lamb, accumulated",
       .policy = "mixed_bfloat16",
       .optimizer = [] { return Optimizer(Lamb(0.01, {.gradient_accumulation_steps = 2})); },
       .isStrict = true},
      {"schedule", "float32", [] { return Optimizer(Adam(schedules::ExponentialDecay(0.01, 4, 0.5))); }},
      {"constraint", "float32", adam({}), false, true},
      {"few elements", "float32", adam({.gradient_accumulation_steps = 2}), false, false, 1},
      {"few elements with faults", "mixed_float16", adam({}), true, false, 1},
      {.name = "synchronized normalization", .policy = "float32", .optimizer = adam({}), .normalizes = true},
      {.name = "normalization of few elements",
       .policy = "float32",
       .optimizer = adam({}),
       .width = 1,
       .normalizes = true},
      {.name = "normalization, lamb",
       .policy = "mixed_float16",
       .optimizer = [] { return Optimizer(Lamb(0.01)); },
       .width = 3,
       .isStrict = true,
       .normalizes = true},
  };
}

struct Data {
  Tensor x, y;
};
Data dataOf(const Case &each) {
  const int64_t rows = 66, width = 12;
  std::vector<float> x;
  std::vector<int32_t> y;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < width; ++i)
      x.push_back(std::sin(static_cast<float>(row * width + i) * 1.7f));
    y.push_back(x[static_cast<size_t>(row * width)] > 0 ? 1 : 0);
  }
  if (each.overflows)
    x[17 * width] = 1e30f;
  return {Tensor(x, Shape({rows, width})), Tensor(y, Shape({rows}))};
}

Sequential modelOf(const Case &each) {
  set_random_seed(3);
  set_dtype_policy(each.policy);
  DenseArgs hidden{.activation = "tanh"};
  if (each.constrained)
    hidden.kernel_constraint = constraints::MaxNorm(0.4);
  Sequential model({Input({12}), Dense(each.width, hidden)});
  if (each.normalizes)
    model.add(BatchNormalization({.synchronized = true}));
  model.add(Dense(37, {.activation = "relu"}));
  if (each.normalizes)
    model.add(BatchNormalization({.center = false, .scale = false, .synchronized = true}));
  model.add(Dense(2));
  model.compile({.optimizer = each.optimizer(),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .numerics = each.isStrict ? Numerics::strict : Numerics::fast});
  return model;
}

std::string bytesOf(const Tensor &value) {
  return {reinterpret_cast<const char *>(TensorAccess::data(value)), static_cast<size_t>(TensorAccess::bytes(value))};
}
struct Digests {
  std::string weights, slots;
};
/// Digests of the weights and of the whole optimizer state.
Digests digestsOf(const Model &model) {
  const Optimizer optimizer = model.optimizer();
  std::string weights, slots;
  for (const Variable &variable : model.variables())
    weights += bytesOf(variable.value());
  for (const Variable &variable : optimizer.variables())
    slots += bytesOf(optimizer.impl()->parts().whole(variable, variable.value()));
  return {sha256(weights), sha256(slots)};
}

/// The size in bytes of the arrays of optimizer state, and of the parts of variables.
int64_t stateBytes(const Model &model) {
  int64_t bytes = 0;
  for (const Variable &variable : model.optimizer().impl()->allVariables())
    bytes += TensorAccess::bytes(variable.value());
  return bytes;
}

void distributeRun(bool isSharded) { distribute(true, {.check_weights_every = 3, .shard_optimizer_state = isSharded}); }

/// Waits for all processes, so that rank 0 has written its files.
void meet() {
  if (const std::shared_ptr<ProcessGroup> group = processGroup())
    group->run("work", [](Collectives &all) { return all.gather("").status(); }).orThrow();
}

void compare(const Case &each, const std::string &folder) {
  const Data data = dataOf(each);
  const FitArgs epochs{.batch_size = 22, .epochs = 3, .verbose = 0, .shuffle = false};
  distributeRun(false);
  const Sequential whole = modelOf(each);
  whole.fit(data.x, data.y, epochs);
  distributeRun(true);
  const Sequential split = modelOf(each);
  split.fit(data.x, data.y, epochs);
  const Digests expected = digestsOf(whole), state = digestsOf(split);
  require(expected.weights == state.weights, "other weights");
  require(expected.slots == state.slots, "other state of the optimizer");
  if (each.overflows)
    require(split.loss_scale_optimizer()->state().skipped_steps == 3, "a step was not skipped");
  // A file of divided state and a file of whole state, each read by the other model.
  const std::string file = folder + "/split.ckpt";
  Checkpoint(split).save(file);
  meet();
  distributeRun(false);
  const Sequential read = modelOf(each);
  (void)Checkpoint(read).restore(file);
  require(digestsOf(read).slots == expected.slots, "the checkpoint is not whole");
  read.fit(data.x, data.y, epochs);
  distributeRun(true);
  split.fit(data.x, data.y, epochs);
  require(digestsOf(read).weights == digestsOf(split).weights, "trained on, other weights");
  meet();
  (void)Checkpoint(split).restore(file);
  require(digestsOf(split).slots == expected.slots && digestsOf(split).weights == expected.weights,
          "another restored state");
  // A whole state that is divided later.
  (void)Checkpoint(whole).restore(file);
  whole.fit(data.x, data.y, epochs);
  require(digestsOf(whole).slots == digestsOf(read).slots && digestsOf(whole).weights == digestsOf(read).weights,
          "a state that was split later differs");
  say(fmt::format("{} {}: same bits", each.policy, each.name));
}

/// model.save() and a model of other sizes: files, errors, and memory.
void files(const std::string &folder) {
  const Case large{"adam", "float32", [] { return Optimizer(Adam(1e-3)); }, false, false, 3001};
  const Data data = dataOf(large);
  const FitArgs once{.batch_size = 66, .epochs = 1, .verbose = 0};
  distributeRun(false);
  const Sequential whole = modelOf(large);
  whole.fit(data.x, data.y, once);
  distributeRun(true);
  const Sequential split = modelOf(large);
  split.fit(data.x, data.y, once);
  say(fmt::format("own bytes {} of {}", stateBytes(split), stateBytes(whole)));
  split.save(folder + "/split.keras");
  split.save_weights(folder + "/split.weights.h5");
  const Digests expected = digestsOf(split);
  meet();
  distribution::set_distribution(std::nullopt);
  const Model loaded = load_model(folder + "/split.keras");
  require(digestsOf(loaded).slots == expected.slots && digestsOf(loaded).weights == expected.weights,
          "the loaded model differs");
  loaded.fit(data.x, data.y, once); // alone
  for (const std::function<void()> &refused : std::vector<std::function<void()>>{
           [&] { split.fit(data.x, data.y, once); }, [&] { split.train_on_batch(data.x, data.y); },
           [&] { split.save(folder + "/alone.keras"); }, [&] { Checkpoint(split).save(folder + "/alone.ckpt"); }}) {
    try {
      refused();
    } catch (const Error &error) {
      require(error.kind() == ErrorKind::runtime_error && error.message().find("is split among") != std::string::npos,
              error.what());
      continue;
    }
    require(false, "a process alone used a part of the state");
  }
  std::string weights;
  for (const Variable &variable : split.variables())
    weights += bytesOf(variable.value());
  require(sha256(weights) == expected.weights, "a refused call changed weights");
}

int run(const std::string &what, const std::string &folder) {
  distributeRun(true);
  std::filesystem::create_directories(folder);
  if (what == "files") {
    files(folder);
    return 0;
  }
  std::vector<Case> cases = what == "optimizers" ? optimizerCases() : argumentCases();
  if (what == "one")
    cases.resize(1);
  for (const Case &each : cases)
    try {
      compare(each, folder);
    } catch (const Error &error) {
      say(fmt::format("error {} {}: {}", each.policy, each.name, error.what()));
      return 3;
    }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argv[1], argv[2]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
