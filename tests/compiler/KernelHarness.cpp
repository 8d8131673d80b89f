// Compiles, runs and interprets one kernel.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include "compiler/codegen/KernelCompiler.h"
#include "compiler/forms/Forms.h"
#include "compiler/targets/cpu/matmul/Products.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/loader/ObjectLoader.h"
#include "tests/compiler/EmulatedGpu.h"
#include "tests/compiler/TileEmulation.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace halftone::testing {
using namespace mlir;
using dialect::TensorData;

namespace {

struct Loaded {
  std::shared_ptr<const KernelLibrary> library;
  CpuKernelFunction function;
};

bool isGpu(const compiler::Target &target) { return target.name.starts_with("sm_"); }

/// Returns true if `target` has tiles and this machine has none.
bool needsTileEmulation(const compiler::Target &target) {
  const auto *cpu = dynamic_cast<const compiler::CpuTarget *>(&target);
  auto host = compiler::CpuTarget::find("host");
  REQUIRE(host.isOk());
  const auto tiles = compiler::cpu::Product::tdpbf16ps;
  return cpu && compiler::findProduct(*cpu, tiles) && !compiler::findProduct(*host, tiles);
}

/// The cores of the kernels that this process has compiled, by key.
std::map<std::string, KernelCode> &knownCores() {
  static std::map<std::string, KernelCode> cores;
  return cores;
}

/// Compiles the cores that are not known yet.
void compileCores(const std::map<std::string, compiler::Core> &cores, const compiler::Target &target) {
  const bool emulated = needsTileEmulation(target);
  for (const auto &[key, core] : cores) {
    if (knownCores().contains(key))
      continue;
    compiler::KernelDumps dumps;
    auto code = compiler::KernelCompiler(target).compile(core, emulated ? &dumps : nullptr);
    if (code.isOk() && emulated)
      code = emulateTiles(*code, dumps);
    if (!code.isOk())
      FAIL(code.status().message() << "\n" << code.status().diagnostics() << "\n" << core.symbol);
    knownCores().emplace(key, std::move(*code));
  }
}

KernelCode compileForTest(const std::string &text, const compiler::Target &target) {
  compiler::KernelDumps dumps;
  const bool show = std::getenv("HALFTONE_SHOW_KERNELS") != nullptr, emulated = needsTileEmulation(target);
  compiler::KernelCompiler compiler(target);
  auto code = compiler.compile(text, show || emulated ? &dumps : nullptr);
  if (code.isOk() && emulated)
    code = emulateTiles(*code, dumps);
  if (!code.isOk())
    FAIL(code.status().message() << "\n" << code.status().diagnostics() << "\n" << text);
  if (show)
    llvm::errs() << dumps.emitted << "\n" << dumps.assembly << "\n";
  compileCores(compiler.cores(), target);
  return std::move(*code);
}

/// The kernel's code, loaded once per text and target in this process.
Loaded load(const std::string &key, const KernelCode &code) {
  static std::map<std::string, Loaded> known;
  if (auto it = known.find(key); it != known.end())
    return it->second;
  std::map<std::string, KernelCode> kernels = knownCores();
  kernels.emplace(key, code);
  auto library = loadObjects(kernels);
  if (!library.isOk())
    FAIL(library.status().message() << "\n" << code.description);
  auto function = (*library)->find(key);
  REQUIRE(function.isOk());
  return known[key] = {*library, function->function()};
}

std::vector<char> aligned(size_t bytes, char *&start) {
  std::vector<char> memory(bytes + 2 * bufferAlignment, char(0x5A));
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  start = memory.data() + (bufferAlignment - address % bufferAlignment) % bufferAlignment;
  return memory;
}

const std::string targetOfPairs = "x86_64-unknown-linux-gnu:znver4";

bool runsPairs() {
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vbmi2") &&
         __builtin_cpu_supports("vaes") && __builtin_cpu_supports("sse4a"); // Intel's CPUs lack sse4a
}

size_t bytesOf(RankedTensorType type) {
  return size_t(type.getNumElements()) * std::max(1u, type.getElementTypeBitWidth() / 8);
}

} // namespace

