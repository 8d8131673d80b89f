// .keras in both directions, weights only, safetensors, and a checkpoint from which training resumes exactly.
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

int main() {
  Sequential model({Input({4}), Dense(3, {.activation = "relu"}), Dense(1)}, {.name = "net"});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.save("net.keras");
  model.save_weights("net.weights.h5");
  model.save_weights("net.safetensors");

  Model loaded = load_model("net.keras");
  loaded.load_weights("net.weights.h5", /*skip_mismatch=*/false);
  Model on_cpu = load_model("net.keras", {.compile = false, .device = Device::cpu()});
  for (const auto &[name, tensor] : load_safetensors("net.safetensors"))
    std::cout << name << tensor.shape().str() << "\n";

  Checkpoint checkpoint(loaded);
  checkpoint.save("last.ckpt");
  auto restored = checkpoint.restore("last.ckpt");
  std::cout << "epoch " << restored.epoch << ", " << restored.converted.size() << " values converted\n";

  model.fit(
      Tensor::zeros({8, 4}), Tensor::zeros({8, 1}),
      {.epochs = 2,
       .verbose = 0,
       .callbacks = {callbacks::ModelCheckpoint("net-{epoch:02d}.keras", {.monitor = "loss", .save_best_only = true}),
                     callbacks::BackupAndRestore("backup")}});
  std::vector<Tensor> weights = model.get_weights();
  model.set_weights(weights);
}
