// Writes TensorBoard event files to a folder, and the scalars that its reader must find: write_scalars FOLDER.
// SPDX-License-Identifier: Apache-2.0
#include "Check.h"
#include <filesystem>
#include <fstream>

using namespace halftone;
using namespace halftone::layers;

int main(int count, char **arguments) {
  if (count != 2)
    return 1;
  const std::string folder = arguments[1];
  std::filesystem::remove_all(folder);
  const Sequential model({Input({4}), Dense(3, {.activation = "relu"}), Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  const Tensor x = Tensor::normal({40, 4}), y = Tensor::normal({40, 1});
  std::vector<double> batches;
  const callbacks::LambdaCallback keep(
      {.on_train_batch_end = [&](int64_t, const Logs &logs) { batches.push_back(logs["mae"]); }});
  const History history = model.fit(x, y,
                                    {.batch_size = 8,
                                     .epochs = 3,
                                     .verbose = 0,
                                     .callbacks = {callbacks::TensorBoard(folder, {.update_freq = 1}), keep},
                                     .validation_data = {x, y}});
  std::ofstream expected(folder + "/expected.txt"); // run, tag, step, value
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    const auto i = static_cast<size_t>(epoch);
    expected << "train epoch_loss " << epoch << " " << history["loss"][i] << "\n"
             << "validation epoch_mae " << epoch << " " << history["val_mae"][i] << "\n"
             << "validation evaluation_loss_vs_iterations " << 5 * (epoch + 1) << " " << history["val_loss"][i] << "\n";
  }
  for (size_t batch = 0; batch < batches.size(); ++batch)
    expected << "train batch_mae " << batch + 1 << " " << batches[batch] << "\n";
  check(batches.size() == 15, "the batches of three epochs");
  return wrong;
}
