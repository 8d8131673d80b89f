// compile(): random graphs and a training step, compared on the CPU with the interpreter; caches, statistics, errors.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/Compiler.h"
#include "RandomModule.h"
#include "compiler/codegen/KernelCache.h"
#include "dialect/Interpreter.h"
#include "dialect/TypeInference.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Player.h"
#include "runtime/TensorAccess.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/loader/ObjectLoader.h"
#include "runtime/plan/PlanFile.h"
#include "tests/TemporaryFolder.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

using namespace mlir;
using namespace halftone;
using namespace halftone::dialect;
using compiler::CompileOptions;
using compiler::CompileStatistics;
using compiler::Stage;

namespace {

struct Context : MLIRContext {
  Context() : MLIRContext(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerDialects(registry);
    appendDialectRegistry(registry);
    loadAllAvailableDialects();
  }
};

RankedTensorType typeOf(MLIRContext *context, const halftone::TensorType &type) {
  return RankedTensorType::get(type.shape, elementType(context, type.dtype));
}

Tensor tensorOf(const TensorData &data, const halftone::TensorType &type) {
  Tensor tensor = TensorAccess::allocate(type.dtype, Shape(type.shape));
  std::string bytes = data.toBytes();
  std::memcpy(TensorAccess::mutableData(tensor), bytes.data(), bytes.size());
  return tensor;
}

TensorData dataOf(MLIRContext *context, const Tensor &tensor, const halftone::TensorType &type) {
  return TensorData::fromBytes(typeOf(context, type), TensorAccess::data(tensor));
}

/// A variable's initial value: floats in [-2, 2], integers and bools in {0, 1}.
TensorData randomData(RankedTensorType type, std::mt19937 &random) {
  TensorData data;
  data.type = type;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    if (data.isFloat()) {
      data.low.push_back(static_cast<float>(static_cast<double>(random() % 4001) / 1000.0 - 2.0));
      data.high.push_back(data.low.back());
    } else {
      data.integers.push_back(random() % 2);
    }
  return data;
}

int64_t countOutside(const TensorData &bounds, const TensorData &actual) {
  int64_t outside = 0;
  for (int64_t element = 0; element < actual.size(); ++element)
    outside += !bounds.contains(actual, element);
  return outside;
}

/// Compiles a graph and plays it `plays` times. The interpreter checks each play, starting from the variables of the
/// compiled program.
void compare(const std::string &text, const CompileOptions &options, uint32_t seed, int plays) {
  Context context;
  auto graph = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(graph);
  OwningOpRef<ModuleOp> pure(cast<ModuleOp>(graph->clone()));
  REQUIRE(compiler::runStages(*pure, Stage::graph, Stage::pure, options).str() == "ok");
  auto compiled = compiler::compile(*graph, options);
  REQUIRE(compiled.status().str() == "ok");
  auto exe = std::make_shared<const Executable>(std::move(*compiled));

  std::mt19937 random(seed);
  auto device = CpuDevice::create(2).valueOrThrow();
  VariableStore store(device);
  VariableBinding binding;
  for (const VariableSlot &variable : exe->variables)
    binding[variable.symbol] =
        store.create(variable.symbol, tensorOf(randomData(typeOf(&context, variable.type), random), variable.type))
            .valueOrThrow();
  auto player = Player::bind(exe, loadObjects(exe->kernels).valueOrThrow(), device, binding).valueOrThrow();
  for (int play = 0; play < plays; ++play) {
    std::vector<TensorData> feeds;
    std::vector<Tensor> inputs;
    for (const Parameter &feed : exe->signature.feeds) {
      feeds.push_back(randomData(typeOf(&context, feed.type), random));
      inputs.push_back(tensorOf(feeds.back(), feed.type));
    }
    VariableValues bounds;
    for (const VariableSlot &variable : exe->variables)
      bounds[variable.symbol] = dataOf(&context, binding.at(variable.symbol)->read().valueOrThrow(), variable.type);
    auto fetches = player->play(inputs);
    REQUIRE(fetches.status().str() == "ok");
    auto wanted = interpret(*pure, feeds, bounds, {.intervals = true});
    REQUIRE(wanted.status().str() == "ok");
    for (size_t i = 0; i < fetches->size(); ++i) {
      INFO("play " << play << ", fetch " << exe->signature.fetches[i].name);
      CHECK(countOutside((*wanted)[i], dataOf(&context, (*fetches)[i], exe->signature.fetches[i].type)) == 0);
    }
    for (const VariableSlot &variable : exe->variables) {
      INFO("play " << play << ", variable " << variable.symbol);
      Tensor value = binding.at(variable.symbol)->read().valueOrThrow();
      CHECK(countOutside(bounds.at(variable.symbol), dataOf(&context, value, variable.type)) == 0);
    }
  }
}

CompileOptions withoutDisk() {
  CompileOptions options;
  options.cacheDirectory = "none";
  options.verifyStages = true;
  return options;
}

} // namespace

