// Trains, saves and loads a small model, and reports how each step ended. limits.py runs it under system limits.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <optional>

using namespace halftone;
using namespace halftone::layers;

namespace {

Model net() {
  set_random_seed(1);
  Sequential model({Input({16}), Dense(64, {.activation = "relu"}), Dense(4)});
  model.compile({.optimizer = optimizers::Adam(1e-3), .loss = losses::MeanSquaredError()});
  return model;
}

/// Prints "STEP: ok", or the line of an Error. Other exceptions end the program.
void step(const char *name, const std::function<void()> &work) {
  try {
    work();
    fmt::print("{}: ok\n", name);
  } catch (const Error &error) {
    fmt::print("{}: {}\n", name, error.what());
  }
  std::fflush(stdout);
}

} // namespace

/// Usage: limited FOLDER. Files are read from FOLDER, and written to FOLDER/new.
int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  const std::string folder = std::string(argv[1]) + "/", made = folder + "new/";
  std::error_code ignored;
  std::filesystem::create_directory(made, ignored);
  set_output([](std::string_view) {});
  std::optional<Model> present;
  step("make", [&] { present = net(); });
  if (!present)
    return 1;
  const Model &model = *present;
  const Tensor x = Tensor::ones({64, 16}), y = Tensor::zeros({64, 4});
  step("fit", [&] { model.fit(x, y, {.batch_size = 32, .epochs = 2, .verbose = 0}); });
  step("csv", [&] {
    model.fit(x, y,
              {.batch_size = 32, .epochs = 40, .verbose = 0, .callbacks = {callbacks::CSVLogger(made + "log.csv")}});
  });
  for (const char *name : {"m.keras", "m.weights.h5", "m.safetensors"})
    step(fmt::format("save {}", name).c_str(),
         [&] { std::string(name).ends_with(".keras") ? model.save(made + name) : model.save_weights(made + name); });
  step("save m.ckpt", [&] { Checkpoint(model).save(made + "m.ckpt"); });
  step("save m.npy", [&] { Tensor::zeros({4096}).save_npy(made + "m.npy"); });
  step("load m.keras", [&] { (void)load_model(folder + "m.keras"); });
  step("load packed.keras", [&] { (void)load_model(folder + "packed.keras"); });
  for (const char *name : {"m.weights.h5", "m.safetensors"})
    step(fmt::format("load {}", name).c_str(), [&] { net().load_weights(folder + name); });
  step("load m.ckpt", [&] { (void)Checkpoint(net()).restore(folder + "m.ckpt"); });
  step("load m.npy", [&] { (void)Tensor::load_npy(folder + "m.npy"); });
  return 0;
}
