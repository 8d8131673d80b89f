// Writes a generation of compatibility fixtures to a new folder; tests/data/compatibility/README.md describes them.
// SPDX-License-Identifier: Apache-2.0
#include "Fixture.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "runtime/base/Sha256.h"
#include "runtime/plan/PlanFile.h"
#include "tools/halftone-run/CompiledModule.h"
#include "tools/halftone-run/InputSpec.h"
#include <algorithm>
#include <filesystem>
#include <iostream>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::layers;
namespace fs = std::filesystem;

namespace {

constexpr int64_t samples = 8, features = 6;
constexpr uint64_t seed = 7;

struct RecordedModel {
  std::string name;
  PolicyArg policy;
  std::optional<Optimizer> optimizer{}; // none: the model is not compiled
  std::string quantization{};
  bool hasState = false; // batch normalization and dropout
  double tolerance;      // for results of newly compiled kernels, relative to the largest element
  /// Files in addition to the checkpoint, the .safetensors file and the bytecode, which every model has.
  std::vector<std::string> files{}, plans{};
};

/// Together they cover each kind of file for each kind of value, in a few hundred KB.
std::vector<RecordedModel> models() {
  const optimizers::Adam adam(0.01);
  const optimizers::SGD momentum(0.05, {.momentum = 0.9});
  // The scale doubles and halves. Neither its initial value nor its growth steps are Keras's defaults.
  const optimizers::LossScaleOptimizer grown(momentum, {.initial_scale = 1024, .dynamic_growth_steps = 2});
  return {
      {.name = "float32",
       .policy = "float32",
       .optimizer = momentum,
       .tolerance = 1e-5,
       .files = {kerasFile},
       .plans = {"predict.x86-64-v2", "predict.x86-64-v3", "train.x86-64-v2", "train.x86-64-v3"}},
      {.name = "mixed_float16",
       .policy = "mixed_float16",
       .optimizer = momentum,
       .tolerance = 5e-3,
       .files = {kerasFile},
       .plans = {"train.x86-64-v3"}},
      {.name = "loss_scale", .policy = "mixed_float16", .optimizer = grown, .hasState = true, .tolerance = 5e-3},
      {.name = "mixed_bfloat16", .policy = "mixed_bfloat16", .optimizer = adam, .tolerance = 0.04},
      {.name = "float16", .policy = "float16", .optimizer = momentum, .tolerance = 5e-3},
      {.name = "bfloat16",
       .policy = "bfloat16",
       .optimizer = momentum,
       .tolerance = 0.04,
       .files = {h5File},
       .plans = {"predict.x86-64-v3"}},
      {.name = "policy_map",
       .policy = DTypePolicyMap("mixed_bfloat16", {{"net/b", "float32"}, {"net/a", "bfloat16"}}),
       .optimizer = optimizers::SGD(0.05),
       .hasState = true,
       .tolerance = 0.04,
       .files = {kerasFile}},
      {.name = "int8",
       .policy = "float32",
       .quantization = "int8",
       .tolerance = 1e-5,
       .files = {kerasFile},
       .plans = {"predict.x86-64-v2"}},
      {.name = "int4",
       .policy = "float32",
       .quantization = "int4",
       .tolerance = 1e-5,
       .files = {h5File},
       .plans = {"predict.x86-64-v3"}},
  };
}

template <class T> bool contains(const std::vector<T> &list, const T &value) {
  return std::ranges::find(list, value) != list.end();
}

Tensor randomTensor(const std::string &name, std::vector<int64_t> shape) {
  return tools::randomTensor({name, {DType::float32, std::move(shape)}}, seed);
}

Sequential netOf(const RecordedModel &model) {
  const Dense last(1, {.activation = "sigmoid", .name = "b"});
  if (model.hasState)
    return Sequential({Input({features}), Dense(5, {.activation = "relu", .name = "a"}),
                       BatchNormalization({.name = "n"}), Dropout(0.3, {.name = "d"}), last},
                      {.name = "net"});
  return Sequential({Input({features}), last}, {.name = "net"});
}

/// Targets for this number of steps. If the loss is scaled, the gradients of the penultimate step overflow.
Tensor targetsOf(const std::string &name, int64_t steps, bool scaled) {
  std::vector<float> values = randomTensor(name, {steps, samples, 1}).to_vector<float>();
  if (scaled)
    std::fill(values.begin() + (steps - 2) * samples, values.begin() + (steps - 1) * samples, 1e6F);
  return Tensor(std::move(values), {steps, samples, 1});
}

void addWeights(const std::string &prefix, const Model &net, NamedTensors &values) {
  const std::vector<Variable> weights = net.weights();
  for (size_t i = 0; i < weights.size(); ++i)
    values.emplace_back(fmt::format("{}/{}", prefix, i), weights[i].value());
}

/// Saves the model, continues training, and returns the results.
class Recorder {
public:
  Recorder(const RecordedModel &model, fs::path folder) : model_(model), folder_(std::move(folder)) {
    fs::create_directories(folder_);
  }
  void record() {
    const PolicyScope scope(model_.policy);
    set_random_seed(seed);
    const Sequential net = netOf(model_);
    const Tensor x = randomTensor("x", {samples, features});
    values_.emplace_back("x", x);
    facts_ = {{"tolerance", model_.tolerance},
              {"policy", Json::parse(dtype_policies::serialize(dtype_policy()).dump())},
              {"optimizer", nullptr}};
    if (model_.optimizer)
      train(net, x);
    if (!model_.quantization.empty())
      quantize(net);
    save(net);
    values_.emplace_back("predicted", net.predict(x, {.verbose = 0}));
    addWeights("weight", net, values_);
    for (const char *program : {"predict", "train"})
      if (model_.optimizer || program == std::string_view("predict"))
        writeProgram(net, program);
    if (model_.optimizer)
      trainOn(net, x);
    save_safetensors(path(valuesFile), values_);
    writeFacts();
  }

private:
  std::string path(const std::string &file) const { return (folder_ / file).string(); }

