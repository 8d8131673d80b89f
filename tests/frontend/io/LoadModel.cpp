// Files saved by real Keras: predictions, training compared with recorded losses, and resumed training.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/CapturedOutput.h"
#include "tests/frontend/io/KerasModels.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

const std::vector<std::string> sequentials{"mlp", "mlp_bfloat16", "mlp_bfloat16_adam", "mlp_mixed_bfloat16"};
const std::vector<std::string> scaledSequentials{"mlp_float16", "mlp_loss_scale", "mlp_mixed_float16"};
const std::vector<std::string> convolutions{"operations",        "cnn",        "cnn_flatten", "cnn_mixed_bfloat16",
                                            "cnn_mixed_float16", "conv1d_text"};
const std::vector<std::string> residuals{"cnn_residual", "cnn_residual_mixed_bfloat16"};
const std::vector<std::string> merges{"multi_io", "norms", "norms_mixed_float16"};
const std::vector<std::string> attentions{"transformer",
                                          "transformer_mixed_bfloat16",
                                          "transformer_scores_mixed_bfloat16",
                                          "transformer_scores_mixed_float16",
                                          "gqa",
                                          "gqa_mixed_bfloat16"};
const std::vector<std::string> recurrents{"recurrent"};
const std::vector<std::string> float8s{"float8", "float8_mixed_bfloat16"};
const std::vector<std::string> quantized{"int8",       "int8_attention",   "int8_mixed_bfloat16",
                                         "int8_tied",  "int8_weight_only", "int4",
                                         "int4_block", "int4_per_channel"};
const std::vector<std::string> maps{"policy_map", "policy_map_global", "policy_map_paths"};
const std::vector<std::string> firstOptimizers{
    "optimizer_adadelta",     "optimizer_adafactor",     "optimizer_adafactor_absolute",
    "optimizer_adagrad",      "optimizer_adam",          "optimizer_adam_accumulate",
    "optimizer_adam_amsgrad", "optimizer_adam_clipnorm", "optimizer_adam_cosine_warmup",
    "optimizer_adam_ema",     "optimizer_adamax",        "optimizer_adamw",
    "optimizer_ftrl",         "optimizer_lamb",          "optimizer_lion",
    "optimizer_muon"};
const std::vector<std::string> otherOptimizers{"optimizer_nadam",
                                               "optimizer_schedule_free_adamw",
                                               "optimizer_rmsprop",
                                               "optimizer_rmsprop_centered",
                                               "optimizer_sgd",
                                               "optimizer_sgd_clipvalue",
                                               "optimizer_sgd_cosine_restarts",
                                               "optimizer_sgd_ema_overwrite",
                                               "optimizer_sgd_exponential_decay",
                                               "optimizer_sgd_global_clipnorm",
                                               "optimizer_sgd_inverse_time",
                                               "optimizer_sgd_loss_scale_factor",
                                               "optimizer_sgd_momentum",
                                               "optimizer_sgd_nesterov",
                                               "optimizer_sgd_piecewise",
                                               "optimizer_sgd_polynomial"};

/// Folders of models that cannot be loaded, with parts of the error: the class, its place and the remedy.
const std::vector<std::pair<std::string, std::vector<std::string>>> refused{
    {"custom_layer", {"golden>Scale", "config.layers[2]", "register_custom<Scale>(\"golden\")"}},
    {"int8_attention_unreadable", {"A total of 4 objects could not be loaded"}},
    {"lambda_layer", {"Lambda", "config.layers["}},
};

/// Freezes variables in bfloat16. Keras's Adam does not change them either, because its bias correction is 0 in that
/// dtype; Adam here computes it in float32, and would train them.
void freezeBfloat16(const Layer &layer) {
  for (const Layer &inner : layer.layers()) {
    if (inner.built() && inner.layers().empty() && inner.variable_dtype() == bfloat16)
      inner.set_trainable(false);
    freezeBfloat16(inner);
  }
}
Model loaded(const RecordedModel &recorded, const char *file) {
  const Model model = load_model(recorded.file(file));
  if (recorded.facts.at("optimizer").at("class_name") == "Adam" && recorded.policy() == "map")
    freezeBfloat16(model);
  return model;
}

