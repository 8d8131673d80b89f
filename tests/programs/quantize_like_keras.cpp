// Loads models that random_quantized.py wrote, performs the steps recorded with each, and writes the results.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <halftone/Halftone.h>
#include <iostream>
#include <iterator>
#include <sstream>
using namespace halftone;

namespace {

/// The layer at slash-separated names, such as "attention/query". The empty text is the model.
Layer layerAt(const Layer &model, const std::string &names) {
  Layer found = model;
  std::istringstream rest(names);
  for (std::string name; std::getline(rest, name, '/');) {
    const std::vector<Layer> parts = found.layers();
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const Layer &each) { return each.name() == name; });
    if (part == parts.end())
      throw Error(ErrorKind::internal_error, "no layer " + names);
    found = *part;
  }
  return found;
}

std::string text(const Config &step, const char *key) { return step.contains(key) ? step.get_string(key) : ""; }

struct Folder {
  std::filesystem::path path;
  Tensors inputs() const {
    std::vector<Tensor> read;
    for (int i = 0; std::filesystem::exists(file("x_" + std::to_string(i) + ".npy")); ++i)
      read.push_back(Tensor::load_npy(file("x_" + std::to_string(i) + ".npy")));
    return Tensors(read);
  }
  std::string file(const std::string &name) const { return path / name; }
};

QuantizationConfig configOf(const Config &step) {
  if (!step.contains("activations"))
    return {};
  const bool activations = step.get_bool("activations");
  if (step.get_string("config") == "int8")
    return quantizers::Int8QuantizationConfig(activations);
  return quantizers::Int4QuantizationConfig(step.get_int("block"), activations);
}

Config reportOf(const QuantizationReport &report) { return Config::parse(report.json()); }

/// Sets `a` and `b` of a delta to the recorded values, by the ends of their names.
void setDelta(const Layer &layer, const Folder &folder, const std::string &index) {
  for (const Variable &each : layer.weights())
    for (const char *end : {"_a", "_b"})
      if (each.name().starts_with("lora_") && each.name().ends_with(end))
        each.assign(Tensor::load_npy(folder.file(end + ("_" + index) + ".npy")));
}

void train(const Model &model, const Folder &folder, const Config &step) {
  model.compile({.optimizer = optimizers::SGD(step.get_double("rate")), .loss = losses::MeanSquaredError()});
  const Tensor y = Tensor::load_npy(folder.file("y.npy"));
  for (int64_t i = 0; i < step.get_int("count"); ++i)
    (void)model.train_on_batch(folder.inputs(), y);
}

void perform(const Model &model, const Folder &folder, const Config &step, const std::string &index, Config &done) {
  const std::string what = step.get_string("do");
  const Layer layer = layerAt(model, text(step, "layer"));
  if (what == "quantize") {
    QuantizeArgs args{.config = configOf(step), .verbose = false};
    if (step.contains("filter"))
      args.filters = QuantizeFilter(step.get_string("filter").c_str());
    done.set("report", reportOf(layer.quantize(step.get_string("mode"), args)));
  } else if (what == "lora") {
    LoraArgs args;
    if (step.contains("alpha"))
      args.lora_alpha = step.get_double("alpha");
    layer.enable_lora(step.get_int("rank"), args);
    setDelta(layer, folder, index);
  } else if (what == "policy") {
    layer.set_dtype_policy(step.get_string("name"));
  } else if (what == "train") {
    train(model, folder, step);
  } else if (what == "save") {
    model.save(folder.file("ours_" + index + ".keras"));
  } else if (what == "predict") {
    model.predict_on_batch(folder.inputs()).astype(float32).save_npy(folder.file("ours_" + index + ".npy"));
  } else {
    throw Error(ErrorKind::internal_error, "no step " + what);
  }
}

void addLayer(const Layer &layer, const std::string &names, std::vector<Config> &all) {
  Config facts;
  facts.set("layer", names);
  facts.set("policy", layer.dtype_policy().name());
  std::string weights;
  for (const Variable &each : layer.layers().empty() ? layer.weights() : std::vector<Variable>())
    weights += each.name() + " " + std::string(name(each.dtype())) + " " + each.shape().str() +
               (each.trainable() ? " trained; " : "; ");
  facts.set("weights", weights);
  all.push_back(facts);
  for (const Layer &part : layer.layers())
    addLayer(part, names.empty() ? part.name() : names + "/" + part.name(), all);
}

std::string listed(const std::vector<Config> &objects) {
  std::string json;
  for (const Config &each : objects)
    json += (json.empty() ? "" : ",\n") + each.dump();
  return "[" + json + "]";
}

/// Our results for each file that Keras wrote: predictions, or the kind of the error.
Config readTheirs(const Folder &folder, const std::string &index) {
  Config done;
  try {
    const Model model = load_model(folder.file("keras_" + index + ".keras"), {.compile = false});
    model.predict_on_batch(folder.inputs()).astype(float32).save_npy(folder.file("loaded_" + index + ".npy"));
    done.set("error", "");
  } catch (const Error &error) {
    done.set("error", name(error.kind()));
    done.set("message", error.message());
  }
  return done;
}

void run(const Folder &folder) {
  std::ifstream file(folder.file("steps.json"));
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  const Config recorded = Config::parse(json);
  const std::vector<Config> steps = recorded.get_list("steps");
  const PolicyScope scope{DTypePolicy(recorded.get_string("policy"))};
  std::vector<Config> results, layers, loaded;
  std::string loading;
  try {
    const Model model = load_model(folder.file("model.keras"));
    for (size_t i = 0; i < steps.size(); ++i) {
      Config done;
      try {
        perform(model, folder, steps[i], std::to_string(i), done);
        done.set("error", "");
      } catch (const Error &error) {
        done.set("error", name(error.kind()));
        done.set("message", error.message());
      }
      results.push_back(done);
    }
    addLayer(model, "", layers);
  } catch (const Error &error) {
    loading = error.what();
  }
  for (size_t i = 0; i < steps.size(); ++i)
    if (std::filesystem::exists(folder.file("keras_" + std::to_string(i) + ".keras"))) {
      Config done = readTheirs(folder, std::to_string(i));
      done.set("step", static_cast<int64_t>(i));
      loaded.push_back(done);
    }
  Config name;
  name.set("loading", loading);
  std::ofstream(folder.file("ours.json"))
      << "{\"model\": " << name.dump() << ",\n\"steps\": " << listed(results) << ",\n\"layers\": " << listed(layers)
      << ",\n\"loaded\": " << listed(loaded) << "}\n";
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: " << argv[0] << " FOLDER...\n";
    return 2;
  }
  for (int i = 1; i < argc; ++i)
    run({argv[i]});
}
