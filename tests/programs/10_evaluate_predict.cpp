// evaluate, predict, batches, and data from vectors, spans, files and generators.
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

struct Printer : Callback {
  void on_epoch_end(int64_t epoch, Logs &logs) override { std::cout << epoch << " " << logs.str() << "\n"; }
};

int main() {
  Sequential model({Input({3}), Dense(2, {.activation = "softmax"})});
  model.compile({.loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});

  std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  Tensor x({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor copied(std::span<const float>(rows), {rows.size() / 3, 3});
  Tensor taken(std::vector<float>(rows), {2, 3});
  Tensor lent = Tensor::borrow(std::span(rows), {2, 3});
  Tensor y = Tensor::of<int32_t>({0, 1}, {2});
  taken.save_npy("x.npy");

  Logs logs = model.evaluate(x, y, {.verbose = 0});
  std::cout << logs["loss"] << " " << logs["accuracy"] << "\n";
  Tensor p = model.predict(x, {.batch_size = 1, .verbose = 0});
  for (float v : p.span<float>())
    std::cout << v << " ";
  std::cout << p.argmax().item<int64_t>() << " " << model(Tensor::load_npy("x.npy")).shape().str() << "\n";
  if (p.to_vector<float>() != model.predict(lent, {.batch_size = 2, .verbose = 0}).to_vector<float>())
    return 1;

  auto epoch_of = [=] {
    return [=, i = 0]() mutable -> std::optional<Batch> {
      if (i++ == 10)
        return std::nullopt;
      return Batch{.x = x, .y = y};
    };
  };
  Printer printer;
  callbacks::LambdaCallback rate({.on_epoch_end = [](int64_t, Logs &l) { l.set("lr", 0.1); }});
  History history = model.fit(Dataset::from_generator(epoch_of, 10),
                              {.epochs = 2, .verbose = 0, .callbacks = {&printer, &rate}, .validation_data = {x, y}});
  model.fit(x, y, {.verbose = 0, .validation_data = Dataset(x, y).batch(2)});
  Logs batch_logs = model.train_on_batch(x, y, {.sample_weight = Tensor({1, 0.5f}, {2})});
  for (const auto &[name, value] : batch_logs)
    std::cout << name << "=" << value << "\n";
  try {
    std::cout << p.item<int32_t>();
    return 1;
  } catch (const Error &error) {
    std::cout << error.what() << "\n";
  }
  return history["val_loss"].size() == 2 && batch_logs.contains("accuracy") ? 0 : 1;
}