void checkFolders(const std::vector<std::string> &names) {
  const std::optional<fs::path> models = kerasModels();
  for (const std::string &name : models ? names : std::vector<std::string>{}) {
    INFO(name);
    const RecordedModel recorded{*models / name};
    const PolicyScope scope = recorded.scope();
    const Model model = loaded(recorded, "model.keras");
    checkPredictions(model, recorded, "predict");
    if (name == "mlp_bfloat16_adam") // Keras's bias correction is 0 in bfloat16; here it is computed in float32
      continue;
    checkLosses(model, recorded, "losses");
    const Model after = loaded(recorded, "after.keras");
    checkPredictions(after, recorded, "predict_after");
    checkLosses(after, recorded, "losses continued");
  }
  SUCCEED();
}

} // namespace

TEST_CASE("Sequential models of Keras's load, predict, and train along the recorded losses") {
  checkFolders(sequentials);
}
TEST_CASE("Sequential models of Keras's in float16 load, predict, and train along the recorded losses") {
  checkFolders(scaledSequentials);
}
TEST_CASE("Nets with convolutions or operations of Keras's load, predict, and train along the recorded losses") {
  checkFolders(convolutions);
}
TEST_CASE("Residual nets of Keras's load, predict, and train along the recorded losses") { checkFolders(residuals); }
TEST_CASE("Models of Keras's with several inputs, merges and each normalization load, predict, and train along the "
          "recorded losses") {
  checkFolders(merges);
}
TEST_CASE("Transformers of Keras's load, predict, and train along the recorded losses") { checkFolders(attentions); }
TEST_CASE("A recurrent model of Keras's loads, predicts, and trains along the recorded losses") {
  checkFolders(recurrents);
}
TEST_CASE("Models of Keras's with policy maps load, predict, and train along the recorded losses") {
  checkFolders(maps);
}
TEST_CASE("Models of Keras's that train in float8 load, predict, and train along the recorded losses") {
  checkFolders(float8s);
}
TEST_CASE("Quantized models of Keras's load, predict, and are written again with equal predictions") {
  const std::optional<fs::path> models = kerasModels();
  for (const std::string &name : models ? quantized : std::vector<std::string>{}) {
    INFO(name);
    const RecordedModel recorded{*models / name};
    const PolicyScope scope = recorded.scope();
    const Model model = load_model(recorded.file("model.keras"));
    checkPredictions(model, recorded, "predict");
    const TemporaryFolder folder;
    model.save(folder / "again.keras");
    const Model again = load_model(folder / "again.keras");
    CHECK(again.to_json() == model.to_json());
    checkPredictions(again, recorded, "predict");
  }
  SUCCEED();
}
// policies 6.14
TEST_CASE("Kernels of GPTQ and AWQ are read as floats, and a warning says so") {
  size_t files = 0;
  for (const std::string &line : recordedLines("calibrated/predictions.jsonl")) {
    const Json row = Json::parse(line);
    const std::string name = row.at("file");
    INFO(name);
    const CapturedOutput said;
    const Model model = load_model(HALFTONE_SOURCE_DIR "/tests/data/keras/calibrated/" + name);
    const size_t mode = name.find('_') == name.npos ? 0 : name.find('_') + 1; // the mode in "nightly_gptq4.keras"
    CHECK_THAT(said.text, Contains("heads' has the policy '" + name.substr(mode, name.size() - 7 - mode) + "/") &&
                              Contains("its kernel is read as floats, and its policy is now 'float32'"));
    const Layer hidden = model.get_layer("hidden");
    CHECK(hidden.dtype_policy().name() == "float32");
    CHECK(hidden.weights()[0].name() == "kernel");
    CHECK(hidden.weights()[0].shape() == Shape{6, 7});
    CHECK(hidden.trainable_variables().size() == 2);
    const Tensor x = tensorOf(row.at("x"), "float32");
    CHECK(distance(numbers(model.predict(x, {.verbose = 0})), elementsOf(row.at("output"))) <= 2e-6);
    const TemporaryFolder folder;
    model.save(folder / "again.keras");
    CHECK(numbers(load_model(folder / "again.keras").predict(x, {.verbose = 0})) ==
          numbers(model.predict(x, {.verbose = 0})));
    ++files;
  }
  CHECK(files == 8);
  CHECK_THAT(
      errorOf([] { (void)layers::Dense(2, {.dtype = GPTQDTypePolicy("gptq/4/4", "float32")})(Tensor::ones({1, 3})); }),
      Contains("NotImplementedError"));
}
TEST_CASE("Models of Keras's go on with the state of their optimizers: Adadelta to Muon") {
  checkFolders(firstOptimizers);
}
TEST_CASE("Models of Keras's go on with the state of their optimizers: Nadam to SGD") { checkFolders(otherOptimizers); }