  void train(const Sequential &net, const Tensor &x) {
    facts_["optimizer"] = Json::parse(optimizers::serialize(*model_.optimizer).dump());
    net.compile({.optimizer = optimizers::deserialize(optimizers::serialize(*model_.optimizer)), .loss = "mse"});
    const bool scaled = net.loss_scale_optimizer().has_value();
    (void)fitTwoEpochs(net, x, targetsOf("y", 1, false).reshape({samples, 1}), 0);
    (void)trainOnBatches(net, x, targetsOf("before", 3, scaled));
    facts_["epoch"] = 2;
    facts_["step"] = net.optimizer().iterations();
    facts_["loss_scale"] = lossScaleOf(net);
  }
  void quantize(const Sequential &net) {
    QuantizeArgs args{.verbose = false};
    if (model_.quantization == "int4")
      args.config = quantizers::Int4QuantizationConfig(2);
    (void)net.quantize(model_.quantization, args);
  }
  void save(const Sequential &net) {
    std::ofstream(path(configFile), std::ios::binary) << net.to_json() << "\n";
    if (contains<std::string>(model_.files, kerasFile))
      net.save(path(kerasFile));
    if (contains<std::string>(model_.files, h5File))
      net.save_weights(path(h5File));
    net.save_weights(path(weightsFile));
    Checkpoint(net).save(path(checkpointFile));
  }
  void trainOn(const Sequential &net, const Tensor &x) {
    const Tensor targets = targetsOf("after", 4, net.loss_scale_optimizer().has_value());
    values_.emplace_back("targets", targets);
    addLosses("batch_losses", trainOnBatches(net, x, targets));
    facts_["loss_scale_after"] = lossScaleOf(net);
    facts_["step_after"] = net.optimizer().iterations();
    addWeights("weight_after", net, values_);
    const Tensor y = targetsOf("y", 1, false).reshape({samples, 1});
    values_.emplace_back("y", y);
    addLosses("epoch_losses", fitTwoEpochs(net, x, y, 2));
    values_.emplace_back("predicted_after", net.predict(x, {.verbose = 0}));
  }
  void addLosses(const std::string &name, std::vector<double> losses) {
    const auto count = std::ssize(losses);
    values_.emplace_back(name, Tensor(std::move(losses), {count}));
  }

  /// Writes the bytecode of a program in stage graph, and its plans with the results of plays.
  void writeProgram(const Sequential &net, const std::string &program) {
    const std::string text = net.ir(
        Stage::graph, {.program = program == "train" ? Program::train : Program::predict, .batch_size = samples});
    const tools::ModuleFile module = tools::parseModule(text, "net.mlir").valueOrThrow();
    std::string bytes;
    llvm::raw_string_ostream out(bytes);
    if (failed(mlir::writeBytecodeToFile(*module.module, out)))
      throw std::runtime_error("cannot write bytecode");
    std::ofstream(path(program + std::string(bytecodeEnding)), std::ios::binary) << bytes;
    const NamedTensors given = givenTo(module);
    save_safetensors(path(givenFile(program)), given);
    for (const std::string target : {"x86-64-v2", "x86-64-v3"}) {
      const std::string name = program + "." + target;
      const bool saved = contains(model_.plans, name);
      if (!saved && target != "x86-64-v2") // the bytecode's results are compared with those of this target
        continue;
      compiler::CompileOptions options;
      options.target = target;
      const auto plan = tools::compileModule(*module.module, module.stage, options).valueOrThrow().executable;
      save_safetensors(path(resultsFile(program, target)), test::play(plan, given, 1).valueOrThrow());
      if (saved)
        saveExecutable(*plan, path(name + std::string(planEnding))).orThrow();
    }
  }
  /// Random feeds for three plays. Variables are as in the checkpoint, others as in a new run of halftone-run.
  NamedTensors givenTo(const tools::ModuleFile &module) const {
    constexpr int64_t plays = 3;
    const NamedTensors checkpoint = load_safetensors(path(checkpointFile));
    NamedTensors given{{"plays", Tensor::scalar(plays)}};
    for (int64_t i = 0; i < plays; ++i)
      for (const Parameter &feed : module.signature.feeds)
        given.emplace_back(fmt::format("{}/{}", i, feed.name),
                           tools::randomTensor(feed, seed + static_cast<uint64_t>(i)));
    for (const tools::DeclaredVariable &variable : module.variables) {
      const auto saved = std::ranges::find(checkpoint, variable.path, &NamedTensors::value_type::first);
      given.emplace_back("before/" + variable.symbol,
                         saved != checkpoint.end() ? saved->second : tools::initialValue(variable, seed));
    }
    return given;
  }

  void writeFacts() {
    Json digests;
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    for (const std::string &name : names)
      digests[name] = sha256(contentsOf(path(name)));
    facts_["sha256"] = digests;
    std::ofstream(path(fixtureFile), std::ios::binary) << facts_.dump(1) << "\n";
  }

  const RecordedModel &model_;
  fs::path folder_;
  Json facts_;
  NamedTensors values_;
};

} // namespace

int main(int count, char **arguments) {
  if (count != 2 || fs::exists(arguments[1])) {
    std::cerr << "usage: write_fixtures FOLDER: writes a generation of fixtures into a new folder\n";
    return 2;
  }
  try {
    for (const RecordedModel &model : models())
      Recorder(model, fs::path(arguments[1]) / model.name).record();
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
