// The rows of the matrix of features: each kind of policy with its net and batches, and the state that cells compare.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/frontend/BuiltInHooks.h"
#include <algorithm>
#include <cstring>
#include <halftone/Halftone.h>
#include <halftone/Legacy.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::matrix {

/// The loss scale and the counters of a compiled net, as docs/policies.md, 13.2 and 13.3, defines them.
struct Scale {
  double value = 0.0; // 0: none
  int64_t growthSteps = 2000;
  double least = 1.0, greatest = 0x1p24;
  int64_t good = 0, skipped = 0, updates = 0;

  /// Updates the state for one step.
  void step(bool overflows) {
    const bool isSkipped = overflows && value > 0.0;
    updates += !isSkipped;
    if (value == 0.0)
      return;
    skipped += isSkipped;
    good = isSkipped ? 0 : good + 1;
    if (isSkipped && value > least)
      value = std::max(value / 2.0, least);
    if (good != growthSteps)
      return;
    good = 0;
    if (value < greatest)
      value = std::min(value * 2.0, greatest);
  }
};

/// A policy. The nets of all rows have the same layers and, in float32, the same initial weights.
struct Row {
  std::string name;
  PolicyArg policy;                                   // the policy of the thread while the net is created and loaded
  double roundoff;                                    // the unit roundoff of the narrowest compute dtype
  std::optional<Scale> scale{};                       // the initial state
  std::optional<optimizers::LossScaleArgs> scaling{}; // compile() gets a LossScaleOptimizer; else by policy
  std::optional<DTypePolicyMap> applied{};            // quantizes layers of the built net
  /// The modes, or else the compute dtypes, of layers for which the map decides.
  std::vector<std::pair<std::string, std::string>> decided{};
  std::string weights = "floats"; // rows with equal `weights` have variables of the same names and shapes
};

inline std::vector<Row> rows() {
  const double single = 0x1p-24, half = 0x1p-11, brain = 0x1p-8;
  const optimizers::LossScaleArgs growing{.initial_scale = 1024.0, .dynamic_growth_steps = 2};
  const Scale standard{.value = 32768.0}, grown{.value = 1024.0, .growthSteps = 2};
  return {
      {.name = "float32", .policy = "float32", .roundoff = single},
      {.name = "float64", .policy = "float64", .roundoff = single}, // the loss is a float32
      {.name = "float16", .policy = "float16", .roundoff = half},
      {.name = "bfloat16", .policy = "bfloat16", .roundoff = brain},
      {.name = "mixed_bfloat16", .policy = "mixed_bfloat16", .roundoff = brain},
      {.name = "mixed_float16", .policy = "mixed_float16", .roundoff = half, .scale = standard},
      {.name = "mixed_float16 with a scale that grows",
       .policy = "mixed_float16",
       .roundoff = half,
       .scale = grown,
       .scaling = growing},
      {.name = "TensorFlow's mixed_float16 with a fixed scale",
       .policy = legacy::Policy("mixed_float16", 512.0),
       .roundoff = half,
       .scale = Scale{.value = 512.0, .least = 512.0, .greatest = 512.0}},
      {.name = "TensorFlow's float16_with_float32_vars with a dynamic scale",
       .policy = legacy::Policy("float16_with_float32_vars", "dynamic"),
       .roundoff = half,
       .scale = standard},
      {.name = "TensorFlow's bfloat16_with_float32_vars",
       .policy = legacy::Policy("bfloat16_with_float32_vars"),
       .roundoff = brain},
      {.name = "a map with an exact key and an expression",
       .policy = DTypePolicyMap("mixed_bfloat16",
                                {{"net/conv", "float32"}, {"net/(hidden|he.d|steps/gru_cell)", "mixed_float16"}}),
       .roundoff = brain,
       .scale = grown,
       .scaling = growing,
       .decided = {{"table", "bfloat16"}, {"conv", "float32"}, {"hidden", "float16"}, {"head", "float16"}}},
      {.name = "a map with int8 layers",
       .policy = "float32",
       .roundoff = single,
       .applied = DTypePolicyMap("float32", {{"net/(table|hidden)", "int8_from_float32"}}),
       .decided = {{"table", "int8"}, {"conv", "float32"}, {"hidden", "int8"}, {"head", "float32"}},
       .weights = "int8"},
      {.name = "a map with int8 layers over mixed_bfloat16",
       .policy = "mixed_bfloat16",
       .roundoff = brain,
       .applied = DTypePolicyMap("mixed_bfloat16", {{"net/(table|hidden)", "int8_from_mixed_bfloat16"}}),
       .decided = {{"table", "int8"}, {"conv", "bfloat16"}, {"hidden", "int8"}, {"head", "bfloat16"}},
       .weights = "int8"},
      {.name = "a map with a float8 layer",
       .policy = "float32",
       .roundoff = 0x1p-4,
       .applied = DTypePolicyMap("float32", {{"net/hidden", "float8_from_float32"}}),
       .decided = {{"conv", "float32"}, {"hidden", "float8"}, {"head", "float32"}},
       .weights = "float8"},
      {.name = "a map with a float8 layer over mixed_bfloat16",
       .policy = "mixed_bfloat16",
       .roundoff = 0x1p-4,
       .applied = DTypePolicyMap("mixed_bfloat16", {{"net/hidden", "float8_from_mixed_bfloat16"}}),
       .decided = {{"conv", "bfloat16"}, {"hidden", "float8"}, {"head", "bfloat16"}},
       .weights = "float8"},
  };
}

