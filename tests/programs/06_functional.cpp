// The functional API: several inputs, shared layers, several outputs, losses and metrics by name.
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

int main() {
  Input title({none}, {.dtype = int32, .name = "title"});
  Input body({none}, {.dtype = int32, .name = "body"});
  Input tags({12}, {.name = "tags"});

  Embedding embedding(1000, 64);
  auto pool = [](const Value &x) { return ops::mean(x, 1); };
  Value features = Concatenate()({pool(embedding(title)), pool(embedding(body)), tags});
  Value residual = Dense(64, {.activation = "relu"})(features);
  Value h = Dense(64, {.activation = [](const Value &x) { return x * ops::sigmoid(x); }})(residual);
  h += residual;

  auto priority = Dense(1, {.activation = "sigmoid", .name = "priority"})(h);
  auto department = Dense(4, {.name = "department"})(h);
  Model model({title, body, tags}, {priority, department}, {.name = "tickets"});

  model.compile(
      {.optimizer = optimizers::SGD(schedules::ExponentialDecay(0.1, 1000, 0.96), {.momentum = 0.9, .nesterov = true}),
       .loss = {{"priority", "binary_crossentropy"},
                {"department", losses::SparseCategoricalCrossentropy({.from_logits = true})}},
       .loss_weights = {1.0, 0.2},
       .metrics = {{"priority", {"mae"}},
                   {"department", {"accuracy", metrics::SparseTopKCategoricalAccuracy({.k = 2})}}}});

  int64_t n = 128;
  model.fit({{"title", Tensor::zeros({n, 10}, int32)},
             {"body", Tensor::zeros({n, 100}, int32)},
             {"tags", Tensor::zeros({n, 12})}},
            {{"priority", Tensor::zeros({n, 1})}, {"department", Tensor::zeros({n}, int32)}},
            {.batch_size = 32, .verbose = 0, .class_weight = {{0, 1.0}, {1, 3.0}}});
  Tensors out =
      model.predict_all({Tensor::zeros({n, 10}, int32), Tensor::zeros({n, 100}, int32), Tensor::zeros({n, 12})});
  std::cout << out[0].shape().str() << out["department"].shape().str() << "\n";
  return out[0].shape() == Shape{n, 1} && out["department"].shape() == Shape{n, 4} ? 0 : 1;
}
