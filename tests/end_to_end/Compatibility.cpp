// Files written by earlier versions, tests/data/compatibility: each can be read, played and trained on as recorded.
// SPDX-License-Identifier: Apache-2.0
#include "Fixture.h"
#include "ForcedTargets.h"
#include "compiler/codegen/KernelCache.h"
#include "mlir/IR/Verifier.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Sha256.h"
#include "runtime/plan/PlanFile.h"
#include "tests/TemporaryFolder.h"
#include "tools/halftone-run/CompiledModule.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <elf.h>
#include <limits>
#include <set>

using namespace halftone;
using namespace halftone::test;
namespace fs = std::filesystem;

namespace {

/// The folder of one model of one generation.
struct Fixture {
  fs::path folder;
  Json facts;
  NamedTensors values;

  std::string name() const { return folder.parent_path().filename().string() + "/" + folder.filename().string(); }
  std::string path(const std::string &file) const { return (folder / file).string(); }
  const Tensor &value(const std::string &key) const { return valueOf(values, key); }
  double tolerance() const { return facts.at("tolerance"); }
  /// The global policy, which determines whether compile() scales the loss.
  DTypePolicy policy() const { return dtype_policies::deserialize(Config::parse(facts.at("policy").dump())); }
  bool trains() const { return !facts.at("optimizer").is_null(); }
  bool has(const std::string &file) const { return fs::exists(folder / file); }
  /// The names of the files with this ending, without the ending: "predict.x86-64-v2".
  std::vector<std::string> stems(std::string_view ending) const {
    std::vector<std::string> found;
    for (const auto &entry : fs::directory_iterator(folder))
      if (const std::string file = entry.path().filename().string(); file.ends_with(ending))
        found.push_back(file.substr(0, file.size() - ending.size()));
    std::ranges::sort(found);
    return found;
  }
};

/// All fixtures of all generations. A generation without fixtures, or no generation, is a failure.
std::vector<Fixture> fixtures() {
  std::vector<Fixture> all;
  for (const auto &generation : fs::directory_iterator(HALFTONE_SOURCE_DIR "/tests/data/compatibility")) {
    if (!generation.is_directory())
      continue;
    const size_t before = all.size();
    for (const auto &entry : fs::directory_iterator(generation))
      if (entry.is_directory()) {
        const std::string folder = entry.path().string() + "/";
        all.push_back(
            {entry.path(), Json::parse(contentsOf(folder + fixtureFile)), load_safetensors(folder + valuesFile)});
      }
    INFO(generation.path());
    REQUIRE(all.size() > before);
  }
  REQUIRE_FALSE(all.empty());
  std::ranges::sort(all, {}, &Fixture::folder);
  return all;
}

bool sameBits(const Tensor &found, const Tensor &expected) {
  return found.dtype() == expected.dtype() && found.shape() == expected.shape() &&
         std::memcmp(TensorAccess::data(found), TensorAccess::data(expected),
                     static_cast<size_t>(TensorAccess::bytes(expected))) == 0;
}
/// The largest difference, relative to the largest finite expected element, or to 1e-3 if that is larger. Non-finite
/// elements must be equal, or both NaN.
double distance(const std::vector<double> &found, const std::vector<double> &expected) {
  REQUIRE(found.size() == expected.size());
  double largest = 1e-3, difference = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!std::isfinite(expected[i]) || !std::isfinite(found[i])) {
      if (found[i] != expected[i] && !(std::isnan(found[i]) && std::isnan(expected[i])))
        return std::numeric_limits<double>::infinity();
      continue;
    }
    largest = std::max(largest, std::abs(expected[i]));
    difference = std::max(difference, std::abs(found[i] - expected[i]));
  }
  return difference / largest;
}
std::vector<double> numbers(const Tensor &tensor) { return tensor.astype(float64).to_vector<double>(); }