KernelHarness::KernelHarness(const std::string &source, std::string_view name, bool strict) {
  DialectRegistry registry;
  dialect::registerDialects(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  std::string diagnostics;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    return success();
  });
  module = parseSourceString<ModuleOp>(source, context.get());
  if (!module)
    FAIL(diagnostics << source);
  kernel = *module->getOps<dialect::KernelOp>().begin();
  kernel.setKind(compiler::kindOf(kernel.getBody().front())); // the text may name another kind if extents are 1
  auto found = compiler::Target::find(name);
  REQUIRE(found.isOk());
  target = *found;
  auto result = compiler::describeKernel(kernel, *target, compiler::Numerics::strictIf(strict));
  if (failed(result) || failed(verify(*result->module)))
    FAIL(diagnostics << source);
  described = std::move(*result);
  llvm::raw_string_ostream(text) << *described.module;
}

KernelHarness::~KernelHarness() = default;

std::string KernelHarness::schedule() const {
  auto function = *described.module.get().getOps<func::FuncOp>().begin();
  const Attribute attribute = function->getAttr("halftone.schedule");
  std::string found;
  if (attribute)
    llvm::raw_string_ostream(found) << attribute;
  return found;
}

std::string KernelHarness::refusalOf(const std::string &schedule) const {
  DialectRegistry registry;
  compiler::Target::registerDialects(registry);
  context->appendDialectRegistry(registry);
  const OwningOpRef<ModuleOp> changed(described.module.get().clone());
  const Attribute other = parseAttribute(schedule, context.get());
  REQUIRE(other);
  (*changed.get().getOps<func::FuncOp>().begin())->setAttr("halftone.schedule", other);
  std::string linalg;
  llvm::raw_string_ostream(linalg) << *changed;
  const auto code = compiler::compileKernel(linalg, *target);
  REQUIRE_FALSE(code.isOk());
  return code.status().diagnostics();
}

std::vector<TensorData> KernelHarness::operands(unsigned seed, bool specials, double scale) const {
  std::mt19937_64 random(seed);
  std::vector<TensorData> result;
  for (Type type : kernel->getRegion(0).getArgumentTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    std::string bytes;
    Type element = tensor.getElementType();
    unsigned width = std::max(8u, element.getIntOrFloatBitWidth());
    TensorData data;
    data.type = tensor;
    std::normal_distribution<double> normal(0, scale);
    for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
      if (auto floatType = dyn_cast<FloatType>(element)) {
        llvm::APFloat value(normal(random));
        bool lossy = false;
        value.convert(floatType.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lossy);
        bool hasInfinity = llvm::APFloat::semanticsHasInf(floatType.getFloatSemantics());
        if (specials)
          switch (random() % 24) {
          case 0:
            value = llvm::APFloat::getNaN(floatType.getFloatSemantics());
            break;
          case 1:
            if (hasInfinity)
              value = llvm::APFloat::getInf(floatType.getFloatSemantics(), random() % 2);
            break;
          case 2:
            value = llvm::APFloat::getZero(floatType.getFloatSemantics(), random() % 2);
            break;
          case 3:
            value = llvm::APFloat::getSmallest(floatType.getFloatSemantics(), random() % 2);
            break;
          case 4:
            value = llvm::APFloat::getLargest(floatType.getFloatSemantics(), random() % 2);
            break;
          default:
            break;
          }
        llvm::APFloat wide = value;
        wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lossy);
        data.low.push_back(wide.convertToDouble());
        continue;
      }
      if (element.isInteger(1)) {
        data.integers.push_back(random() % 2);
        continue;
      }
      int64_t value = random() % 4 ? int64_t(random() % 17) - 8 : int64_t(random());
      if (width < 64) // wraps into the type
        value = element.isUnsignedInteger() ? int64_t(uint64_t(value) << (64 - width) >> (64 - width))
                                            : value << (64 - width) >> (64 - width);
      data.integers.push_back(value);
    }
    data.high = data.low;
    result.push_back(std::move(data));
  }
  return result;
}

const KernelCode &KernelHarness::code() const {
  static std::map<std::string, KernelCode> known;
  const std::string key = compiler::kernelKey(text, *target);
  auto at = known.find(key);
  if (at == known.end())
    at = known.emplace(key, compileForTest(text, *target)).first;
  return at->second;
}

std::vector<RankedTensorType> KernelHarness::resultTypes() const {
  std::vector<RankedTensorType> types;
  for (Type type : kernel->getRegion(0).front().getTerminator()->getOperandTypes())
    types.push_back(cast<RankedTensorType>(type));
  return types;
}