TEST_CASE("random graphs compute what they mean") {
  uint32_t seed = GENERATE(range(1u, 33u));
  bool large = seed % 8 == 3;
  CompileOptions options = withoutDisk();
  const bool strict = seed % 4 == 0;
  options.numerics = compiler::Numerics::strictIf(strict);
  std::string text = randomGraph(seed, large ? 150 : 6, large ? 140 : 5);
  INFO("seed " << seed << (strict ? ", strict" : "") << "\n" << text);
  compare(text, options, seed, 2);
}

namespace {

std::string fileText(const std::string &name) {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/compiler/" + name);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  REQUIRE(!text.empty());
  return text;
}

StatusOr<Executable> compileText(const std::string &text, const CompileOptions &options,
                                 CompileStatistics &statistics) {
  Context context;
  auto module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  return compiler::compile(*module, options, &statistics);
}

const char *onlyCast =
    R"(func.func @main(%x: tensor<8xf32> {halftone.name = "x"}) -> (tensor<8xf16> {halftone.name = "y"}) {
  %0 = halftone.cast %x {origin = "user"} : tensor<8xf32> to tensor<8xf16>
  return %0 : tensor<8xf16>
}
)";

} // namespace

TEST_CASE("a mixed-precision training step computes what it means, and no kernel only casts") {
  CompileOptions options = withoutDisk();
  std::string text = fileText("training-step.mlir");
  SECTION("fast") {
    options.maxStandaloneCasts = 0;
    compare(text, options, 1, 4);
    CompileStatistics statistics;
    auto exe = compileText(text, options, statistics);
    REQUIRE(exe.status().str() == "ok");
    CHECK(statistics.standaloneCasts == 0);
    CHECK(statistics.fromMemory == statistics.kernels);
    CHECK(std::ranges::count_if(exe->kernels, [](const auto &each) { return !each.second.isCore(); }) ==
          statistics.kernels);
    // Every variable is updated in place: the plan copies only scalars.
    for (const Step &step : exe->plan.steps)
      if (auto *copy = std::get_if<CopyStep>(&step))
        CHECK(exe->plan.slots[copy->to].type.elements() == 1);
  }
  SECTION("strict") {
    options.numerics = compiler::Numerics::strict();
    compare(text, options, 1, 2);
  }
}

TEST_CASE("kernels come from memory, from disk, or are made") {
  std::string directory = (std::filesystem::temp_directory_path() / "halftone-compiler-test").string();
  std::filesystem::remove_all(directory);
  std::filesystem::create_directory(directory);
  std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
  CompileOptions options;
  options.cacheDirectory = directory;
  std::string text = randomGraph(7, 6, 5);
  CompileStatistics first, second, third;
  REQUIRE(compileText(text, options, first).status().str() == "ok");
  CHECK(first.kernels > 0);
  CHECK(first.compiled == first.kernels);
  REQUIRE(compileText(text, options, second).status().str() == "ok");
  CHECK(second.fromMemory == first.kernels);
  options.cacheDirectory = directory + "/"; // the same folder, spelled differently, so another cache object
  REQUIRE(compileText(text, options, third).status().str() == "ok");
  CHECK(third.fromDisk == first.kernels);
  CHECK(third.compiled == 0);
  std::filesystem::remove_all(directory);
}