/// Checks that dtypes and shapes are equal, integers are equal, and floats are within the fixture's tolerance.
void checkNear(const Fixture &fixture, const Tensor &found, const Tensor &expected) {
  CHECK(found.dtype() == expected.dtype());
  CHECK(found.shape() == expected.shape());
  CHECK(distance(numbers(found), numbers(expected)) <= (is_float(expected.dtype()) ? fixture.tolerance() : 0.0));
}
void checkPrediction(const Fixture &fixture, const Model &model, const std::string &expected) {
  checkNear(fixture, model.predict(fixture.value("x"), {.verbose = 0}), fixture.value(expected));
}
void checkWeights(const Fixture &fixture, const Model &model) {
  const std::vector<Variable> weights = model.weights();
  for (size_t i = 0; i < weights.size(); ++i) {
    INFO(weights[i].path());
    CHECK(sameBits(weights[i].value(), fixture.value(fmt::format("weight/{}", i))));
  }
  REQUIRE_FALSE(weights.empty());
}

/// The model of the recorded config, with other weights, compiled as recorded.
Model modelOf(const Fixture &fixture) {
  drawAnew();
  const Model model = Model::from_config(Config::parse(contentsOf(fixture.path(configFile))));
  if (fixture.trains())
    model.compile(
        {.optimizer = optimizers::deserialize(Config::parse(fixture.facts.at("optimizer").dump())), .loss = "mse"});
  return model;
}

/// Trains on the recorded batches, and checks the losses, the weights and the optimizer's counters.
void checkTrainsOn(const Fixture &fixture, const Model &model) {
  const std::vector<double> losses = trainOnBatches(model, fixture.value("x"), fixture.value("targets"));
  CHECK(distance(losses, numbers(fixture.value("batch_losses"))) <= fixture.tolerance());
  CHECK(model.optimizer().iterations() == fixture.facts.at("step_after"));
  const std::vector<Variable> weights = model.weights();
  for (size_t i = 0; i < weights.size(); ++i) {
    INFO(weights[i].path());
    checkNear(fixture, weights[i].value(), fixture.value(fmt::format("weight_after/{}", i)));
  }
}

/// The state of a loss scale without the name of the last fault, which an optimizer has only after it recorded an
/// update.
Json withoutFault(Json state) {
  if (state.is_object())
    state.erase("last_fault");
  return state;
}

/// Returns true, and prints it, if code for `target`, which the loader rejected, lacks a CPU on this machine.
bool isForeign(const std::string &target, const Status &status) {
  const bool runs = target == V3::target ? V3::runs() : target == V2::target;
  if (status.isOk() || runs || status.message().find("this machine lacks") == std::string::npos)
    return false;
  WARN("skipped: plans for " << target << ": " << status.message());
  return true;
}

void checkResults(const Fixture &fixture, const StatusOr<NamedTensors> &found, const NamedTensors &expected,
                  bool exact) {
  REQUIRE(found.status().str() == "ok");
  REQUIRE(found->size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO(expected[i].first);
    const Tensor &value = valueOf(*found, expected[i].first);
    if (exact)
      CHECK(sameBits(value, expected[i].second));
    else
      checkNear(fixture, value, expected[i].second);
  }
}

} // namespace

TEST_CASE("Files of earlier versions are those that were recorded", "[compatibility]") {
  for (const Fixture &fixture : fixtures()) {
    INFO(fixture.name());
    const Json &digests = fixture.facts.at("sha256");
    for (const auto &[file, digest] : digests.items()) {
      INFO(file);
      CHECK(sha256(contentsOf(fixture.path(file))) == digest.get<std::string>());
    }
    const auto files = std::distance(fs::directory_iterator(fixture.folder), fs::directory_iterator());
    CHECK(files == std::ssize(digests) + 1);
  }
}

TEST_CASE("A .keras file of an earlier version predicts and trains on as recorded", "[compatibility]") {
  int files = 0;
  for (const Fixture &fixture : fixtures()) {
    if (!fixture.has(kerasFile))
      continue;
    ++files;
    INFO(fixture.name());
    const PolicyScope policy(fixture.policy());
    drawAnew();
    const Model model = load_model(fixture.path(kerasFile));
    checkWeights(fixture, model);
    checkPrediction(fixture, model, "predicted");
    if (!fixture.trains())
      continue;
    CHECK(model.optimizer().iterations() == fixture.facts.at("step"));
    checkTrainsOn(fixture, model);
  }
  CHECK(files > 0);
}