std::vector<TensorData> KernelHarness::run(const std::vector<TensorData> &operands) const {
  return isGpu(*target) ? runOnGpu(operands) : runOnCpu(operands);
}

const KernelCode &KernelHarness::wideCode() const {
  static std::map<std::string, KernelCode> known;
  auto at = known.find(text);
  if (at == known.end()) {
    const std::string attribute = ", halftone.short_indices";
    const size_t begin = text.find(attribute);
    REQUIRE(begin != std::string::npos);
    at = known.emplace(text, compileForTest(std::string(text).erase(begin, attribute.size()), *target)).first;
  }
  return at->second;
}

GpuLaunch KernelHarness::gpuLaunch(const std::vector<TensorData> &operands) const { return launchOf(code(), operands); }

GpuLaunch KernelHarness::launchOf(const KernelCode &made, const std::vector<TensorData> &operands) const {
  GpuLaunch launch{made, {}, {}, {described.extents}, described.grid, described.scratchBytes};
  for (const TensorData &operand : operands)
    launch.operands.push_back(operand.toBytes());
  for (RankedTensorType type : resultTypes())
    launch.resultBytes.push_back(bytesOf(type));
  return launch;
}

std::vector<TensorData> KernelHarness::runOnGpu(const std::vector<TensorData> &operands) const {
  const GpuLaunch launch = gpuLaunch(operands);
  // The seed also determines the order in which mma.sync adds floats.
  const unsigned seed = 7, other = text.find("product = mma_m16n8k16") == std::string::npos ? 0 : seed;
  const std::vector<std::string> whole = testing::runOnGpu(launch, /*parts=*/0, other);
  CHECK(testing::runOnGpu(launch, /*parts=*/2, seed) == whole);
  CHECK(testing::runOnGpu(launchOf(wideCode(), operands), /*parts=*/2, other) == whole);
  std::vector<TensorData> results;
  for (auto [type, bytes] : llvm::zip(resultTypes(), whole))
    results.push_back(TensorData::fromBytes(type, bytes.data()));
  return results;
}

std::vector<TensorData> KernelHarness::runOnCpu(const std::vector<TensorData> &operands,
                                                std::optional<size_t> inPlace) const {
  const CpuKernelFunction function = load(compiler::kernelKey(text, *target), code()).function;
  auto once = [&](bool blockByBlock) {
    std::vector<std::vector<char>> memories;
    std::vector<void *> buffers;
    auto add = [&](const std::string *bytes, size_t size) {
      char *start = nullptr;
      memories.push_back(aligned(size, start));
      if (bytes)
        std::memcpy(start, bytes->data(), bytes->size());
      buffers.push_back(start);
    };
    for (const TensorData &operand : operands) {
      std::string bytes = operand.toBytes();
      add(&bytes, bytes.size());
    }
    std::vector<size_t> sizes;
    for (RankedTensorType type : resultTypes()) {
      sizes.push_back(bytesOf(type));
      if (inPlace && sizes.size() == 1)
        buffers.push_back(buffers[*inPlace]);
      else
        add(nullptr, sizes.back());
    }
    char *scratch = nullptr;
    std::vector<char> scratchMemory = aligned(std::max<int64_t>(described.scratchBytes, 64), scratch);
    std::memset(scratch, 0xff,
                size_t(std::max<int64_t>(described.scratchBytes, 64))); // NaNs, which must not reach any result
    std::memset(scratch, 0, 8);
    if (blockByBlock)
      for (int64_t block = described.grid; block-- > 0;)
        function(buffers.data(), described.extents.data(), block, block + 1, scratch);
    else
      function(buffers.data(), described.extents.data(), 0, described.grid, scratch);
    // The bytes after each result and after the scratch must be unchanged.
    for (size_t i = 0; i < sizes.size(); ++i)
      CHECK(static_cast<char *>(buffers[operands.size() + i])[sizes[i]] == char(0x5A));
    CHECK(scratch[std::max<int64_t>(described.scratchBytes, 64)] == char(0x5A));
    std::vector<TensorData> results;
    for (auto [number, type] : llvm::enumerate(resultTypes()))
      results.push_back(TensorData::fromBytes(type, static_cast<const char *>(buffers[operands.size() + number])));
    return results;
  };
  std::vector<TensorData> whole = once(false), pieces = once(true);
  for (size_t i = 0; i < whole.size(); ++i)
    CHECK(whole[i].toBytes() == pieces[i].toBytes());
  return whole;
}