/// Compiles two kernels that call the same cores, one of which has a symbol that begins with `symbol`.
static void checkSharedCores(const std::string &symbol, const std::string &text) {
  CAPTURE(symbol);
  const TemporaryFolder folder;
  CompileOptions options;
  options.target = "x86-64-v3";
  options.cacheDirectory = folder.path.string();
  CompileStatistics made;
  const Executable first = compileText(text, options, made).valueOrThrow();
  std::vector<std::string> cores;
  std::set<std::vector<std::string>> uses;
  bool hasSymbol = false;
  for (const auto &[key, kernel] : first.kernels)
    if (kernel.isCore()) {
      cores.push_back(key);
      hasSymbol |= kernel.symbol.starts_with(symbol);
      CHECK(kernel.description.empty());
    } else {
      CHECK_FALSE(kernel.uses.empty());
      uses.insert(kernel.uses);
    }
  CHECK(hasSymbol);
  CHECK(made.kernels == 2);
  CHECK(made.compiled == 2);
  REQUIRE(cores.size() == first.kernels.size() - 2);
  CHECK(uses == std::set<std::vector<std::string>>{cores}); // both kernels use all cores
  CHECK(checkCores(first.kernels).isOk());
  CHECK(writeExecutable(readExecutable(writeExecutable(first)).valueOrThrow()) == writeExecutable(first));

  std::string spelling = folder.path.string();
  const auto again = [&] { // with another cache object of the same folder
    CompileStatistics statistics;
    options.cacheDirectory = spelling += "/";
    CHECK(writeExecutable(compileText(text, options, statistics).valueOrThrow()) == writeExecutable(first));
    return std::pair(statistics.compiled, statistics.fromDisk);
  };
  CHECK(again() == std::pair<int64_t, int64_t>(0, 2));
  const std::filesystem::path core = folder.path / compiler::codeId() / cores[0];
  std::filesystem::remove(core);
  CHECK(again() == std::pair<int64_t, int64_t>(2, 0));
  CHECK(again() == std::pair<int64_t, int64_t>(0, 2));
  std::filesystem::resize_file(core, 100);
  CHECK(again() == std::pair<int64_t, int64_t>(2, 0));
  CHECK(again() == std::pair<int64_t, int64_t>(0, 2));
}

TEST_CASE("kernels share cores, which the caches keep, and a kernel whose core is lost is made again") {
  // Two products, and two chains of sines.
  checkSharedCores("halftone_core_sums_", R"(
    func.func @main(%x: tensor<33x70xf32> {halftone.name = "x"}, %w: tensor<70x100xf32> {halftone.name = "w"},
                    %v: tensor<100x90xf32> {halftone.name = "v"}) -> (tensor<33x90xf32> {halftone.name = "y"}) {
      %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
          : (tensor<33x70xf32>, tensor<70x100xf32>) -> tensor<33x100xf32>
      %1 = halftone.tanh %0 : tensor<33x100xf32>
      %2 = halftone.contract %1, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
          : (tensor<33x100xf32>, tensor<100x90xf32>) -> tensor<33x90xf32>
      return %2 : tensor<33x90xf32>
    })");
  checkSharedCores("halftone_core_sin_8xf32", R"(
    func.func @main(%x: tensor<300xf32> {halftone.name = "x"}, %w: tensor<20x30xf32> {halftone.name = "w"})
        -> (tensor<300xf32> {halftone.name = "y"}, tensor<20x30xf32> {halftone.name = "z"}) {
      %0 = halftone.sin %x : tensor<300xf32>
      %1 = halftone.sin %0 : tensor<300xf32>
      %2 = halftone.sin %1 : tensor<300xf32>
      %3 = halftone.sin %2 : tensor<300xf32>
      %4 = halftone.sin %w : tensor<20x30xf32>
      %5 = halftone.sin %4 : tensor<20x30xf32>
      %6 = halftone.sin %5 : tensor<20x30xf32>
      %7 = halftone.sin %6 : tensor<20x30xf32>
      %8 = halftone.sin %7 : tensor<20x30xf32>
      return %3, %8 : tensor<300xf32>, tensor<20x30xf32>
    })");
}