namespace {

/// 2 * (sum of predictions - targets) / count, like the recorded Keras class in Python.
struct Doubled {
  Variable total{}, count{};
  void build(MetricContext &m) {
    total = m.add_variable({.name = "total"});
    count = m.add_variable({.name = "count"});
  }
  void update_state(const Value &y, const Value &p) const {
    total.assign_add(ops::sum(p - y));
    count.assign_add(y.shape().elements());
  }
  Value result() const { return ops::divide_no_nan(total, count) * 2.0; }
  static Doubled from_config(const Config &) { return {}; }
};
struct Specificity {
  double threshold = 0.5;
  Variable negatives{}, found{};
  void build(MetricContext &m) {
    negatives = m.add_variable();
    found = m.add_variable();
  }
  void update_state(const Value &y, const Value &p) const {
    negatives.assign_add(ops::sum(ops::cast(y == 0, float32)));
    found.assign_add(ops::sum(ops::cast((y == 0) & (p < threshold), float32)));
  }
  Value result() const { return ops::divide_no_nan(found, negatives); }
  void get_config(Config &c) const { c.set("threshold", threshold); }
  static Specificity from_config(const Config &c) { return {.threshold = c.get_double("threshold")}; }
};

} // namespace

TEST_CASE("A file with users' metrics names the line that registers each, and loads after it") {
  const auto archive = [](const std::string &name) {
    return HALFTONE_SOURCE_DIR "/tests/data/keras/archives/" + name + ".keras";
  };
  const auto refusal = [&](const std::string &name) { return errorOf([&] { load_model(archive(name)); }); };
  CHECK_THAT(refusal("metrics_registered"),
             Contains("ValueError: ") && Contains("compile_config.metrics[0]") &&
                 Contains("Could not locate class 'Specificity', which a user registered in Python as "
                          "'golden>Specificity'. Before loading, register a struct Specificity with update_state() and "
                          "a static from_config(): register_metric<Specificity>(\"golden\")."));
  CHECK_THAT(refusal("metrics_plain"),
             Contains("Could not locate class 'Doubled', a user-defined class in Python. Before "
                      "loading, register a struct Doubled with update_state() and a static "
                      "from_config(): register_metric<Doubled>()."));
  register_metric<Doubled>();
  CHECK_THAT(refusal("metrics_plain"),
             Contains("compile_config.metrics[1]") && Contains("identifier: misplaced.") &&
                 Contains("register_metric(\"misplaced\", [](const Config &) { return Metric(misplaced); })"));
  register_metric("misplaced", [](const Config &) {
    return Metric([](const Value &y, const Value &p) { return ops::cast((p > 0.5) != (y == 1), float32); });
  });
  register_metric<Specificity>("golden");
  size_t count = 0;
  for (const std::string &line : recordedLines("custom_metrics.jsonl")) {
    const Json row = Json::parse(line);
    if (!row.contains("archive"))
      continue;
    const Model model = load_model(archive(row["archive"]));
    const TemporaryFolder folder;
    model.save(folder / "again.keras");
    for (const Model &each : {model, load_model(folder / "again.keras")}) {
      const Logs logs =
          each.evaluate(tensorOf(row["x"], "float32"), tensorOf(row["y"], "float32"), {.batch_size = 4, .verbose = 0});
      for (const auto &[key, value] : row["logs"].items()) {
        INFO(key);
        CHECK(near({logs[key]}, {value.get<double>()}, 2e-6));
        ++count;
      }
    }
  }
  CHECK(count == 12);
}

