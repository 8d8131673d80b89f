// Growth of the time for models, files and configs when their size quadruples, in fresh processes.
// SPDX-License-Identifier: Apache-2.0
#include "Folder.h"
#include "GrowthCases.h"
#include "Table.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>

using namespace halftone::benchmarks;

namespace {

constexpr int rounds = 3;
constexpr double most = 4.8; // of time(4n) / time(n)

int measure(const std::string &what, int64_t count) {
  for (const GrowthCase &each : growthCases())
    if (each.what == what) {
      CpuClock clock;
      each.work(count, clock);
      fmt::print("{}\n", clock.seconds());
      std::fflush(stdout);
      std::_Exit(0); // skips the cleanup of the measured process
    }
  throw std::runtime_error("no case " + what);
}

/// The seconds that a child process prints.
double child(const std::filesystem::path &folder, const std::string &what, int64_t count) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = fmt::format("cd '{0}' && XDG_CACHE_HOME='{0}' timeout 120 '{1}' --measure '{2}' {3}",
                                          folder.string(), self, what, count);
  FILE *pipe = ::popen(command.c_str(), "r");
  double seconds = 0;
  const bool told = pipe && std::fscanf(pipe, "%lf", &seconds) == 1;
  if (!pipe || ::pclose(pipe) != 0 || !told)
    throw std::runtime_error("the measured process failed: " + command);
  return seconds;
}

void run(Table &table) {
  const Folder folder;
  for (const GrowthCase &each : growthCases()) {
    if (!table.wants(each.what))
      continue;
    Row row{each.what, "-", "-"};
    try {
      double small = std::numeric_limits<double>::infinity(), large = small;
      for (int round = 0; round < rounds && (round == 0 || large < 10.0); ++round) {
        small = std::min(small, child(folder.path(), each.what, each.count));
        large = std::min(large, child(folder.path(), each.what, 4 * each.count));
      }
      row = {each.what, milliseconds(large), milliseconds(small), large / small, most};
      row.note = fmt::format("{} against {}", 4 * each.count, each.count);
    } catch (const std::exception &error) {
      row.note = error.what();
    }
    row.atMost = true;
    table.add(row);
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--measure")
    try {
      return measure(argv[2], std::atoll(argv[3]));
    } catch (const std::exception &error) {
      fmt::print(stderr, "growth: {}\n", error.what());
      return 1;
    }
  return runProgram("growth", "seconds for four times as much against once, at most 4.8 times", run);
}
