// Calls layers that random_integer_inputs.py wrote, and writes the dtype and the numbers of their results.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <halftone/Halftone.h>
#include <iostream>
#include <iterator>
#include <sstream>
using namespace halftone;

namespace {

std::string textOf(const std::filesystem::path &file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Tensor> tensorsOf(const std::filesystem::path &folder, const std::string &prefix) {
  std::vector<Tensor> read;
  for (int i = 0;; ++i) {
    const std::filesystem::path file = folder / (prefix + std::to_string(i) + ".npy");
    if (!std::filesystem::exists(file))
      return read;
    read.push_back(Tensor::load_npy(file));
  }
}

/// Writes the result of one call, and a line with its dtype.
void write(const Layer &layer, const Tensors &inputs, const std::filesystem::path &folder, const std::string &name) {
  std::ofstream line(folder / (name + ".txt"));
  try {
    const Tensor y = layer(inputs);
    y.astype(float32).save_npy(folder / (name + ".npy"));
    line << halftone::name(y.dtype()) << "\n";
  } catch (const Error &error) {
    line << "error " << error.message() << "\n";
  }
}

void run(const std::filesystem::path &folder) {
  const PolicyScope policy(PolicyArg(textOf(folder / "policy.txt").c_str()));
  const Layer layer = layers::deserialize(Config::parse(textOf(folder / "layer.json")));
  const Tensors inputs(tensorsOf(folder, "x_"));
  write(layer, inputs, folder, "built");
  const std::vector<Tensor> weights = tensorsOf(folder, "w_");
  if (!weights.empty())
    layer.set_weights(weights);
  write(layer, inputs, folder, "before");
  if (std::filesystem::exists(folder / "mode.txt")) {
    (void)layer.quantize(textOf(folder / "mode.txt"));
    write(layer, inputs, folder, "after");
  }
}

} // namespace

int main(int count, char **arguments) {
  for (int i = 1; i < count; ++i)
    for (const auto &folder : std::filesystem::directory_iterator(arguments[i]))
      try {
        run(folder.path());
      } catch (const Error &error) {
        std::ofstream(folder.path() / "failed.txt") << error.what();
      }
}
