// Sets fields of real models' configs to wrong values: an Error rejects each config, or the model has the value.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/CompileConfig.h"
#include "frontend/io/KerasArchive.h"
#include "frontend/training/ModelState.h"
#include "halftone/Halftone.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <random>

using namespace halftone;
using Json = nlohmann::ordered_json;
using Pointer = Json::json_pointer;
namespace fs = std::filesystem;

namespace {

constexpr double maxSeconds = 5;

/// Keys whose values load_model() does not need, as in Keras: the written config has its own. The inner optimizer of a
/// loss scale has no scale in Halftone.
const std::vector<std::string> notKept = {
    "build_config",      "module",        "registered_name",  "shared_object_id", "dtype",
    "build_input_shape", "keras_history", "inbound_nodes",    "class_name",       "jit_compile",
    "run_eagerly",       "loss_weights",  "loss_scale_factor"};

std::vector<Json> wrongValues() {
  return {nullptr,
          -1,
          0,
          1,
          2,
          1e308,
          -0.5,
          1e30,
          "",
          "x",
          std::string("a\0b", 3),
          true,
          false,
          INT64_MAX,
          1 << 20,
          int64_t{1} << 40,
          Json::array(),
          Json::object(),
          Json::array({Json::array({Json::array()})}),
          Json::array({nullptr}),
          Json::array({0, -1}),
          Json::object({{"class_name", "Dense"}}),
          Json::array({"x", 0, 0}),
          UINT64_MAX,
          "\xff"};
}

std::vector<std::pair<std::string, Json>> configs() {
  std::vector<std::pair<std::string, Json>> all;
  const fs::path data = HALFTONE_SOURCE_DIR "/tests/data/keras";
  for (const char *folder : {"archives", "nested"}) {
    std::vector<fs::path> paths;
    for (const fs::path &path : fs::directory_iterator(data / folder))
      if (path.extension() == ".keras")
        paths.push_back(path);
    std::ranges::sort(paths);
    for (const fs::path &path : paths)
      all.emplace_back(path.filename(), ConfigAccess::json(detail::KerasArchive(path).json("config.json")));
  }
  std::ifstream layers(data / "layer_configs.jsonl");
  for (std::string line; std::getline(layers, line);) {
    Json layer = Json::parse(line);
    Json config = {{"name", "around"}, {"trainable", true}, {"layers", Json::array({layer})}};
    all.emplace_back(layer["class_name"], Json{{"module", "keras"},
                                               {"class_name", "Sequential"},
                                               {"config", std::move(config)},
                                               {"registered_name", nullptr}});
  }
  return all;
}

/// Collects all values of a config, including nested ones.
void collect(const Json &json, const Pointer &place, std::vector<Pointer> &places) {
  if (!place.empty())
    places.push_back(place);
  if (json.is_object())
    for (const auto &[key, value] : json.items())
      collect(value, place / key, places);
  if (json.is_array())
    for (size_t i = 0; i < json.size(); ++i)
      collect(json[i], place / i, places);
}

/// The config of the model that is created from a config and compiled as it specifies.
Json reread(const Json &config) {
  const Model model = Model::from_config(Config::parse(config.dump(-1, ' ', false, Json::error_handler_t::strict)));
  if (const auto compile = config.find("compile_config"); compile != config.end())
    if (std::optional<CompileArgs> args =
            detail::readCompileConfig({*compile, "compile_config"}, detail::stateOf(model).outputNames))
      model.compile(*args);
  return ConfigAccess::json(Config::parse(model.to_json()));
}

/// Returns true if `asked` at `place` in a config may result in the value `given`: a number for a list of that number,
/// an object for omitted defaults, "" for an automatic name, and for the rates of recurrent layers a number that Keras
/// clips to [0, 1].
bool isRequested(const Json &given, const Json &asked, const std::string &place) {
  if (given.is_array() && !given.empty() && asked.is_number())
    return std::ranges::all_of(given, [&](const Json &each) { return isRequested(each, asked, place); });
  if ((place == "dropout" || place == "recurrent_dropout") && given.is_number() && asked.is_number())
    return given.get<double>() == std::clamp(asked.get<double>(), 0.0, 1.0);
  return given == asked || asked.is_null() || (given.is_null() && asked == Json::object()) ||
         (given.is_object() && asked.is_object()) || (given.is_string() && asked == "");
}

struct Outcome {
  bool isTaken = false;
  std::string fault; // "" if the config was correctly read or rejected
};

Outcome outcomeOf(const Json &original, const Json &mutated, const Pointer &place) {
  const auto begin = std::chrono::steady_clock::now();
  Outcome outcome;
  try {
    const Json written = reread(mutated);
    outcome.isTaken = true;
    const size_t compile = place.to_string().find("/compile_config");
    const bool isRenamed =
        place.back() == "name" && mutated.contains(place) && mutated[place].is_string(); // the name of an operation
    bool isIgnored = isRenamed || (compile != std::string::npos && compile > 0);         // of an inner model
    for (Pointer at = place; !at.empty(); at.pop_back())
      isIgnored |= std::ranges::find(notKept, at.back()) != notKept.end();
    if (!isIgnored && mutated.contains(place) && written.contains(place) && written[place] == original[place] &&
        !isRequested(original[place], mutated[place], place.back()))
      outcome.fault = fmt::format("ignored: the model has {}", written[place].dump());
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::internal_error)
      outcome.fault = error.what();
  } catch (const Json::type_error &) { // not UTF-8: no file can contain this text
  } catch (const std::exception &error) {
    outcome.fault = fmt::format("no Error: {}", error.what());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (seconds > maxSeconds)
    outcome.fault += fmt::format(" took {:.1f} s", seconds);
  return outcome;
}

} // namespace

