// Models with hooks in several processes, compared with the built-in step and with one process; rejected calls.
// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/Ranks.h"
#include "tests/frontend/BuiltInHooks.h"
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <string>

using namespace halftone;
using namespace halftone::test;

namespace {

bool isSharded = false;
void distributeRun(bool isTogether) {
  distribute(isTogether, {.check_weights_every = 1, .shard_optimizer_state = isSharded});
}

constexpr int64_t rows = 25; // batches of 8, 8, 8 and 1: in the last one a process has no rows
Tensor inputs() {
  std::vector<float> x;
  for (int64_t i = 0; i < rows * 3; ++i)
    x.push_back(0.1f * static_cast<float>((i * i * 7 + i) % 19 - 9));
  return Tensor(std::move(x), {rows, 3});
}
Tensor targets() {
  std::vector<float> y;
  for (int64_t i = 0; i < rows; ++i)
    y.push_back(0.3f * static_cast<float>(i % 5 - 2));
  return Tensor(std::move(y), {rows, 1});
}
Tensor weights() {
  std::vector<float> w;
  for (int64_t i = 0; i < rows; ++i)
    w.push_back(0.5f + static_cast<float>(i % 3));
  return Tensor(std::move(w), {rows});
}

struct Net {
  layers::Dense hidden{16, {.activation = "tanh", .kernel_regularizer = regularizers::L2(0.01)}};
  layers::Dense head{1, {.activity_regularizer = regularizers::L2(0.02)}};
  Net() { set_random_seed(5); }
  Value call(const Value &x) const { return head(hidden(x)); }
};
struct Stepped : BuiltInTestStep<BuiltInTrainStep<Net>> {};
struct OwnLoss : BuiltInLoss<Net> {};
struct Gradients : BuiltInTrainStepByParts<Net> {};
/// A loss of compile(), a loss term of its own, and reported values.
struct Mixed : Net {
  double factor = 0.1;
  std::string name = "size";
  Value compute_loss(const StepContext &step, const StepData &data, const Values &predicted) const {
    const Value size = ops::mean(ops::abs(predicted[0]));
    step.report(name, size);
    step.report("x", ops::mean(data.x[0]));
    return step.compute_loss(data, predicted) + factor * size;
  }
};
struct Owner : Net {
  Optimizer own = optimizers::SGD(0.1);
  bool isCompiled = false;
  void train_step(const StepContext &step, const StepData &data) const {
    (isCompiled ? step.optimizer() : own)
        .minimize(step.compute_loss(data, step.call(data.x)), step.model().trainable_variables());
  }
};

namespace with {
struct Same : OwnLoss {};
} // namespace with
namespace without {
struct Same : Net {};
} // namespace without

struct Found {
  std::vector<double> logs;
  std::vector<std::vector<float>> weights;
};
Found fitted(const Model &model, const Loss &loss, const Optimizer &optimizer, bool isTogether) {
  distributeRun(isTogether);
  model.compile({.optimizer = optimizer, .loss = loss, .metrics = {"mae"}, .numerics = Numerics::strict});
  const History history = model.fit(
      inputs(), targets(), {.batch_size = 8, .epochs = 2, .verbose = 0, .shuffle = false, .sample_weight = weights()});
  Found found;
  for (const std::string &key : history.keys())
    for (double value : history[key])
      found.logs.push_back(value);
  for (const auto &[name, value] : model.evaluate(inputs(), targets(), {.batch_size = 8, .verbose = 0}))
    found.logs.push_back(value);
  for (const Tensor &weight : model.get_weights())
    found.weights.push_back(weight.astype(float32).to_vector<float>());
  return found;
}
double furthest(const Found &a, const Found &b) {
  require(a.logs.size() == b.logs.size(), "other logs");
  double most = 0;
  for (size_t i = 0; i < a.logs.size(); ++i)
    most = std::max(most, std::abs(a.logs[i] - b.logs[i]));
  for (size_t i = 0; i < a.weights.size(); ++i)
    for (size_t j = 0; j < a.weights[i].size(); ++j)
      most = std::max(most, double(std::abs(a.weights[i][j] - b.weights[i][j])));
  return most;
}

Optimizer adam() { return optimizers::Adam(0.01); }

/// Hooks made of the built-in parts are bit-identical to the built-in step, whatever the rows of each process.
template <class T> void checkBits(const char *what, const std::string &policy, const Loss &loss) {
  const PolicyScope scope(policy);
  const Found expected = fitted(Model(Net(), {.name = "net"}), loss, adam(), true);
  const Found found = fitted(Model(T(), {.name = "net"}), loss, adam(), true);
  require(found.logs == expected.logs && found.weights == expected.weights,
          fmt::format("{} under {} differs from the built-in step by {}", what, policy, furthest(found, expected)));
  say(fmt::format("{} under {}: same bits", what, policy));
}
/// With a loss term of its own, the loss and the reported values equal those of one process.
void checkAgainstOne(const Loss &loss) {
  const Found alone = fitted(Model(Mixed(), {.name = "net"}), loss, optimizers::SGD(0.05), false);
  const Found together = fitted(Model(Mixed(), {.name = "net"}), loss, optimizers::SGD(0.05), true);
  require(furthest(together, alone) < 2e-5, fmt::format("{} differs from one process by {}: {} and {}", loss.name(),
                                                        furthest(together, alone), together.logs, alone.logs));
  say(fmt::format("{}: as in one process", loss.name()));
}

void expect(const std::string &text, const Model &model) {
  distributeRun(true);
  std::string error;
  try {
    model.compile({.optimizer = adam(), .loss = "mse"});
    (void)model.fit(inputs(), targets(), {.batch_size = 8, .verbose = 0});
  } catch (const Error &thrown) {
    error = thrown.what();
  }
  require(error.find(text) != error.npos, fmt::format("expected '{}', got '{}'", text, error));
  say("refused: " + text);
}
void checkRefusals() {
  const bool isOther = distribution::rank() == 1;
  Owner compiled;
  compiled.isCompiled = true;
  expect("NotImplementedError: The optimizer 'SGD' would update variables with the gradients of one process",
         Model(Owner(), {.name = "net"}));
  expect("only `step.minimize()`", Model(compiled, {.name = "net"}));
  Mixed factor, name;
  if (isOther) {
    factor.factor = 0.2;
    name.name = "other";
  }
  expect("The processes of this run do not agree", Model(factor, {.name = "net"}));
  expect("The processes of this run do not agree", Model(name, {.name = "net"}));
  expect("layer 'net': compute_loss() its own, rank 1 has layer 'net': compute_loss() none",
         isOther ? Model(without::Same(), {.name = "net"}) : Model(with::Same(), {.name = "net"}));
}

} // namespace

int main(int argc, char **) {
  try {
    isSharded = argc > 1;
    distributeRun(true);
    const losses::MeanSquaredError sum({.reduction = "sum"}), mean, weighted({.reduction = "mean_with_sample_weight"});
    for (const std::string policy : {"float32", "mixed_float16"}) {
      checkBits<Stepped>("train_step()", policy, mean);
      checkBits<OwnLoss>("compute_loss()", policy, mean);
    }
    checkBits<Stepped>("train_step() of a sum", "float32", sum);
    checkBits<OwnLoss>("compute_loss() of a joined loss", "float32", losses::Dice());
    checkBits<Gradients>("gradients()", "float32", mean);
    if (isSharded)
      return 0;
    for (const Loss &loss : {Loss(mean), Loss(weighted)})
      checkAgainstOne(loss);
    checkRefusals();
    return 0;
  } catch (const std::exception &error) {
    say(fmt::format("error {}", error.what()));
    return 2;
  }
}
