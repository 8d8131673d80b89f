// Compares the shared-memory wavefronts and global-memory sectors of training steps on a GPU with the minimum.
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/Convnets.h"
#include "benchmarks/Gpt.h"
#include "benchmarks/Mlp.h"
#include "tests/emulator/tests/AccessTable.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <map>
#include <regex>
#include <sstream>

using namespace halftone;
using halftone::emulator::AccessRow;

namespace {

/// Set before the library opens the driver: accesses are counted, and warps run in program order.
[[maybe_unused]] const int chosen =
    setenv("HALFTONE_EMULATOR_ACCESSES", "1", 1) + setenv("HALFTONE_EMULATOR_SEED", "0", 1);

/// Of one or several instructions: the units used, and the minimum.
struct Sum {
  uint64_t units = 0, ideal = 0;

  void add(const AccessRow &row) { units += row.units, ideal += row.ideal; }
  double ratio() const { return ideal ? double(units) / double(ideal) : 1; }
};

using Exceptions = std::vector<std::pair<std::regex, double>>;

/// Exceptions to `mostPerIdeal`, the limit of units relative to the ideal, by kernel method and kind of access.
constexpr double mostPerIdeal = 1.1;
const Exceptions &exceptions() {
  static const auto &all = *new Exceptions{
      // A thread reads a factor chunk that is not a 16-byte vector element by element, and a chunk whose elements a
      // prologue narrows 16 bytes at a time. The other bytes of the sectors are read next, from the L1 cache.
      {std::regex("mma.* ld.global"), 10},
      // Factors whose neighbours along K are not vectors: 32 threads store along K, into 8 of the 32 banks.
      {std::regex("multiply-add.* st.shared"), 4},
      // Rows of 10 or 65 elements begin within a sector.
      {std::regex("(matmul|row|reduction)_.* (ld|st).global"), 1.5},
      // Gathered elements: windows of a pooling and of a convolution.
      {std::regex("vectors of 1, .* (ld|st).global"), 3.5},
      // Transposed operands with fewer than 64 rows or columns, and the 256 bytes of some biases.
      {std::regex("loop_.* ((ld|st).shared|ld.global)"), 2},
  };
  return all;
}
double mostOf(const std::string &method, const std::string &kind) {
  for (const auto &[pattern, most] : exceptions())
    if (std::regex_search(method + " " + kind, pattern))
      return most;
  return mostPerIdeal;
}

/// The accesses of each instruction since the last call.
std::vector<AccessRow> newAccesses() {
  void *const driver = dlopen(HALFTONE_EMULATED_DRIVER, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(driver != nullptr);
  auto *const table = reinterpret_cast<const char *(*)()>(dlsym(driver, "halftoneEmulatorAccesses"));
  REQUIRE(table != nullptr);
  static auto &before = *new std::map<std::tuple<std::string, int, std::string>, AccessRow>;
  std::vector<AccessRow> rows;
  for (AccessRow row : emulator::readAccessTable(table())) {
    const AccessRow old = std::exchange(before[{row.kernel, row.line, row.kind}], row);
    row.requests -= old.requests, row.units -= old.units, row.ideal -= old.ideal;
    if (row.requests > 0)
      rows.push_back(row);
  }
  return rows;
}

/// The methods of the kernels of a program, by the names of their entries.
std::map<std::string, std::string> methodsOf(const std::string &code) {
  std::map<std::string, std::string> methods;
  std::istringstream stream(code);
  const std::regex entry("\\.entry (\\w+)");
  std::string title;
  std::smatch found;
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("# "))
      title = line.substr(line.find(": ") + 2);
    else if (std::regex_search(line, found, entry))
      methods[found[1]] = title;
  return methods;
}

const std::vector<std::string> kinds{"ldmatrix",        "cp.async",  "ld.shared", "st.shared",
                                     "cp.async.global", "ld.global", "st.global"};

void printRow(const std::string &net, const std::string &kernel, std::map<std::string, Sum> sums) {
  std::string line = fmt::format("| {} | {} |", net, kernel);
  for (const std::string &kind : kinds)
    line += sums[kind].ideal ? fmt::format(" {:.2f} |", sums[kind].ratio()) : " |";
  fmt::print("{}\n", line);
}

/// Checks the kernels of a step that has run, and prints a table row for each. Each instruction that accesses shared
/// memory is checked separately.
void checkStep(const std::string &net, const Model &model, int64_t batch, Program program) {
  const auto methods = methodsOf(model.ir(Stage::target, {.program = program, .batch_size = batch}));
  std::map<std::string, std::map<std::string, Sum>> kernels;
  std::map<std::string, Sum> all;
  for (const AccessRow &row : newAccesses()) {
    const auto found = methods.find(row.kernel);
    if (found == methods.end())
      continue; // kernels of initial weights, and their copies
    kernels[found->second][row.kind].add(row);
    all[row.kind].add(row);
    if (row.kind.find("global") != row.kind.npos)
      continue;
    INFO(found->second << ": " << row.kind << " in line " << row.line << " of " << row.kernel << ": " << row.units
                       << " wavefronts, " << row.ideal << " at best");
    CHECK(row.ratio() <= mostOf(found->second, row.kind));
  }
  CHECK(kernels.size() == methods.size());
  for (const auto &[method, sums] : kernels) {
    printRow(net, method, sums);
    for (const auto &[kind, sum] : sums) {
      INFO(method << ": " << kind << ": " << sum.units << " units, " << sum.ideal << " at best");
      CHECK(sum.ratio() <= mostOf(method, kind));
    }
  }
  printRow(net, "all", all);
}

/// Checks one training step. Its launches have completed once a weight is readable.
void checkTraining(const std::string &net, const Model &model, const Batch &batch, int64_t count) {
  model.train_on_batch(batch.x, batch.y);
  REQUIRE(model.trainable_variables()[0].value().astype(float32).to_vector<float>().size() > 0);
  checkStep(net, model, count, Program::train);
}

void checkMlp(const std::string &policy) {
  const DeviceScope scope(Device::cuda(0));
  checkTraining("MLP " + policy, benchmarks::mlp(policy), benchmarks::images(128), 128);
}
void checkConvnet(const std::string &policy) {
  const DeviceScope scope(Device::cuda(0));
  checkTraining("CNN " + policy, benchmarks::convnet(policy), benchmarks::images(8, {28, 28, 1}), 8);
}
void checkGpt(const std::string &policy) {
  const DeviceScope scope(Device::cuda(0));
  checkTraining("GPT " + policy, benchmarks::gpt(policy, {.layers = 1, .length = 64}), benchmarks::texts(2, 64), 2);
}

void checkQuantized(const std::string &source) {
  const DeviceScope scope(Device::cuda(0));
  set_random_seed(1);
  const Input x({768}, {.name = "x"});
  Value h = x;
  for (int layer = 0; layer < 2; ++layer)
    h = layers::Dense(768, {.activation = "relu",
                            .quantization_config = quantizers::Int8QuantizationConfig(),
                            .dtype = "int8_from_" + source})(h);
  const Model model({x}, {h}, {.name = "dense"});
  const Tensor y = model.predict_on_batch(benchmarks::images(64, {768}).x);
  REQUIRE(y.astype(float32).to_vector<float>().size() == size_t(64 * 768));
  checkStep("int8 from " + source, model, 64, Program::predict);
}

} // namespace

TEST_CASE("Steps of an MLP in float32 reach all banks") { checkMlp("float32"); }
TEST_CASE("Steps of an MLP in mixed_float16 reach all banks") { checkMlp("mixed_float16"); }
TEST_CASE("Steps of an MLP in mixed_bfloat16 reach all banks") { checkMlp("mixed_bfloat16"); }
TEST_CASE("Steps of a CNN in float32 reach all banks") { checkConvnet("float32"); }
TEST_CASE("Steps of a CNN in mixed_float16 reach all banks") { checkConvnet("mixed_float16"); }
TEST_CASE("Steps of a CNN in mixed_bfloat16 reach all banks") { checkConvnet("mixed_bfloat16"); }
TEST_CASE("Steps of a GPT in float32 reach all banks") { checkGpt("float32"); }
TEST_CASE("Steps of a GPT in mixed_float16 reach all banks") { checkGpt("mixed_float16"); }
TEST_CASE("Steps of a GPT in mixed_bfloat16 reach all banks") { checkGpt("mixed_bfloat16"); }
TEST_CASE("Predictions of layers quantized to int8 reach all banks") {
  checkQuantized("float32");
  checkQuantized("mixed_bfloat16");
}
