// Compares weights after steps of several processes with the interpreter's intervals for the steps of one process.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Halftone.h"
#include "tools/halftone-run/Interpretation.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

using namespace halftone;
using namespace halftone::layers;
using dialect::TensorData;

namespace {

constexpr int64_t rows = 12, width = 6;

/// Rank 0 prints.
void say(const std::string &text) {
  if (distribution::rank() > 0)
    return;
  const std::string line = fmt::format("0: {}\n", text);
  (void)!::write(STDOUT_FILENO, line.data(), line.size());
}

Sequential modelOf(const std::string &policy, const std::string &net) {
  set_random_seed(5);
  set_dtype_policy(policy);
  Sequential model({Input({width})});
  if (net == "cnn") {
    model.add(Reshape({3, 2, 1}));
    model.add(Conv2D(4, {2, 2}, {.padding = Padding::same, .activation = "tanh"}));
    model.add(Flatten());
  }
  model.add(Dense(8, {.activation = "tanh"}));
  model.add(Dense(3));
  // With a scale of 256 no step overflows. If a step overflowed in the sum of the processes alone, the steps would
  // differ.
  Optimizer optimizer = optimizers::SGD(0.05, {.momentum = 0.9});
  if (policy == "mixed_float16")
    optimizer = optimizers::LossScaleOptimizer(optimizer, {.initial_scale = 256});
  model.compile({.optimizer = optimizer, .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  return model;
}

struct Data {
  Tensor x, y;
};
Data batchOf(int64_t step) {
  std::vector<float> x;
  std::vector<int32_t> y;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < width; ++i)
      x.push_back(std::sin(static_cast<float>((step * rows + row) * width + i) * 1.3f));
    y.push_back(x[static_cast<size_t>(row * width)] > 0.3f ? 2 : x[static_cast<size_t>(row * width + 1)] > 0 ? 1 : 0);
  }
  return {Tensor(x, Shape({rows, width})), Tensor(y, Shape({rows}))};
}

/// The training step of one process, run by the interpreter.
class Reference {
public:
  explicit Reference(const Model &trained) : file_(read(trained)) {
    module_ = tools::interpretableModule(*file_.module, file_.stage).valueOrThrow();
    std::vector<Variable> variables = trained.variables();
    for (const Variable &variable : trained.optimizer().impl()->allVariables())
      variables.push_back(variable);
    for (const Variable &variable : variables)
      byPath_.emplace(variable.path(), variable);
  }

  /// The current values of the trained model's variables; zeros for variables of metrics.
  dialect::VariableValues values() const {
    dialect::VariableValues values;
    for (const tools::DeclaredVariable &each : file_.variables) {
      const auto found = byPath_.find(each.path);
      values[each.symbol] = tools::toData(
          file_.context.get(),
          found == byPath_.end() ? Tensor::zeros(Shape(each.type.shape), each.type.dtype) : found->second.value());
    }
    return values;
  }

  /// Replaces `values` by intervals of the values after the step.
  void step(const Data &data, dialect::VariableValues &values) const {
    std::vector<TensorData> feeds;
    for (const Tensor &feed : {data.x, data.y})
      feeds.push_back(tools::toData(file_.context.get(), feed));
    dialect::interpret(*module_, feeds, values, {.intervals = true}).valueOrThrow();
  }

  struct Result {
    int64_t elements = 0, outside = 0;
    double width = 0,
           excess = 0; // the widest interval; the largest excess, relative to the widest of its variable
    void add(const Result &other) {
      elements += other.elements;
      outside += other.outside;
      width = std::max(width, other.width);
      excess = std::max(excess, other.excess);
    }
  };
  /// Compares the weights of the trained model with intervals.
  Result compare(const dialect::VariableValues &intervals) const {
    Result result;
    for (const tools::DeclaredVariable &each : file_.variables)
      if (each.role == dialect::VariableRole::weight)
        add(tools::toData(file_.context.get(), byPath_.at(each.path).value()), intervals.at(each.symbol), result);
    return result;
  }

private:
  static tools::ModuleFile read(const Model &model) {
    return tools::parseModule(model.ir(Stage::graph, {.program = Program::train, .batch_size = rows}), "step")
        .valueOrThrow();
  }
  static void add(const TensorData &actual, const TensorData &interval, Result &result) {
    double widest = 0, excess = 0;
    for (int64_t i = 0; i < actual.size(); ++i) {
      const auto at = static_cast<size_t>(i);
      const double low = interval.low[at], high = interval.high[at], x = actual.low[at];
      ++result.elements;
      widest = std::max(widest, std::isnan(high - low) ? std::numeric_limits<double>::infinity() : high - low);
      if (interval.contains(actual, i))
        continue;
      ++result.outside;
      excess = std::max({excess, low - x, x - high});
    }
    result.width = std::max(result.width, widest);
    if (excess > 0)
      result.excess = std::max(result.excess, excess / widest);
  }

  tools::ModuleFile file_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::map<std::string, Variable> byPath_;
};

/// Runs 200 steps. Each step starts from point intervals, the current weights. In addition, one interval is carried
/// through all steps until it is wider than 1.
void compare(const std::string &policy, const std::string &net) {
  distribution::set_distribution(std::nullopt);
  const Sequential together = modelOf(policy, net);
  together.train_on_batch(batchOf(0).x, batchOf(0).y); // each process alone: creates the optimizer's variables
  const Reference reference(together);
  distribution::set_distribution(distribution::DataParallel());
  const bool isFirst = distribution::rank() == 0;
  dialect::VariableValues carried = reference.values();
  Reference::Result all, carry;
  int64_t carriedSteps = 0;
  bool isCarried = isFirst;
  for (int64_t step = 1; step <= 200; ++step) {
    const Data data = batchOf(step);
    dialect::VariableValues values = reference.values();
    together.train_on_batch(data.x, data.y);
    if (!isFirst)
      continue;
    reference.step(data, values);
    const Reference::Result one = reference.compare(values);
    all.add(one);
    if (!isCarried)
      continue;
    reference.step(data, carried);
    const Reference::Result now = reference.compare(carried);
    isCarried = now.width < 1;
    if (!isCarried)
      continue;
    carriedSteps = step;
    carry.add(now);
  }
  say(fmt::format("{} {} step by step: {} of {} outside, by {:.2f} widths, widest {:.2g}", policy, net, all.outside,
                  all.elements, all.excess, all.width));
  say(fmt::format("{} {} carried for {} steps: {} of {} outside, by {:.2f} widths, widest {:.2g}", policy, net,
                  carriedSteps, carry.outside, carry.elements, carry.excess, carry.width));
}

} // namespace

int main(int argc, char **argv) {
  try {
    distribution::set_distribution(distribution::DataParallel());
    for (int i = 1; i + 1 < argc; i += 2)
      compare(argv[i], argv[i + 1]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
