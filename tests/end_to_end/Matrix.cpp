// The matrix of features: under each kind of policy, each way to train agrees with the others as documented.
// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/Matrix.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::matrix;
using Catch::Matchers::Contains;

namespace halftone::matrix {
static std::ostream &operator<<(std::ostream &out, const Counters &counters) { return out << counters.str(); }
} // namespace halftone::matrix

namespace {

constexpr int64_t epochs = 2, steps = epochs * batchesOfEpoch;

/// What the host observes of training, step by step, and the final variables.
struct Run {
  std::vector<double> losses;
  std::vector<Counters> counters;
  State state;
};

struct Recorder : Callback {
  Run *run;
  explicit Recorder(Run &run) : run(&run) {}
  void on_train_batch_end(int64_t, const Logs &logs) override {
    run->losses.push_back(logs["loss"]); // the mean of the epoch so far
    run->counters.push_back(countersOf(model()));
  }
};

/// Trains epochs by fit(). The losses are means over the epoch so far.
Run fitted(const Model &model, int64_t from = 0, int64_t to = epochs) {
  Run run;
  Recorder recorder(run);
  const Data all = data();
  (void)model.fit(all.x, all.y,
                  {.batch_size = rowsOfBatch,
                   .epochs = to,
                   .verbose = 0,
                   .callbacks = {&recorder},
                   .shuffle = false,
                   .initial_epoch = from});
  run.state = stateOf(model);
  return run;
}

/// Trains by `step`, which returns the loss of a batch.
template <class F> Run stepped(const Model &model, F step, int64_t from = 0, int64_t to = steps) {
  Run run;
  for (int64_t at = from; at < to; ++at) {
    run.losses.push_back(step(batchOf(data(), at)));
    run.counters.push_back(countersOf(model));
  }
  run.state = stateOf(model);
  return run;
}
Run onBatches(const Model &model, int64_t from = 0, int64_t to = steps) {
  return stepped(model, [&](const Data &batch) { return model.train_on_batch(batch.x, batch.y)["loss"]; }, from, to);
}

/// By the definition of loss scaling, the spikes are skipped if there is a loss scale, and no other step is.
std::vector<Counters> expectedCounters(const Model &model, Scale scale, int64_t from = 0, int64_t to = steps) {
  std::vector<Counters> all;
  for (int64_t at = from; at < to; ++at) {
    scale.step(isSpike(at));
    all.push_back(countersOf(scale));
    if (scale.skipped > 0)
      all.back().fault = model.trainable_variables().at(0).path();
  }
  return all;
}

void checkFinite(const State &state) {
  for (const auto &[path, value] : state) {
    INFO(path);
    const std::vector<double> all = numbers(value);
    CHECK(std::all_of(all.begin(), all.end(), [](double each) { return std::isfinite(each); }));
  }
}

void checkSame(const Run &found, const Run &expected) {
  CHECK(found.losses == expected.losses);
  CHECK(found.counters == expected.counters);
  CHECK(difference(found.state, expected.state) == "");
}

/// The loss of a batch without a spike, without dropout.
double lossOf(const Model &model) {
  const Data batch = batchOf(data(), 0);
  return model.test_on_batch(batch.x, batch.y)["loss"];
}

/// Compares a loss computed under two policies, or in two programs. Each of the four products of the net rounds its
/// input, its weights and its result, and the mean of squares counts the errors of predictions of at most 1 twice.
void checkNear(double found, double expected, const Row &row) {
  CHECK(std::abs(found - expected) <= std::min(2 * 4 * 3 * row.roundoff, 0.125) * std::max(1.0, expected));
}

// policies 6.11, 10.1, 13.1 to 13.3, 13.6
void checkFit(const Row &row) {
  const Sequential model = net(row), again = net(row);
  const State before = stateOf(model.variables());
  for (const auto &[name, expected] : row.decided) {
    INFO(name);
    const Layer layer = model.get_layer(name);
    CHECK(layer.quantization_mode().value_or(std::string(halftone::name(layer.compute_dtype()))) == expected);
  }
  CHECK(model.loss_scale_optimizer().has_value() == row.scale.has_value());
  const Run run = fitted(model);
  CHECK(run.counters == expectedCounters(model, row.scale.value_or(Scale())));
  checkFinite(run.state);
  const State after = stateOf(model.variables());
  for (size_t i = 0; i < before.size(); ++i) {
    INFO(before[i].first);
    const bool isQuantized = row.weights == "int8" && !model.variables()[i].trainable() && // integers and scales
                             (before[i].first.starts_with("net/table") || before[i].first.starts_with("net/hidden"));
    const bool isNarrow = itemsize(after[i].second.dtype()) == 2; // a step may then be less than half an ulp of 1
    if (!isNarrow || before[i].first != "net/norm/gamma")
      CHECK((difference({after[i]}, {before[i]}) == "") == isQuantized);
  }
  checkSame(fitted(again), run);
}

void checkTrainOnBatch(const Row &row) {
  const Sequential model = net(row);
  const Run expected = fitted(net(row)), run = onBatches(model);
  CHECK(run.counters == expected.counters);
  CHECK(difference(run.state, expected.state) == "");
  double total = 0.0;
  for (size_t at = 0; at < run.losses.size(); ++at) {
    const auto place = static_cast<double>(at % batchesOfEpoch);
    total = (place == 0.0 ? 0.0 : total) + run.losses[at];
    const double mean = total / (place + 1.0); // fit() adds up to six products and divides, in float32
    CHECK(std::abs(expected.losses[at] - mean) <= 8 * 0x1p-24 * mean);
  }
}

/// Trains in a custom loop with the optimizer that compile() made.
Run looped(const Model &model, Numerics numerics) {
  const Optimizer optimizer = model.optimizer();
  const Loss squares = "mse";
  const auto step = jit(
      [=](const Value &x, const Value &y) {
        const Value loss = squares(y, model(x, {.training = true}));
        optimizer.minimize(loss, model.trainable_variables());
        return loss;
      },
      {.numerics = numerics});
  return stepped(model, [&](const Data &batch) { return double(step(batch.x, batch.y).item<float>()); });
}

// policies 13.7; in strict numerics each op is a kernel, so that a program around it has no part in its bits
void checkOwnLoop(const Row &row) {
  const Run strict = onBatches(net(row, {.numerics = Numerics::strict}));
  checkSame(looped(net(row), Numerics::strict), strict);
  const Run fast = looped(net(row), Numerics::fast);
  CHECK(fast.counters == strict.counters);
  checkFinite(fast.state);
  checkNear(fast.losses.at(0), strict.losses.at(0), row);
}

// policies 13.8; in strict numerics each op is a kernel, as for a loop
template <class Hooks> void checkHooks(const Row &row) {
  for (const int64_t accumulated : {1, 2}) {
    const NetArgs strict{.numerics = Numerics::strict, .accumulated = accumulated};
    checkSame(fitted(hooked<Hooks>(row, strict)), fitted(net(row, strict)));
  }
}

// policies 13.9; with penalties, and gradients that are clipped between unscale() and apply(): an infinite one becomes a number
void checkOwnUpdate(const Row &row) {
  const NetArgs args{.numerics = Numerics::strict, .hasPenalties = true};
  const Sequential model = net(row, args);
  const Optimizer optimizer = model.optimizer();
  const bool isScaled = row.scale.has_value();
  const auto step = jit(
      [=](const Value &x, const Value &y) {
        Value loss = Loss("mse")(y, model(x, {.training = true}));
        for (const Value &penalty : model.losses())
          loss = loss + penalty;
        const std::vector<Variable> variables = model.trainable_variables();
        std::vector<Value> all = optimizer.unscale(gradients(optimizer.scale_loss(loss), variables));
        for (Value &gradient : all)
          if (isScaled) // in float32
            gradient = ops::clip(gradient, -1e30, 1e30);
        optimizer.apply(all, variables, {.unscaled = true});
        return loss;
      },
      {.numerics = args.numerics});
  checkSame(stepped(model, [&](const Data &batch) { return double(step(batch.x, batch.y).item<float>()); }),
            onBatches(net(row, args)));
}

Optimizer innerOptimizer(const Model &model) {
  const auto scaled = model.loss_scale_optimizer();
  return scaled ? scaled->inner_optimizer() : model.optimizer();
}
/// The state without the loss scale.
State unscaledState(const Model &model) {
  State state = stateOf(model.variables());
  for (auto &each : stateOf(innerOptimizer(model).variables()))
    state.push_back(std::move(each));
  return state;
}

/// The loss scale of a net of `to` after it restored a checkpoint of `from` with these counters.
Scale restoredScale(const Row &from, const Row &to, const Counters &saved) {
  Scale scale = to.scale.value_or(Scale());
  scale.updates = saved.updates;
  if (!from.scale || !to.scale)
    return scale;
  scale.value = saved.scale;
  scale.good = saved.good;
  scale.skipped = saved.skipped;
  return scale;
}

/// Restores a checkpoint of `source`, a net of `from`, into a net of `to`, and continues training.
void checkRestoresUnder(const Row &from, const Model &source, const std::string &file, const Row &to) {
  INFO("restored under " << to.name);
  const Sequential target = net(to);
  const Checkpoint::Restored restored = Checkpoint(target).restore(file);
  CHECK(restored.epoch == 1);
  CHECK(restored.step == source.optimizer().iterations());
  State expected = unscaledState(source);
  const State found = unscaledState(target);
  REQUIRE(found.size() == expected.size());
  size_t converted = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].first == expected[i].first);
    converted += found[i].second.dtype() != expected[i].second.dtype();
    expected[i].second = expected[i].second.astype(found[i].second.dtype());
  }
  CHECK(difference(found, expected) == "");
  const size_t ofScale = from.scale.has_value() == to.scale.has_value() ? 0 : 4; // scale, counters, fault
  CHECK(restored.converted.size() == converted + ofScale);
  const Scale scale = restoredScale(from, to, countersOf(source));
  Counters counters = countersOf(scale);
  if (from.scale && to.scale)
    counters.fault = countersOf(source).fault;
  CHECK(countersOf(target) == counters);
  checkNear(lossOf(target), lossOf(source), from.roundoff > to.roundoff ? from : to);
  const Run rest = fitted(target, restored.epoch);
  CHECK(rest.counters == expectedCounters(target, scale, batchesOfEpoch));
  checkFinite(rest.state);
}