TEST_CASE("A pack gives a program its kernels and cores, and what a pack lacks is compiled") {
  const TemporaryFolder folder;
  const std::string text = R"(
    func.func @main(%x: tensor<31x72xf32> {halftone.name = "x"}, %w: tensor<72x104xf32> {halftone.name = "w"})
        -> (tensor<31x104xf32> {halftone.name = "y"}, tensor<72x104xf32> {halftone.name = "z"}) {
      %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
          : (tensor<31x72xf32>, tensor<72x104xf32>) -> tensor<31x104xf32>
      %1 = halftone.cosh %w : tensor<72x104xf32>
      return %0, %1 : tensor<31x104xf32>, tensor<72x104xf32>
    })";
  CompileOptions options;
  options.target = "x86-64-v3";
  int64_t folders = 0;
  std::optional<Executable> first;
  const auto origins = [&] { // compiles with an empty cache
    options.cacheDirectory = folder / std::to_string(++folders);
    CompileStatistics statistics;
    const Executable executable = compileText(text, options, statistics).valueOrThrow();
    if (!first)
      first = executable;
    CHECK(writeExecutable(executable) == writeExecutable(*first));
    CHECK(statistics.packWarning.empty());
    return std::pair(statistics.compiled, statistics.fromPacks);
  };
  const std::string pack = folder / "kernels.pack";
  const auto add = [&](const std::map<std::string, KernelCode> &kernels) {
    REQUIRE(saveKernelPack(pack, compiler::codeId(), kernels).isOk());
    REQUIRE(compiler::kernelPacks().add(pack).isOk());
  };
  REQUIRE(origins() == std::pair<int64_t, int64_t>(2, 0));
  add(first->kernels);
  CHECK(origins() == std::pair<int64_t, int64_t>(0, 2));
  CHECK(!std::filesystem::exists(folder.path / "2" / compiler::codeId() / first->kernels.begin()->first));
  std::map<std::string, KernelCode> some = first->kernels;
  std::erase_if(some, [](const auto &entry) { return entry.second.isCore(); });
  REQUIRE(some.size() + 1 <= first->kernels.size());
  add(some); // the product is compiled with its cores
  CHECK(origins() == std::pair<int64_t, int64_t>(1, 1));
  some = first->kernels;
  std::erase_if(some, [](const auto &entry) { return entry.second.kind == "matmul"; });
  add(some); // the cores are those of the pack
  CHECK(origins() == std::pair<int64_t, int64_t>(1, 1));
  for (auto &[key, kernel] : some)
    if (kernel.isCore())
      CHECK(!std::filesystem::exists(folder.path / std::to_string(folders) / compiler::codeId() / key));
  add({});
  CHECK(origins() == std::pair<int64_t, int64_t>(2, 0));
}

TEST_CASE("every stage is shown in order") {
  CompileOptions options = withoutDisk();
  std::vector<Stage> stages;
  options.onStage = [&](Stage stage, std::string_view text) {
    stages.push_back(stage);
    CHECK(!text.empty());
  };
  CompileStatistics statistics;
  REQUIRE(compileText(randomGraph(3, 6, 5), options, statistics).status().str() == "ok");
  CHECK(stages == std::vector<Stage>{Stage::graph, Stage::cast, Stage::pure, Stage::kernel, Stage::linalg, Stage::plan,
                                     Stage::target});
}

TEST_CASE("a kernel without code is an error after the plan is shown") {
  CompileOptions options = withoutDisk();
  options.target = "powerpc64le-unknown-linux-gnu"; // whose code refers to a table of contents, which no kernel has
  std::vector<Stage> stages;
  std::string plan;
  options.onStage = [&](Stage stage, std::string_view text) {
    stages.push_back(stage);
    if (stage == Stage::plan)
      plan = text;
  };
  CompileStatistics statistics;
  auto exe = compileText(onlyCast, options, statistics);
  REQUIRE(!exe.isOk());
  CHECK(exe.status().kind() == ErrorKind::internal_error);
  CHECK_THAT(exe.status().message(), Catch::Contains("kernel loop_") && Catch::Contains("the kernel would call"));
  REQUIRE(!stages.empty());
  CHECK(stages.back() == Stage::plan);
  CHECK_THAT(plan, Catch::Contains("1 kernels") && Catch::Contains(": loop\n") && Catch::Contains("feed 0 \"x\""));
}

TEST_CASE("errors of compiling are one Status") {
  CompileStatistics statistics;
  CompileOptions options = withoutDisk();
  options.target = "z80";
  auto unknown = compileText(onlyCast, options, statistics);
  REQUIRE(!unknown.isOk());
  CHECK(unknown.status().kind() == ErrorKind::value_error);

  options.target = "host";
  options.maxStandaloneCasts = 0;
  auto tight = compileText(onlyCast, options, statistics);
  REQUIRE(!tight.isOk());
  CHECK(tight.status().kind() == ErrorKind::compile_error);
  CHECK(statistics.standaloneCasts == 1);

  options.maxStandaloneCasts = 1;
  auto exe = compileText(onlyCast, options, statistics);
  REQUIRE(exe.status().str() == "ok");
  REQUIRE(exe->ledger.size() == 1);
  CHECK(!exe->ledger[0].fused);
}
