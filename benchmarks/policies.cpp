// Whether a mixed policy is ever slower than float32: every kind of layer, forward and trained, at every batch size.
// SPDX-License-Identifier: Apache-2.0
#include "Mlp.h"
#include "Race.h"
#include "Table.h"
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

void compare(Table &table, const std::string &what, const std::function<std::function<void()>(const std::string &)> &work) {
  const std::vector<const char *> policies = {"float32", "mixed_bfloat16", "mixed_float16"};
  std::vector<Contestant> field;
  for (const char *policy : policies)
    field.push_back(contestant(policy, work(policy)));
  const std::vector<double> seconds = race(field, 7, 0.01);
  for (size_t i = 1; i < policies.size(); ++i)
    table.add({fmt::format("{}, {}", what, policies[i]), milliseconds(seconds[i]), "float32 " + milliseconds(seconds[0]),
               seconds[0] / seconds[i], 0.95, 1.1});
}

void run(Table &table) {
  for (int64_t batch : {1, 8, 32, 128, 512}) {
    const Tensor x = inputs(batch);
    for (const Kind &kind : kinds()) {
      compare(table, fmt::format("{} forward, batch {}", kind.name, batch), [&](const std::string &policy) {
        return [model = around(kind, policy), x] { (void)model.predict_on_batch(x); };
      });
      compare(table, fmt::format("{} train step, batch {}", kind.name, batch), [&](const std::string &policy) {
        return [model = around(kind, policy), x] { model.train_on_batch(x, x); };
      });
    }
    const Batch data = images(batch);
    compare(table, fmt::format("MLP train step, batch {}", batch), [&](const std::string &policy) {
      return [model = mlp(policy), data] { model.train_on_batch(data.x, data.y); };
    });
  }
  double worst = 1e9;
  std::vector<double> ratios;
  for (const Row &row : table.rows()) {
    ratios.push_back(*row.ratio);
    worst = std::min(worst, *row.ratio);
  }
  table.add({"mixed policies, all of the above: worst", "-", "float32", worst, 0.95, 1.1});
  table.add({"mixed policies, all of the above: geometric mean", "-", "float32", geometricMean(ratios)});
}

} // namespace

int main() { return runProgram("policies", "mixed policies against our float32", run); }