/// The next row whose nets have the same variables; the first row follows the last.
Row nextOf(const Row &row) {
  std::vector<Row> kin = rows();
  std::erase_if(kin, [&](const Row &each) { return each.weights != row.weights; });
  const auto found = std::find_if(kin.begin(), kin.end(), [&](const Row &each) { return each.name == row.name; });
  return kin.at((static_cast<size_t>(found - kin.begin()) + 1) % kin.size());
}

// docs/files.md, "Checkpoints"
void checkCheckpoint(const Row &row) {
  const TemporaryFolder folder;
  const std::string file = folder / "net.ckpt";
  const Sequential whole = net(row), resumed = net(row);
  (void)fitted(whole, 0, 1);
  Checkpoint(whole).save(file);
  checkRestoresUnder(row, whole, file, nextOf(row));
  for (const Row &other : rows())
    if (other.weights != row.weights) {
      const Sequential target = net(other);
      const State before = stateOf(target.variables());
      CHECK_THROWS_WITH(Checkpoint(target).restore(file), Contains("ValueError: Cannot restore"));
      CHECK(difference(stateOf(target.variables()), before) == "");
      break;
    }
  const Checkpoint::Restored restored = Checkpoint(resumed).restore(file);
  CHECK(restored.converted.empty());
  CHECK(countersOf(resumed) == countersOf(whole));
  CHECK(lossOf(resumed) == lossOf(whole));
  Run uninterrupted = fitted(net(row));
  uninterrupted.losses.erase(uninterrupted.losses.begin(), uninterrupted.losses.begin() + batchesOfEpoch);
  uninterrupted.counters.erase(uninterrupted.counters.begin(), uninterrupted.counters.begin() + batchesOfEpoch);
  checkSame(fitted(resumed, restored.epoch), uninterrupted);
}

