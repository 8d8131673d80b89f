// Opens .keras files, predicts, evaluates, trains a few batches, and writes results: for scripts/keras-random-models.
// SPDX-License-Identifier: Apache-2.0
//
// A folder of FOLDER that has model.keras also has x_0.npy, ..., y_0.npy, ... and possibly weights.npy, of each
// example. The program adds predict_0.npy, ..., after.keras and ours.json: the loss of the test and of the steps, or
// the error.
#include <filesystem>
#include <fstream>
#include <halftone/Halftone.h>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
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

/// As text, since JSON has neither NaN nor infinity.
std::string textOf(double number) {
  std::ostringstream text;
  text << std::setprecision(17) << number;
  return text.str();
}

Json jsonOf(const Logs &logs) {
  Json all;
  for (const auto &[name, number] : logs)
    all[name] = textOf(number);
  return all;
}

/// In batches of facts["batch_size"], or in a single batch.
void check(const fs::path &folder, Json &results) {
  const Json facts = Json::parse(std::ifstream(folder / "facts.json"));
  const PolicyScope scope{DTypePolicy(facts["policy"].get<std::string>())};
  const Model model = load_model(folder / "model.keras");
  const Tensors x(numbered(folder, "x_")), y(numbered(folder, "y_")), weights(numbered(folder, "weights_"));
  const int64_t steps = facts["steps"];
  std::vector<std::pair<int64_t, double>> classes;
  if (facts["class_weight"].is_object())
    for (const auto &[name, weight] : facts["class_weight"].items())
      classes.emplace_back(std::stoll(name), weight.get<double>());
  const bool inBatches = facts["batch_size"].is_number();
  const int64_t size = inBatches ? facts["batch_size"].get<int64_t>() : 32;
  const Tensors predicted = model.predict_all(x, {.batch_size = size, .verbose = 0});
  for (size_t i = 0; i < predicted.size(); ++i)
    predicted[i].astype(float32).save_npy(folder / ("predict_" + std::to_string(i) + ".npy"));
  results["test"] =
      jsonOf(inBatches ? model.evaluate(x, y, {.batch_size = size, .verbose = 0, .sample_weight = weights})
                       : model.test_on_batch(x, y, {.sample_weight = weights}));
  if (inBatches && steps > 0) {
    const FitArgs args{.batch_size = size,
                       .epochs = 2,
                       .verbose = 0,
                       .shuffle = false,
                       .class_weight = classes,
                       .sample_weight = weights};
    const History history = model.fit(x, y, args);
    for (size_t epoch = 0; epoch < 2; ++epoch) {
      Json logs;
      for (const std::string &name : history.keys())
        logs[name] = textOf(history[name].at(epoch));
      results["train"].push_back(logs);
    }
  } else {
    for (int64_t step = 0; step < steps; ++step)
      results["train"].push_back(
          jsonOf(model.train_on_batch(x, y, {.sample_weight = weights, .class_weight = classes})));
  }
  model.save(folder / "after.keras");
}

} // namespace

int main(int argc, char **argv) try {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " FOLDER     (HALFTONE_DEVICE: the device)\n";
    return 2;
  }
  for (const fs::directory_entry &entry : fs::directory_iterator(argv[1])) {
    const fs::path folder = entry.path();
    if (!fs::exists(folder / "model.keras") || fs::exists(folder / "ours.json"))
      continue;
    std::cerr << folder.filename().string() << std::endl; // the last folder, if the process dies
    Json results;
    try {
      check(folder, results);
    } catch (const std::exception &error) {
      results["error"] = error.what();
    }
    std::ofstream(folder / "ours.json") << results.dump(1);
  }
} catch (const Error &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