std::vector<TensorData> KernelHarness::interpret(const std::vector<TensorData> &operands, bool intervals) const {
  dialect::InterpreterOptions options;
  options.intervals = intervals;
  auto results = dialect::interpretKernel(kernel, operands, options);
  if (!results.isOk())
    FAIL(results.status().message());
  return *results;
}

void KernelHarness::checkExact(const std::vector<TensorData> &operands) const {
  std::vector<TensorData> actual = run(operands), expected = interpret(operands, false);
  REQUIRE(actual.size() == expected.size());
  for (size_t number = 0; number < actual.size(); ++number) {
    INFO("result " << number);
    int wrong = 0;
    for (size_t i = 0; i < actual[number].integers.size(); ++i)
      if (actual[number].integers[i] != expected[number].integers[i] && ++wrong < 5)
        FAIL_CHECK("element " << i << ": " << actual[number].integers[i] << ", expected "
                              << expected[number].integers[i]);
    for (size_t i = 0; i < actual[number].low.size(); ++i) {
      double a = actual[number].low[i], e = expected[number].low[i];
      bool same = std::isnan(a) ? std::isnan(e) : a == e && std::signbit(a) == std::signbit(e);
      if (!same && ++wrong < 5)
        FAIL_CHECK("element " << i << ": " << a << ", expected " << e);
    }
    CHECK(wrong == 0);
  }
}

void KernelHarness::checkInside(const std::vector<TensorData> &operands) const {
  std::vector<TensorData> actual = run(operands), expected = interpret(operands, true),
                          exact = interpret(operands, false);
  REQUIRE(actual.size() == expected.size());
  for (size_t number = 0; number < actual.size(); ++number) {
    INFO("result " << number);
    int wrong = 0;
    // A comparison of values whose bounds overlap may have either result.
    for (size_t i = 0; i < actual[number].integers.size(); ++i)
      if (int64_t value = actual[number].integers[i];
          value != expected[number].integers[i] && value != exact[number].integers[i] && ++wrong < 5)
        FAIL_CHECK("element " << i << ": " << value << ", expected " << expected[number].integers[i]);
    for (size_t i = 0; i < actual[number].low.size(); ++i) {
      double a = actual[number].low[i], low = expected[number].low[i], high = expected[number].high[i];
      bool mayBeNan = std::isnan(low) || std::isnan(high);
      bool inside = mayBeNan || (a >= low && a <= high);
      if (!inside && ++wrong < 5)
        FAIL_CHECK("element " << i << ": " << a << ", expected between " << low << " and " << high);
    }
    CHECK(wrong == 0);
  }
}

void KernelHarness::checkClose(const std::vector<TensorData> &operands, double relative, double limit) const {
  std::vector<TensorData> actual = run(operands), expected = interpret(operands, false);
  for (size_t number = 0; number < actual.size(); ++number)
    for (size_t i = 0; i < actual[number].low.size(); ++i) {
      bool within = std::all_of(operands.begin(), operands.end(), [&](const TensorData &operand) {
        return operand.low.empty() || !(std::abs(operand.low[i]) > limit);
      });
      double a = actual[number].low[i], e = expected[number].low[i];
      if (!within || std::abs(e) < 0x1p-1020)
        continue;
      INFO("result " << number << " element " << i << ": " << a << ", expected " << e);
      CHECK((std::isnan(a) ? std::isnan(e) : a == e || std::abs(a - e) <= relative * std::abs(e)));
    }
}

std::vector<std::string> runnableTargets() {
  if (const char *target = std::getenv("HALFTONE_TEST_TARGET"))
    return {target};
  std::vector<std::string> targets{"x86-64-v2"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    targets.push_back("x86-64-v3");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    targets.push_back("x86-64-v4");
  if (runsPairs())
    targets.push_back(targetOfPairs);
  return targets;
}

std::vector<std::string> targetsOfGroups() {
  return {(runsPairs() ? "" : "emulated:") + targetOfPairs, "sapphirerapids"};
}

} // namespace halftone::testing