// docs/files.md, ".keras"
void checkKeras(const Row &row) {
  const TemporaryFolder folder;
  const Sequential model = net(row);
  (void)fitted(model, 0, 1);
  model.save(folder / "net.keras");
  const PolicyScope scope(row.policy);
  const Model loaded = load_model(folder / "net.keras");
  REQUIRE(loaded.layers().size() == model.layers().size());
  for (size_t i = 0; i < model.layers().size(); ++i) {
    const Layer found = loaded.layers()[i], expected = model.layers()[i];
    INFO(expected.path());
    CHECK(found.path() == expected.path());
    CHECK(found.dtype_policy().name() == expected.dtype_policy().name());
    CHECK(found.compute_dtype() == expected.compute_dtype());
    CHECK(found.variable_dtype() == expected.variable_dtype());
    CHECK(found.quantization_mode() == expected.quantization_mode());
  }
  CHECK(loaded.to_json() == model.to_json());
  CHECK(difference(stateOf(loaded), stateOf(model)) == "");
  const Tensor x = data().x;
  CHECK(numbers(loaded.predict(x, {.verbose = 0})) == numbers(model.predict(x, {.verbose = 0})));
  const Counters saved = countersOf(model);
  const auto asLoaded = [&](Counters counters) { // Keras's file has no count of skipped steps
    counters.skipped -= saved.skipped;
    counters.fault = counters.skipped > 0 ? counters.fault : "";
    return counters;
  };
  CHECK(countersOf(loaded) == asLoaded(saved));
  Run expected = onBatches(model, batchesOfEpoch);
  std::transform(expected.counters.begin(), expected.counters.end(), expected.counters.begin(), asLoaded);
  checkSame(onBatches(loaded, batchesOfEpoch), expected);
}

