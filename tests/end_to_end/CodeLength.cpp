// The number of LLVM instructions in kernels and cores of the recorded nets, compared with tests/data/code_lengths.txt.
// SPDX-License-Identifier: Apache-2.0
#include "RecordedNets.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <ranges>
#include <regex>
#include <sstream>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

struct Length {
  int64_t kernels = 0, instructions = 0, longest = 0, cores = 0, instructionsOfCores = 0;
  bool operator==(const Length &) const = default;
};

/// The sum over the titles of kernels and of cores in the text of stage target.
Length lengthOf(const std::string &text) {
  static const std::regex title(R"(\n# [0-9a-f]{64}: (halftone_core_)?.*, (\d+) LLVM instructions\n)");
  Length length;
  const std::string whole = "\n" + text;
  for (auto found = std::sregex_iterator(whole.begin(), whole.end(), title); found != std::sregex_iterator(); ++found) {
    const int64_t instructions = std::stoll((*found)[2]);
    const bool isCore = (*found)[1].matched;
    ++(isCore ? length.cores : length.kernels);
    (isCore ? length.instructionsOfCores : length.instructions) += instructions;
    length.longest = std::max(length.longest, instructions);
  }
  return length;
}

std::map<std::string, Length> recordedLengths() {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/code_lengths.txt");
  std::map<std::string, Length> lengths;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string net, program;
    Length length;
    if (words >> net >> program >> length.kernels >> length.instructions >> length.longest >> length.cores >>
        length.instructionsOfCores)
      lengths[net + " " + program] = length;
  }
  REQUIRE(file.eof());
  return lengths;
}

void compare(bool (*isWanted)(const std::string &net)) {
  setenv("HALFTONE_TARGET", "x86-64-v4", 1); // the same code on every machine
  const std::map<std::string, Length> recorded = recordedLengths();
  std::string now; // in the format of the file
  bool isEqual = true;
  for (const RecordedNet &net :
       recordedNets() | std::views::filter([&](const auto &each) { return isWanted(each.name); })) {
    const Model model = net.make();
    for (const RecordedProgram &program : net.programs) {
      const Length length =
          lengthOf(model.ir(Stage::target, {.program = program.program, .batch_size = program.batch}));
      now += fmt::format("{} {} {} {} {} {} {}\n", net.name, program.folder, length.kernels, length.instructions,
                         length.longest, length.cores, length.instructionsOfCores);
      const auto before = recorded.find(net.name + " " + program.folder);
      isEqual &= before != recorded.end() && length == before->second;
    }
  }
  unsetenv("HALFTONE_TARGET");
  INFO("The code of kernels has another length than tests/data/code_lengths.txt says. A change that does this on "
       "purpose "
       "gives the file these lines:\n"
       << now);
  CHECK(isEqual);
}

bool isQuick(const std::string &net) { return net == "mlp-float32" || net == "dense-int8" || net == "decode-bfloat16"; }
bool isGpt(const std::string &net) { return net.starts_with("gpt"); }
bool isConvolution(const std::string &net) {
  return net.starts_with("convnet") || net.starts_with("grouped") || net.starts_with("residualBlock");
}
bool isOther(const std::string &net) { return !isQuick(net) && !isGpt(net) && !isConvolution(net); }

} // namespace

TEST_CASE("Kernels and cores of a few nets become as many instructions as recorded") { compare(isQuick); }

TEST_CASE("Kernels and cores of GPTs become as many instructions as recorded", "[full]") { compare(isGpt); }

TEST_CASE("Kernels and cores of convolutional nets become as many instructions as recorded", "[full]") {
  compare(isConvolution);
}

TEST_CASE("Kernels and cores of all other recorded nets become as many instructions as recorded", "[full]") {
  compare(isOther);
}