namespace {
/// The layers of a model and of its inner models by path, and by name.
void collectLayers(const Layer &layer, std::map<std::string, Layer> &found) {
  found.emplace(layer.path(), layer);
  found.emplace(layer.name(), layer);
  for (const Layer &inner : layer.layers())
    collectLayers(inner, found);
}
} // namespace

TEST_CASE(
    "Small archives of Keras's load with each layer's dtypes, and are written again with equal layers and weights") {
  int64_t files = 0, layers = 0;
  for (const std::string &line : recordedLines("archives/layers.jsonl")) {
    const Json row = Json::parse(line);
    const std::string name = row.at("file"), path = HALFTONE_SOURCE_DIR "/tests/data/keras/archives/" + name;
    INFO(name);
    if (name == "wrapped.keras" || name == "attending.keras") { // with user-defined layer classes
      CHECK_THROWS_WITH(load_model(path), Contains("'house>Residual'") && Contains(name));
      continue;
    }
    const Model model = load_model(path);
    std::map<std::string, Layer> all;
    collectLayers(model, all);
    for (const Json &layer : row.at("layers")) {
      INFO(layer.at("name"));
      // Keras gives no path to layers without a build of their own.
      const Layer &found = all.at(layer.at(layer.at("path").is_string() ? "path" : "name").get<std::string>());
      CHECK(halftone::name(found.compute_dtype()) == layer.at("compute").get<std::string>());
      CHECK(halftone::name(found.variable_dtype()) == layer.at("variable").get<std::string>());
      ++layers;
    }
    const TemporaryFolder folder;
    model.save(folder / name);
    const Model again = load_model(folder / name);
    CHECK(again.to_json() == model.to_json());
    const std::vector<Tensor> weights = model.get_weights(), reread = again.get_weights();
    REQUIRE(weights.size() == reread.size());
    for (size_t i = 0; i < weights.size(); ++i)
      CHECK(numbers(weights[i]) == numbers(reread[i]));
    ++files;
  }
  CHECK(files == 5);
  CHECK(layers > 10);
}

TEST_CASE("A file with a class that is not there is one error that names file, place, class and remedy") {
  const std::optional<fs::path> models = kerasModels();
  for (const auto &[name, words] : models ? refused : decltype(refused)()) {
    INFO(name);
    const std::string file = (*models / name / "model.keras").string();
    try {
      (void)load_model(file);
      FAIL("the file was loaded");
    } catch (const Error &error) {
      CHECK_THAT(error.what(), Contains(file) && (Contains("config.json") || Contains("model.weights.h5")));
      for (const std::string &word : words)
        CHECK_THAT(error.what(), Contains(word));
    }
  }
  SUCCEED();
}

TEST_CASE(
    "A file with functions of a user's asks for each by the line that registers it, and computes what Keras does") {
  const std::string folder = HALFTONE_SOURCE_DIR "/tests/data/keras/functions/", file = folder + "functions.keras";
  const auto refused = [&](const char *place, const char *line) {
    CHECK_THAT(errorOf([&] { (void)load_model(file); }),
               Contains("ValueError") && Contains(file) && Contains(place) && Contains(line));
  };
  refused("config.layers[1]", R"(register_activation("mine>scaled_tanh", f))");
  register_activation("mine>scaled_tanh", [](const Value &x) { return 1.5 * ops::tanh(x * 0.5); });
  refused("config.layers[2]", R"(register_activation("doubled", f))");
  register_activation("doubled", [](const Value &x) { return 2.0 * x; });
  refused("compile_config.loss", R"(register_loss("mine>cubes", f))");
  register_loss("mine>cubes", [](const Value &y_true, const Value &y_pred) {
    return ops::mean(ops::power(ops::abs(y_true - y_pred), 3), -1);
  });
  std::ifstream stream(folder + "facts.json");
  const auto facts = nlohmann::ordered_json::parse(stream);
  const Tensor x(facts.at("x").at(0).get<std::vector<float>>(), {1, 3});
  const TemporaryFolder copies;
  const Model model = load_model(file);
  model.save(copies / "again.keras");
  for (const Model &each : {model, load_model(copies / "again.keras")}) {
    CHECK(
        near(numbers(each.predict(x, {.verbose = 0})), facts.at("prediction").at(0).get<std::vector<double>>(), 1e-5));
    CHECK(near({each.evaluate(x, Tensor::zeros({1, 2}), {.verbose = 0})["loss"]}, {facts.at("loss").get<double>()},
               1e-5));
    CHECK(each.to_json() == model.to_json());
  }
}