TEST_CASE("A model takes the weights of an earlier version's .weights.h5, .safetensors and checkpoint",
          "[compatibility]") {
  std::set<std::string> files;
  for (const Fixture &fixture : fixtures())
    for (const char *file : {h5File, weightsFile, checkpointFile}) {
      if (!fixture.has(file))
        continue;
      files.insert(file);
      INFO(fixture.name() << "/" << file);
      const PolicyScope policy(fixture.policy());
      const Model model = modelOf(fixture);
      model.load_weights(fixture.path(file));
      checkWeights(fixture, model);
      checkPrediction(fixture, model, "predicted");
    }
  CHECK(files.size() == 3);
}

TEST_CASE("Training goes on from a checkpoint of an earlier version as recorded", "[compatibility]") {
  for (const Fixture &fixture : fixtures()) {
    INFO(fixture.name());
    const PolicyScope policy(fixture.policy());
    const Model model = modelOf(fixture);
    const Checkpoint::Restored restored = Checkpoint(model).restore(fixture.path(checkpointFile));
    CHECK(restored.converted.empty());
    checkWeights(fixture, model);
    if (!fixture.trains())
      continue;
    CHECK(restored.epoch == fixture.facts.at("epoch"));
    CHECK(restored.step == fixture.facts.at("step"));
    CHECK(withoutFault(lossScaleOf(model)) == withoutFault(fixture.facts.at("loss_scale")));
    checkTrainsOn(fixture, model);
    CHECK(lossScaleOf(model) == fixture.facts.at("loss_scale_after"));
    const std::vector<double> losses = fitTwoEpochs(model, fixture.value("x"), fixture.value("y"), restored.epoch);
    CHECK(distance(losses, numbers(fixture.value("epoch_losses"))) <= fixture.tolerance());
    checkPrediction(fixture, model, "predicted_after");
  }
}

TEST_CASE("A plan of an earlier version is played to the recorded bits", "[compatibility]") {
#ifndef __x86_64__
  WARN("skipped: the recorded plans hold code for x86-64");
  return;
#endif
  int plans = 0;
  for (const Fixture &fixture : fixtures())
    for (const std::string &stem : fixture.stems(planEnding)) {
      INFO(fixture.name() << "/" << stem);
      const std::string program = stem.substr(0, stem.find('.')), target = stem.substr(stem.find('.') + 1);
      const StatusOr<Executable> plan = loadExecutable(fixture.path(stem + std::string(planEnding)));
      REQUIRE(plan.status().str() == "ok");
      ++plans;
      const NamedTensors given = load_safetensors(fixture.path(givenFile(program)));
      const NamedTensors expected = load_safetensors(fixture.path(resultsFile(program, target)));
      for (const int threads : {1, 2}) {
        const StatusOr<NamedTensors> found = play(std::make_shared<const Executable>(*plan), given, threads);
        if (isForeign(target, found.status()))
          break;
        checkResults(fixture, found, expected, true);
      }
    }
  CHECK(plans > 0);
}

TEST_CASE("Bytecode of an earlier version is verified and compiled, and gives the recorded results",
          "[compatibility]") {
  int modules = 0;
  for (const Fixture &fixture : fixtures())
    for (const std::string &program : fixture.stems(bytecodeEnding)) {
      INFO(fixture.name() << "/" << program);
      const StatusOr<tools::ModuleFile> file = tools::loadModule(fixture.path(program + std::string(bytecodeEnding)));
      REQUIRE(file.status().str() == "ok");
      REQUIRE(succeeded(mlir::verify(*file->module)));
      ++modules;
      const StatusOr<tools::CompiledModule> compiled = tools::compileModule(*file->module, file->stage, {});
      REQUIRE(compiled.status().str() == "ok");
      const NamedTensors given = load_safetensors(fixture.path(givenFile(program)));
      checkResults(fixture, play(compiled->executable, given, 2),
                   load_safetensors(fixture.path(resultsFile(program, V2::target))), false);
    }
  CHECK(modules > 0);
}

