// Whether a mixed policy is ever slower than float32: every kind of layer, forward and trained, at every batch size.
// SPDX-License-Identifier: Apache-2.0
#include "Mlp.h"
#include "Race.h"
#include "Table.h"
#include <algorithm>
#include <fmt/format.h>
#include <functional>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int64_t width = 512;

struct Kind {
  std::string name;
  std::function<Layer()> make;
};

std::vector<Kind> kinds() {
  using namespace layers;
  return {{"Dense", [] { return Dense(width); }},
          {"Dense relu", [] { return Dense(width, {.activation = "relu"}); }},
          {"Dense gelu", [] { return Dense(width, {.activation = "gelu"}); }},
          {"Activation tanh", [] { return Activation("tanh"); }},
          {"ReLU", [] { return ReLU(); }},
          {"Softmax", [] { return Softmax(); }},
          {"Dropout", [] { return Dropout(0.5); }},
          {"Rescaling", [] { return Rescaling(1.0 / 255); }},
          {"Flatten", [] { return Flatten(); }},
          {"Reshape", [] { return Reshape({2, width / 2}); }}};
}

/// The layer after a Dense, so that it has a gradient to pass on, and flattened for the loss.
Sequential around(const Kind &kind, const std::string &policy) {
  set_random_seed(1);
  set_dtype_policy(policy);
  Sequential model({Input({width}), layers::Dense(width), kind.make(), layers::Flatten()});
  set_dtype_policy("float32");
  model.compile({.optimizer = optimizers::SGD(0.01), .loss = losses::MeanSquaredError(), .auto_scale_loss = false});
  return model;
}

Tensor inputs(int64_t batch) {
  const Batch data = images(batch);
  const std::vector<float> all = data.x[0].to_vector<float>();
  return Tensor(std::vector<float>(all.begin(), all.begin() + batch * width), {batch, width});
}

/// Also float32 against another float32 model: what the ratios of equals are in this run.
struct Ratios {
  std::vector<double> mixed, equal;
};

void compare(Table &table, Ratios &ratios, const std::string &what,
             const std::function<std::function<void()>(const std::string &)> &work) {
  const std::vector<const char *> policies = {"float32", "float32", "mixed_bfloat16", "mixed_float16"};
  const auto name = [&](const char *policy) { return fmt::format("{}, {}", what, policy); };
  if (std::none_of(policies.begin(), policies.end(), [&](const char *policy) { return table.wants(name(policy)); }))
    return;
  std::vector<Contestant> field;
  for (const char *policy : policies)
    field.push_back(contestant(policy, work(policy)));
  const std::vector<double> seconds = race(field, 15, 0.01);
  ratios.equal.push_back(seconds[0] / seconds[1]);
  for (size_t i = 2; i < policies.size(); ++i) {
    ratios.mixed.push_back(seconds[0] / seconds[i]);
    table.add({name(policies[i]), milliseconds(seconds[i]), "float32 " + milliseconds(seconds[0]), ratios.mixed.back(), 0.95,
               1.1});
  }
}

void run(Table &table) {
  Ratios ratios;
  for (int64_t batch : {1, 8, 32, 128, 512}) {
    const Tensor x = inputs(batch);
    for (const Kind &kind : kinds()) {
      compare(table, ratios, fmt::format("{} forward, batch {}", kind.name, batch), [&](const std::string &policy) {
        return [model = around(kind, policy), x] { (void)model.predict_on_batch(x); };
      });
      compare(table, ratios, fmt::format("{} train step, batch {}", kind.name, batch), [&](const std::string &policy) {
        return [model = around(kind, policy), x] { model.train_on_batch(x, x); };
      });
    }
    const Batch data = images(batch);
    compare(table, ratios, fmt::format("MLP train step, batch {}", batch), [&](const std::string &policy) {
      return [model = mlp(policy), data] { model.train_on_batch(data.x, data.y); };
    });
  }
  if (ratios.mixed.empty())
    return;
  const auto [worst, best] = std::minmax_element(ratios.equal.begin(), ratios.equal.end());
  table.add({"mixed policies, all of the above: worst", "-", "float32",
             *std::min_element(ratios.mixed.begin(), ratios.mixed.end()), 0.95, 1.1});
  table.add({"mixed policies, all of the above: geometric mean", "-", "float32", geometricMean(ratios.mixed)});
  table.add({"float32 against itself: worst", "-", "float32", *worst});
  table.add({"float32 against itself: best", "-", "float32", *best});
}

} // namespace

int main() { return runProgram("policies", "mixed policies against our float32", run); }
