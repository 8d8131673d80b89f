// Opens .keras files, predicts, evaluates and trains a few batches, and writes the results: for scripts/keras-random-models.
// SPDX-License-Identifier: Apache-2.0
//
// A folder of FOLDER that has model.keras also has x_0.npy, ..., y_0.npy, ... and perhaps weights.npy, of each example.
// Beside them come predict_0.npy, ..., after.keras and ours.json: the loss of the test, those of the steps, or the error.
#include <filesystem>
#include <fstream>
#include <halftone/Halftone.h>
#include <iostream>
#include <nlohmann/json.hpp>
using namespace halftone;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

std::vector<Tensor> numbered(const fs::path &folder, const std::string &stem) {
  std::vector<Tensor> all;
  while (true) {
    const fs::path file = folder / (stem + std::to_string(all.size()) + ".npy");
    if (!fs::exists(file))
      return all;
    all.push_back(Tensor::load_npy(file));
  }
}

Json jsonOf(const Logs &logs) {
  Json all;
  for (const auto &[name, number] : logs)
    all[name] = std::to_string(number); // a text, since JSON has neither NaN nor infinity
  return all;
}

void check(const fs::path &folder, int64_t steps, Json &results) {
  const Json facts = Json::parse(std::ifstream(folder / "facts.json"));
  const PolicyScope scope{DTypePolicy(facts["policy"].get<std::string>())};
  const Model model = load_model(folder / "model.keras");
  const Tensors x(numbered(folder, "x_")), y(numbered(folder, "y_")), weights(numbered(folder, "weights_"));
  const Tensors predicted = model.predict_all(x, {.verbose = 0});
  for (size_t i = 0; i < predicted.size(); ++i)
    predicted[i].astype(float32).save_npy(folder / ("predict_" + std::to_string(i) + ".npy"));
  results["test"] = jsonOf(model.test_on_batch(x, y, {.sample_weight = weights}));
  for (int64_t step = 0; step < steps; ++step)
    results["train"].push_back(jsonOf(model.train_on_batch(x, y, {.sample_weight = weights})));
  model.save(folder / "after.keras");
}

} // namespace

int main(int argc, char **argv) try {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " FOLDER STEPS     (HALFTONE_DEVICE: the device)\n";
    return 2;
  }
  for (const fs::directory_entry &entry : fs::directory_iterator(argv[1])) {
    const fs::path folder = entry.path();
    if (!fs::exists(folder / "model.keras") || fs::exists(folder / "ours.json"))
      continue;
    std::cerr << folder.filename().string() << std::endl; // the last one, if the process dies
    Json results;
    try {
      check(folder, std::stol(argv[2]), results);
    } catch (const std::exception &error) {
      results["error"] = error.what();
    }
    std::ofstream(folder / "ours.json") << results.dump(1);
  }
} catch (const Error &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