struct NetArgs {
  Numerics numerics = Numerics::fast;
  int64_t accumulated = 1;    // gradient_accumulation_steps
  bool hasOwnRandoms = true;  // Dropout
  bool hasStatistics = true;  // BatchNormalization
  bool isSynchronized = true; // over the rows of all processes
  bool hasPenalties = false;  // penalties on weights and activities
  bool hasSteps = false;      // a GRU, with dropout if hasOwnRandoms: one loop forward and one backward
};

inline constexpr int64_t rowsOfBatch = 8, batchesOfEpoch = 6, spikedBatch = 2;

/// The optimizer limits a step by the norm of the gradients, so that the spike is harmless where it does not overflow.
/// Its rate depends on the update count. A schedule counts each call, so the schedule of an optimizer that accumulates
/// is slower.
inline optimizers::SGD sgd(int64_t accumulated = 1) {
  optimizers::SGDArgs args{.momentum = 0.9, .global_clipnorm = 1.0};
  if (accumulated > 1)
    args.gradient_accumulation_steps = accumulated;
  return optimizers::SGD(schedules::ExponentialDecay(0.02, 4 * accumulated, 0.7, {.staircase = true}), args);
}

inline void compile(const Model &model, const Row &row, const NetArgs &args) {
  const Optimizer optimizer = row.scaling
                                  ? Optimizer(optimizers::LossScaleOptimizer(sgd(args.accumulated), *row.scaling))
                                  : sgd(args.accumulated);
  model.compile({.optimizer = optimizer, .loss = "mse", .numerics = args.numerics});
}
/// A compiled net of six tokens. Its weights and the seeds of its generator are drawn anew.
inline Sequential net(const Row &row, const NetArgs &args = {}) {
  using namespace layers;
  const PolicyScope scope(row.policy);
  set_random_seed(11);
  const Initializer wide =
      initializers::RandomUniform({.minval = -1.0, .maxval = 1.0}); // so that the statistics are not tiny
  std::vector<Layer> stack{Input({6}, {.dtype = int32}),
                           Embedding(13, 4, {.embeddings_initializer = wide, .name = "table"}),
                           Conv1D(8, 3,
                                  {.activation = "relu",
                                   .activity_regularizer = args.hasPenalties ? Regularizer("l1") : Regularizer(),
                                   .name = "conv"})};
  if (args.hasStatistics)
    stack.push_back(BatchNormalization({.momentum = 0.5, .synchronized = args.isSynchronized, .name = "norm"}));
  if (args.hasSteps)
    stack.push_back(GRU(6, {.dropout = args.hasOwnRandoms ? 0.25 : 0.0,
                            .recurrent_dropout = args.hasOwnRandoms ? 0.25 : 0.0,
                            .return_sequences = true,
                            .name = "steps"}));
  stack.push_back(Flatten({.name = "flat"}));
  stack.push_back(Dense(16, {.activation = "tanh", .name = "hidden"}));
  if (args.hasOwnRandoms)
    stack.push_back(Dropout(0.25, {.name = "drop"}));
  stack.push_back(Dense(1, {.kernel_initializer = initializers::RandomNormal({.stddev = 0.1}),
                            .kernel_regularizer = args.hasPenalties ? Regularizer("l2") : Regularizer(),
                            .name = "head"}));
  const Sequential model(std::move(stack), {.name = "net"});
  if (row.applied)
    (void)model.apply_policy(*row.applied);
  compile(model, row, args);
  return model;
}