namespace {

constexpr const char *otherId = "0.0.1-0123456789abcdef";

/// Replaces the instructions of an object by traps (ud2).
std::string withTraps(std::string object) {
  Elf64_Ehdr header;
  REQUIRE(object.size() > sizeof header);
  std::memcpy(&header, object.data(), sizeof header);
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, object.data() + header.e_shoff + static_cast<size_t>(i) * sizeof section, sizeof section);
    if (section.sh_flags & SHF_EXECINSTR)
      for (size_t at = 0; at + 1 < section.sh_size; at += 2)
        std::memcpy(object.data() + section.sh_offset + at, "\x0f\x0b", 2);
  }
  return object;
}
std::string garbage(std::string code) { return std::string(code.size(), 'x'); }

struct Compiled {
  std::shared_ptr<const Executable> executable;
  compiler::CompileStatistics statistics;
};
/// The plan of a program compiled with a cache folder, and the origin of its kernels.
Compiled compiledWith(const std::string &cache) {
  const std::string text =
      "func.func @main(%x: tensor<4x6xf32> {halftone.name = \"x\"}, %w: tensor<6x3xf32> {halftone.name "
      "= \"w\"}) -> (tensor<4x3xf32> {halftone.name = \"y\"}) {\n"
      "  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : "
      "(tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>\n"
      "  return %0 : tensor<4x3xf32>\n}\n";
  const tools::ModuleFile file = tools::parseModule(text, "program").valueOrThrow();
  compiler::CompileOptions options;
  options.cacheDirectory = cache;
  const tools::CompiledModule compiled = tools::compileModule(*file.module, file.stage, options).valueOrThrow();
  return {compiled.executable, compiled.statistics};
}

/// Fills the folder of this build in a cache with the kernels of a plan, after `change` was applied to their code.
template <class Change> void fill(const std::string &cache, const Executable &plan, Change change) {
  compiler::KernelCache entries(cache);
  for (const auto &[key, kernel] : plan.kernels) {
    KernelCode changed = kernel;
    changed.code = change(kernel.code);
    entries.insert(key, changed);
  }
  REQUIRE(entries.warning().empty());
}

} // namespace

TEST_CASE("Cache entries of another build are neither found nor run: kernels are compiled, with the right results",
          "[compatibility]") {
  const TemporaryFolder folder;
  const Compiled first = compiledWith(folder / "first");
  const Executable &plan = *first.executable;
  REQUIRE(first.statistics.compiled > 0);
  const NamedTensors given{{"plays", Tensor::scalar(int64_t(1))},
                           {"0/x", tools::randomTensor(plan.signature.feeds.at(0), 1)},
                           {"0/w", tools::randomTensor(plan.signature.feeds.at(1), 1)}};
  const Tensor expected = valueOf(play(first.executable, given, 1).valueOrThrow(), "0/y");
  for (const bool traps : {true, false}) {
    const std::string own = folder / (traps ? "own traps" : "own garbage"),
                      other = folder / (traps ? "traps" : "garbage");
    const auto change = [&](const std::string &code) { return traps ? withTraps(code) : garbage(code); };
    fill(own, plan, change);
    fill(other, plan, change);
    // In the folder of this build the same entries are found: their keys and format are valid.
    CHECK(compiledWith(own).statistics.fromDisk == first.statistics.kernels);

    fs::rename(fs::path(other) / compiler::codeId(), fs::path(other) / otherId);
    const Compiled again = compiledWith(other);
    CHECK(again.statistics.compiled == first.statistics.kernels);
    CHECK(again.statistics.fromDisk == 0);
    CHECK(again.statistics.cacheWarning.empty());
    CHECK(sameBits(valueOf(play(again.executable, given, 1).valueOrThrow(), "0/y"), expected));
    CHECK(fs::exists(fs::path(other) / otherId / plan.kernels.begin()->first)); // it is not touched either
  }
}