/// The float dtype of the layer at this path under the row's policy.
DType computeOf(const Row &row, const std::string &path) {
  const PolicyScope scope(row.policy);
  const DTypePolicy policy = dtype_policy();
  const std::optional<DTypePolicyMap> map = policy.as_map();
  return (map ? (*map)[path] : policy).compute_dtype();
}

// docs/loops.md: dropout draws once before the loop, a policy map reaches the cell, a gradient that overflows in the
// loop skips the step, and a run resumed from a checkpoint has the bits of an uninterrupted run
void checkSteps(const Row &row) {
  const NetArgs args{.hasSteps = true};
  const Sequential model = net(row, args), again = net(row, args), resumed = net(row, args);
  if (row.decided.empty() || row.weights == "floats")
    CHECK(model.get_layer("steps").layers().at(0).compute_dtype() == computeOf(row, "net/steps/gru_cell"));
  const State before = stateOf(model.get_layer("steps").variables());
  const Run run = fitted(model);
  CHECK(run.counters == expectedCounters(model, row.scale.value_or(Scale())));
  checkFinite(run.state);
  const State after = stateOf(model.get_layer("steps").variables());
  for (size_t i = 0; i < before.size(); ++i) { // including the seed
    INFO(before[i].first);
    CHECK(difference({after[i]}, {before[i]}) != "");
  }
  checkSame(fitted(again), run);
  const TemporaryFolder folder;
  const Sequential half = net(row, args);
  (void)fitted(half, 0, 1);
  Checkpoint(half).save(folder / "net.ckpt");
  const Checkpoint::Restored restored = Checkpoint(resumed).restore(folder / "net.ckpt");
  CHECK(difference(fitted(resumed, restored.epoch).state, run.state) == "");
}

/// A column: a guarantee that each of its cells checks for one row.
struct Column {
  const char *promise;
  void (*check)(const Row &);
};
constexpr Column columns[] = {
    {"Under each policy fit() skips the steps that overflow, moves all weights but integers, and repeats its bits",
     checkFit},
    {"Under each policy train_on_batch() gives the bits of fit()", checkTrainOnBatch},
    {"Under each policy a loop in jit() gives the bits of train_on_batch() in strict numerics", checkOwnLoop},
    {"Under each policy a train_step() of the built-in parts gives the bits of fit() in strict numerics",
     checkHooks<OwnStep>},
    {"Under each policy a compute_loss() of compile()'s gives the bits of fit() in strict numerics",
     checkHooks<OwnLoss>},
    {"Under each policy a loop in jit() with penalties that unscales and clips gradients has the bits of "
     "train_on_batch()",
     checkOwnUpdate},
    {"Under each policy a checkpoint goes on bit by bit, and under another policy with converted values",
     checkCheckpoint},
    {"Under each policy a .keras file gives the policies, the weights and the optimizer back, and trains on",
     checkKeras},
    {"Under each policy a net with a loop draws its dropout, skips the steps that overflow in the loop, and goes on "
     "from a "
     "checkpoint bit by bit",
     checkSteps},
};

/// The test name of a failed cell is its column, and the section is its row.
template <size_t column> void checkRows() {
  for (const Row &row : rows())
    DYNAMIC_SECTION(row.name) { columns[column].check(row); }
}
template <size_t... column> bool registerColumns(std::index_sequence<column...>) {
  const auto add = [](void (*test)(), const char *promise) { REGISTER_TEST_CASE(test, promise, "[matrix]"); };
  (add(checkRows<column>, columns[column].promise), ...);
  return true;
}
const bool isRegistered = registerColumns(std::make_index_sequence<std::size(columns)>());

} // namespace
