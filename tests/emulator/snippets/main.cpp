// Compares the emulator's instructions with those of the CUDA driver's first GPU, bit by bit.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/snippets/CompareDevices.h"
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <string_view>

using namespace halftone::emulator;

namespace {

constexpr char usage[] = R"(usage: gpu-instructions [--only TEXT] [--list]

Runs each form of instruction that kernels use in the emulator and on the driver that HALFTONE_CUDA_DRIVER names, libcuda.so.1
otherwise, and compares the results: bit by bit, or within the error that the PTX ISA states. A line tells of each form that differs.

--only compares the forms whose name has TEXT in it. --list prints the instructions of all forms, one a line.

Exit code: 0 if all forms agree, 1 if one differs, 2 if the arguments are wrong or the driver cannot be used.
)";

void list() {
  for (const std::string &instruction : allInstructions())
    fmt::print("{}\n", instruction);
}

int compare(const std::string &only) {
  const char *named = std::getenv("HALFTONE_CUDA_DRIVER");
  const CudaLibrary driver(named && *named ? named : "libcuda.so.1");
  const Comparison total = compareDevices(driver, only, [](const std::string &line) { fmt::print("{}\n", line); });
  if (!total.forms && !total.skipped)
    throw std::runtime_error(fmt::format("no form has '{}' in its name", only));
  fmt::print(
      "{} forms, {} results: {} forms differ; {} results moved within their error, {} NaN with other bits; {} forms "
      "skipped, which need a newer GPU\n",
      total.forms, total.results, total.differing, total.moved, total.nans, total.skipped);
  return total.differing ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  try {
    if (argc == 2 && first == "--help")
      fmt::print("{}", usage);
    else if (argc == 2 && first == "--list")
      list();
    else if (argc == 1 || (argc == 3 && first == "--only"))
      return compare(argc == 1 ? "" : argv[2]);
    else
      throw std::runtime_error(fmt::format("expected --only TEXT or --list, not '{}'", first));
    return 0;
  } catch (const std::exception &error) {
    fmt::print(stderr, "gpu-instructions: {}\n", error.what());
    return 2;
  }
}
