// Checks that no mixed policy is slower than float32: every kind of layer, forward and trained, at every batch size.
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
  std::function<Value(const Value &)> call;
};

Kind kind(const char *name, const std::function<Layer()> &make) {
  return {name, [make](const Value &x) { return make()(x); }};
}
Kind merging(const char *name, const std::function<Layer()> &make) {
  return {name, [make](const Value &x) { return make()({x, layers::ReLU()(x)}); }};
}

/// The kinds of layers, timed for the layer's own work: Dense(512) comes before each layer but the embedding.
std::vector<Kind> kinds() {
  using namespace layers;
  return {kind("Dense", [] { return Dense(width); }),
          kind("Dense relu", [] { return Dense(width, {.activation = "relu"}); }),
          kind("Dense gelu", [] { return Dense(width, {.activation = "gelu"}); }),
          kind("LayerNormalization", [] { return LayerNormalization(); }),
          kind("GroupNormalization", [] { return GroupNormalization({.groups = 8}); }),
          kind("BatchNormalization", [] { return BatchNormalization(); }),
          kind("RMSNormalization", [] { return RMSNormalization(); }),
          kind("UnitNormalization", [] { return UnitNormalization(); }),
          kind("Activation tanh", [] { return Activation("tanh"); }),
          kind("ReLU", [] { return ReLU(); }),
          kind("Softmax", [] { return Softmax(); }),
          kind("Dropout", [] { return Dropout(0.5); }),
          kind("GaussianNoise", [] { return GaussianNoise(0.1); }),
          kind("Rescaling", [] { return Rescaling(1.0 / 255); }),
          kind("Flatten", [] { return Flatten(); }),
          kind("Reshape", [] { return Reshape({2, width / 2}); }),
          merging("Add", [] { return Add(); }),
          merging("Multiply", [] { return Multiply(); }),
          merging("Concatenate", [] { return Concatenate(); })};
}

/// Places a Dense before the layer, so that the layer has a gradient to propagate, and a Flatten after it for the loss.
Model around(const Kind &kind, const std::string &policy) {
  set_random_seed(1);
  set_dtype_policy(policy);
  const Input x({width});
  const Model model({x}, {layers::Flatten()(kind.call(layers::Dense(width)(x)))});
  set_dtype_policy("float32");
  model.compile({.optimizer = optimizers::SGD(0.01), .loss = losses::MeanSquaredError(), .auto_scale_loss = false});
  return model;
}

/// A vocabulary of 1000 words with 32 elements each, 16 words per sample.
Model embedding(const std::string &policy) {
  set_random_seed(1);
  set_dtype_policy(policy);
  const Model model =
      Sequential({Input({16}, {.dtype = DType::int32}), layers::Embedding(1000, 32), layers::Flatten()});
  set_dtype_policy("float32");
  model.compile({.optimizer = optimizers::SGD(0.01), .loss = losses::MeanSquaredError(), .auto_scale_loss = false});
  return model;
}

Tensor inputs(int64_t batch) {
  const Batch data = images(batch);
  const std::vector<float> all = data.x[0].to_vector<float>();
  return Tensor(std::vector<float>(all.begin(), all.begin() + batch * width), {batch, width});
}

Tensor words(int64_t batch) {
  std::vector<int32_t> ids(static_cast<size_t>(batch * 16));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>(i * 7919 % 1000);
  return Tensor(std::move(ids), {batch, 16});
}

/// `equal` has the ratios of two float32 models: the variation of equal work in this run.
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
    table.add({name(policies[i]), milliseconds(seconds[i]), "float32 " + milliseconds(seconds[0]), ratios.mixed.back(),
               0.95, 1.1});
  }
}

void compareModels(Table &table, Ratios &ratios, const std::string &name, int64_t batch,
                   const std::function<Model(const std::string &)> &make, const Tensor &x) {
  compare(table, ratios, fmt::format("{} forward, batch {}", name, batch),
          [&](const std::string &policy) { return [model = make(policy), x] { (void)model.predict_on_batch(x); }; });
  compare(table, ratios, fmt::format("{} train step, batch {}", name, batch), [&](const std::string &policy) {
    const Model model = make(policy);
    const Shape shape = model.predict_on_batch(x).shape();
    const Tensor y(std::vector<float>(static_cast<size_t>(shape.elements()), 0.5f), shape);
    return [model, x, y] { model.train_on_batch(x, y); };
  });
}

void run(Table &table) {
  Ratios ratios;
  for (int64_t batch : {1, 8, 32, 128, 512}) {
    const Tensor x = inputs(batch);
    for (const Kind &kind : kinds())
      compareModels(
          table, ratios, kind.name, batch, [&](const std::string &policy) { return around(kind, policy); }, x);
    compareModels(table, ratios, "Embedding", batch, embedding, words(batch));
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