TEST_CASE("Every folder of the recorded models is in a list of this test") {
  std::set<std::string> known;
  for (const auto *list : {&sequentials, &scaledSequentials, &convolutions, &residuals, &merges, &attentions,
                           &recurrents, &maps, &float8s, &quantized, &firstOptimizers, &otherOptimizers})
    known.insert(list->begin(), list->end());
  for (const auto &[name, words] : refused)
    known.insert(name);
  if (const std::optional<fs::path> models = kerasModels())
    for (const fs::directory_entry &entry : fs::directory_iterator(*models))
      if (entry.is_directory()) {
        INFO(entry.path().filename().string());
        CHECK(known.contains(entry.path().filename().string()));
      }
  CHECK(known.size() > 60);
}

namespace {

std::vector<double> numbersOf(const Tensor &tensor) { return tensor.astype(float64).to_vector<double>(); }

} // namespace

TEST_CASE("Models are cut out of files of real Keras by the outputs of their layers") {
  const std::string archives = HALFTONE_SOURCE_DIR "/tests/data/keras/archives/";
  const Tensor x = Tensor::of<float>({0.5, -1, 2, 0.25, 1, 3, -2, 0.75}, {2, 4}), other = x * -0.5;
  {
    const Model model = load_model(archives + "sequential.keras", {.compile = false});
    const Layer first = model.get_layer("encoder_0"), second = model.get_layer("encoder_1");
    const Model cut(model.inputs(), {second.output(), model.output()});
    const Tensors found = cut.predict_all(Tensors{x}, {.verbose = 0});
    CHECK(numbersOf(found[0]) == numbersOf(second(first(x))));
    CHECK(numbersOf(found[1]) == numbersOf(model.predict(x, {.verbose = 0})));
    CHECK(second.input().shape() == first.output().shape());
  }
  { // a layer with two calls; the first is on "left"
    const Model model = load_model(archives + "functional.keras", {.compile = false});
    const Layer shared = model.get_layer("shared");
    CHECK(shared.input().node() == model.inputs().at(0).node());
    CHECK(model.get_layer("right").output().node() == model.inputs().at(1).node());
    const Model cut(model.inputs(), {shared.output(), model.get_layer("joined").output(), model.output(1)});
    const Tensors found = cut.predict_all(Tensors{x, other}, {.verbose = 0});
    CHECK(numbersOf(found[0]) == numbersOf(shared(x)));
    CHECK(numbersOf(found[1]) ==
          numbersOf(layers::Add({.dtype = "float16"})(Tensors{shared(x), model.get_layer("tower")(shared(other))})));
    CHECK(numbersOf(found[2]) == numbersOf(model.predict_all(Tensors{x, other}, {.verbose = 0})[1]));
    CHECK(Model({model.inputs()[0]}, {shared.output()}).count_params() == shared.count_params());
  }
  { // nested models
    const Model model = load_model(archives + "nested.keras", {.compile = false});
    const Model inner(model.get_layer("inner")), graph(model.get_layer("graph"));
    const Model cut(inner.inputs(), {inner.get_layer("dense").output()});
    CHECK(numbersOf(cut.predict(x, {.verbose = 0})) == numbersOf(inner(x)));
    CHECK(graph.get_layer("plain").output().shape() == graph.output().shape());
    CHECK(model.get_layer("graph").output().node() == graph.outputs()[0].node());
    const Model above(model.inputs(), {model.get_layer("dense").output()});
    CHECK(numbersOf(above.predict(x, {.verbose = 0})) == numbersOf(model.predict(x, {.verbose = 0})));
  }
}
