// Compares the rows of the feature matrix in several processes with one process: losses, scale, counters, weights.
// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/Matrix.h"
#include "runtime/base/Sha256.h"
#include "tests/distributed/Ranks.h"
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <string_view>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::matrix;

namespace {

void requireSame(const State &found, const State &expected, const std::string &text) {
  const std::string first = difference(found, expected);
  require(first.empty(), text + ": " + first);
}

constexpr int64_t steps = 2 * batchesOfEpoch;

struct Run {
  std::vector<double> losses;
  std::vector<Counters> counters;
  State before, after;
};
Run onBatches(const Model &model, bool isTogether) {
  distribute(isTogether);
  Run run;
  run.before = stateOf(model.weights());
  const Data all = data();
  for (int64_t step = 0; step < steps; ++step) {
    const Data batch = batchOf(all, step);
    run.losses.push_back(model.train_on_batch(batch.x, batch.y)["loss"]);
    run.counters.push_back(countersOf(model));
  }
  run.after = stateOf(model.weights());
  return run;
}

double largestDifference(const Tensor &a, const Tensor &b) {
  const std::vector<double> left = numbers(a), right = numbers(b);
  double largest = 0.0;
  for (size_t i = 0; i < left.size(); ++i)
    if (const double each = std::abs(left[i] - right[i]); !(each <= largest)) // NaN too
      largest = each;
  return largest;
}

double largest(const Tensor &a) { return largestDifference(a, Tensor::zeros(a.shape(), float64)); }

/// The maximum difference between a weight in several processes and in one process. A gradient passes the roundings of
/// four products forward and backward, of three values each, and of the sum over processes. The error relative to the
/// change of the weight has the same bound, at most an eighth. Both runs also round the weight in each step.
double errorBound(const Row &row, const Tensor &after, double way) {
  const DType dtype = after.dtype();
  const double rounding = dtype == float16 ? 0x1p-11 : dtype == bfloat16 ? 0x1p-8 : 0x1p-24;
  return std::min(25 * row.roundoff, 0.125) * way + 2 * steps * rounding * largest(after);
}

/// Two processes and one: equal counters, and losses and weights that differ by roundings.
void checkAgainstOne(const Row &row, const NetArgs &args) {
  const Run alone = onBatches(net(row, args), false), together = onBatches(net(row, args), true);
  for (size_t step = 0; step < alone.counters.size(); ++step) {
    require(together.counters[step] == alone.counters[step],
            fmt::format("step {} ends with {}, in one process with {}", step, together.counters[step].str(),
                        alone.counters[step].str()));
    require(std::abs(together.losses[step] - alone.losses[step]) <=
                std::min(25 * row.roundoff, 0.125) * std::max(1.0, alone.losses[step]),
            fmt::format("step {} has the loss {}, in one process {}", step, together.losses[step], alone.losses[step]));
  }
  require(together.counters.back().skipped == (row.scale ? 2 : 0), "the spikes were not skipped");
  double largestShare = 0.0;
  for (size_t i = 0; i < alone.after.size(); ++i) {
    const auto &[path, found] = together.after[i];
    if (path.find("outputs_grad") != path.npos) // float8: the gradient in a process is that of the mean of its own rows
      continue;
    const double way = largestDifference(alone.after[i].second, alone.before[i].second),
                 error = largestDifference(found, alone.after[i].second);
    require(error <= errorBound(row, found, way), fmt::format("{} differs by {} after a way of {}", path, error, way));
    largestShare = std::max(largestShare, way > 0.0 ? error / way : 0.0);
  }
  say(fmt::format("{}: weights differ by {:.2g} of their ways", row.name, largestShare));
}

/// Two processes, and one process that accumulates two parts of each batch, get bit-identical weights. Under float16
/// and bfloat16 gradients may stay wider than 16 bits unless numerics are strict.
void checkAgainstParts(const Row &row) {
  const bool isNarrow = row.name == "float16" || row.name == "bfloat16";
  NetArgs args{
      .numerics = isNarrow ? Numerics::strict : Numerics::fast, .hasOwnRandoms = false, .hasStatistics = false};
  const auto fit = [&](const Model &model, int64_t batch) {
    const Data all = data(false);
    (void)model.fit(all.x, all.y, {.batch_size = batch, .epochs = 2, .verbose = 0, .shuffle = false});
    return stateOf(model.weights());
  };
  distribute(true);
  const State together = fit(net(row, args), rowsOfBatch);
  distribute(false);
  args.accumulated = 2;
  Row parts = row;
  if (parts.scaling)
    parts.scaling->dynamic_growth_steps *= 2;
  const State accumulated = fit(net(parts, args), rowsOfBatch / 2);
  distribute(true);
  requireSame(together, accumulated, "against one process that accumulates");
  say(row.name + ": same bits");
}

/// Hooks that repeat the built-in step give its losses, counters and weights, bit by bit.
template <class Hooks> void checkHooks(const Row &row) {
  const NetArgs args{.numerics = Numerics::strict, .hasOwnRandoms = false};
  const Run expected = onBatches(net(row, args), true), found = onBatches(hooked<Hooks>(row, args), true);
  require(found.losses == expected.losses, "losses differ from the built-in step's");
  require(found.counters == expected.counters, "counters differ from the built-in step's");
  requireSame(found.after, expected.after, "against the built-in step");
}

/// Dropout, and statistics over each process's own rows: all processes end with the same state, and so do two runs.
void checkAgain(const Row &row) {
  const NetArgs args{.isSynchronized = false};
  const Sequential first = net(row, args), second = net(row, args);
  (void)onBatches(first, true);
  (void)onBatches(second, true);
  requireSame(stateOf(second), stateOf(first), "a second run");
  std::string bytes;
  for (const auto &[path, value] : stateOf(first))
    for (double each : numbers(value))
      bytes.append(reinterpret_cast<const char *>(&each), sizeof(double));
  say(fmt::format("{}: same state {}", row.name, sha256(bytes)));
}

/// Counts rows from 3 on, and subtracts targets: a user-defined metric whose result covers the rows of all processes.
struct Seen {
  Variable rows{}, targets{};
  void build(MetricContext &m) {
    rows = m.add_variable({.initializer = initializers::Constant(3.0), .dtype = int32, .name = "rows"});
    targets = m.add_variable({.shape = {2}, .name = "targets"});
  }
  void update_state(const Value &y, const Value &, const Value &weight) const {
    rows.assign_add(y.shape()[0]);
    targets.assign_sub(ops::sum(weight.defined() ? y * ops::reshape(weight, y.shape()) : y)); // each element
  }
  Value result() const { return ops::cast(rows, float32) + ops::sum(targets); }
};
/// Keeps the last target, which is not a sum over processes.
struct Last {
  Variable last{};
  void build(MetricContext &m) { last = m.add_variable(); }
  void update_state(const Value &y, const Value &) const { last.assign(ops::max(y)); }
  Value result() const { return last; }
};

/// The logs of 17 rows in batches of 8; in the last batch the second process has no rows.
std::vector<double> logsOfMetrics(const Row &row, bool isTogether, bool isTraining) {
  distribute(isTogether);
  const Sequential model = net(row, {.hasOwnRandoms = false});
  model.compile({.optimizer = sgd(),
                 .loss = "mse",
                 .metrics = {Seen{}, "mae"},
                 .weighted_metrics = {Metric(Seen{}, {.name = "weighed"})}});
  const Data all = data(false);
  const Tensor x = all.x.slice(0, 17), y = all.y.slice(0, 17), weight = Tensor::full({17}, 0.5);
  if (!isTraining) {
    const Logs logs = model.evaluate(x, y, {.batch_size = 8, .verbose = 0, .sample_weight = weight});
    return {logs["seen"], logs["weighed"]};
  }
  const History history =
      model.fit(x, y, {.batch_size = 8, .epochs = 2, .verbose = 0, .shuffle = false, .sample_weight = weight});
  return {history["seen"][1], history["weighed"][1]};
}
void checkMetrics(const Row &row) {
  for (const bool isTraining : {false, true}) {
    const std::vector<double> alone = logsOfMetrics(row, false, isTraining),
                              together = logsOfMetrics(row, true, isTraining);
    for (size_t i = 0; i < alone.size(); ++i)
      require(std::abs(together[i] - alone[i]) < 1e-4,
              fmt::format("metric {} is {}, in one process {}", i, together[i], alone[i]));
    const Tensor targets = data(false).y.slice(0, 17);
    double sum = 0.0;
    for (const double target : numbers(targets))
      sum += target;
    require(std::abs(alone[0] - (20.0 - 2.0 * sum)) < 1e-4, fmt::format("one process counts {}", alone[0]));
    require(std::abs(alone[1] - (20.0 - sum)) < 1e-4, fmt::format("one process weighs {}", alone[1]));
  }
  const Sequential model = net(row, {.hasOwnRandoms = false});
  model.compile({.optimizer = sgd(), .loss = "mse", .metrics = {Last{}}});
  const Data all = data(false);
  std::string refusal;
  try {
    (void)model.evaluate(all.x, all.y, {.verbose = 0});
  } catch (const Error &error) {
    refusal = std::string(name(error.kind())) + error.message();
  }
  require(refusal.starts_with("NotImplementedError") && refusal.find("metric 'last'") != refusal.npos &&
              refusal.find("assign_add()") != refusal.npos,
          "a plain assignment is not refused: " + refusal);
  say(row.name + ": same metrics");
}

int run(std::string_view what) {
  int code = 0;
  for (const Row &row : rows())
    try {
      if (what == "one")
        checkAgainstOne(row, {.hasOwnRandoms = false});
      else if (what == "steps")
        checkAgainstOne(row, {.hasOwnRandoms = false, .hasSteps = true});
      else if (what == "parts")
        checkAgainstParts(row);
      else if (what == "metrics" && (row.name == "float32" || row.name == "mixed_float16" || row.name == "bfloat16"))
        checkMetrics(row);
      else if (what == "metrics")
        continue;
      else if (what == "hooks") {
        checkHooks<OwnStep>(row);
        checkHooks<OwnLoss>(row);
        say(row.name + ": the bits of the built-in step");
      } else
        checkAgain(row);
    } catch (const Error &error) {
      distribute(true);
      say(fmt::format("error {}: {}", row.name, error.what()));
      code = 3;
    }
  return code;
}

} // namespace

int main(int argc, char **argv) {
  try {
    distribute(true);
    return run(argc > 1 ? argv[1] : "");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