int main(int argc, char **argv) {
  uint64_t seed = 1;
  int64_t count = 500, seconds = 0;
  bool tells = false;
  CLI::App app("Sets one field of a real model's config to a wrong value, again and again.");
  app.add_option("--seed", seed);
  app.add_option("--count", count);
  app.add_option("--seconds", seconds, "ends the run early; 0: never");
  app.add_flag("--verbose", tells, "prints each case before it runs, for one that ends the process");
  CLI11_PARSE(app, argc, argv);
  set_output([](std::string_view) {});
  const std::vector<std::pair<std::string, Json>> all = configs();
  const std::vector<Json> values = wrongValues();
  std::mt19937_64 random(seed);
  const auto begin = std::chrono::steady_clock::now();
  int64_t done = 0, taken = 0, faults = 0;
  for (; done < count; ++done) {
    if (seconds > 0 && std::chrono::steady_clock::now() - begin > std::chrono::seconds(seconds))
      break;
    const auto &[name, original] = all[random() % all.size()];
    std::vector<Pointer> places;
    collect(original, Pointer(), places);
    const Pointer place = places[random() % places.size()];
    Json mutated = original;
    const size_t choice = random() % (values.size() + 1);
    if (choice < values.size())
      mutated[place] = values[choice];
    else if (Json &parent = mutated[place.parent_pointer()]; parent.is_object())
      parent.erase(place.back());
    const std::string text = fmt::format(
        "{} {} = {}", name, place.to_string(),
        choice < values.size() ? values[choice].dump(-1, ' ', false, Json::error_handler_t::replace) : "(removed)");
    if (tells)
      fmt::print(stderr, "{}\n", text);
    const Outcome outcome = outcomeOf(original, mutated, place);
    taken += outcome.isTaken;
    if (!outcome.fault.empty()) {
      ++faults;
      fmt::print("{}: {}\n", text, outcome.fault);
    }
  }
  fmt::print("{} configs, {} taken, {} faults\n", done, taken, faults);
  return faults > 0 || done == 0 || taken == 0;
}