/// A struct that contains the net, for hooks.
struct Inner {
  Model net;
  Value call(const Value &x) const { return net(x); }
};
struct OwnStep : test::BuiltInTrainStep<Inner> {};
struct OwnLoss : test::BuiltInLoss<Inner> {};
template <class Hooks> Model hooked(const Row &row, const NetArgs &args = {}) {
  const Sequential inner = net(row, args);
  const PolicyScope scope(row.policy);
  const Model model(Hooks{{{inner}}}, {.name = "hooked"});
  compile(model, row, args);
  return model;
}

struct Data {
  Tensor x, y;
};
/// The data of an epoch. The gradient of the spiked target, 2 * 4000 / 8 without a scale, overflows float16 under each
/// row's scale at any time. All other gradients are far below overflow.
inline Data data(bool isSpiked = true) {
  const int64_t count = rowsOfBatch * batchesOfEpoch;
  std::vector<int32_t> x;
  std::vector<float> y;
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t token = 0; token < 6; ++token)
      x.push_back(static_cast<int32_t>((row * row * 5 + token * 7 + row * token) % 13));
    y.push_back(0.05f * static_cast<float>(x.back() - 6));
  }
  if (isSpiked)
    y[spikedBatch * rowsOfBatch] = 4000.0f;
  return {Tensor(std::move(x), {count, 6}), Tensor(std::move(y), {count, 1})};
}
inline Data batchOf(const Data &all, int64_t step) {
  const int64_t begin = step % batchesOfEpoch * rowsOfBatch;
  return {all.x.slice(begin, begin + rowsOfBatch), all.y.slice(begin, begin + rowsOfBatch)};
}
inline bool isSpike(int64_t step) { return step % batchesOfEpoch == spikedBatch; }

/// The loss scale and the counters, as the host sees them after a step.
struct Counters {
  double scale = 0.0;
  int64_t good = 0, skipped = 0, updates = 0;
  std::string fault{}; // the last fault
  bool operator==(const Counters &) const = default;
  std::string str() const {
    return "scale " + std::to_string(scale) + ", good " + std::to_string(good) + ", skipped " +
           std::to_string(skipped) + ", updates " + std::to_string(updates) + ", fault '" + fault + "'";
  }
};
inline Counters countersOf(const Model &model) {
  Counters all{.updates = model.optimizer().iterations()};
  if (const auto scaled = model.loss_scale_optimizer()) {
    const optimizers::LossScaleState state = scaled->state();
    all = {state.scale, state.good_steps, state.skipped_steps, all.updates, state.last_fault};
  }
  return all;
}
inline Counters countersOf(const Scale &scale) { return {scale.value, scale.good, scale.skipped, scale.updates, ""}; }

/// The paths and values of variables.
using State = std::vector<std::pair<std::string, Tensor>>;
inline State stateOf(const std::vector<Variable> &variables) {
  State state;
  for (const Variable &variable : variables)
    if (variable.name() != "learning_rate") // the host computes it from the update count
      state.emplace_back(variable.path(), variable.value());
  return state;
}
/// The variables of layers, seeds, and the variables of the optimizer.
inline State stateOf(const Model &model) {
  State state = stateOf(model.variables());
  for (auto &each : stateOf(model.optimizer().variables()))
    state.push_back(std::move(each));
  return state;
}

/// The elements as doubles, which represent all dtypes used here exactly.
inline std::vector<double> numbers(const Tensor &tensor) { return tensor.astype(float64).to_vector<double>(); }

/// Names the first variable and element whose bits differ; "" if there is none.
inline std::string difference(const State &found, const State &expected) {
  if (found.size() != expected.size())
    return std::to_string(found.size()) + " variables, expected " + std::to_string(expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const auto &[path, tensor] = found[i];
    const Tensor &other = expected[i].second;
    if (tensor.dtype() != other.dtype() || tensor.shape() != other.shape())
      return path + " has another dtype or shape";
    const std::vector<double> a = numbers(tensor), b = numbers(other);
    for (size_t at = 0; at < a.size(); ++at)
      if (std::memcmp(&a[at], &b[at], sizeof(double)) != 0)
        return path + "[" + std::to_string(at) + "] is " + std::to_string(a[at]) + ", expected " +
               std::to_string(b[at]);
  }
  return "";
}

} // namespace halftone::matrix
