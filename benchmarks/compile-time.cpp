// How long the first training step compiles: cold, from the disk cache, and as layers repeat; in fresh processes.
// SPDX-License-Identifier: Apache-2.0
#include "Mlp.h"
#include "Race.h"
#include "Table.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int rounds = 7;

/// Runs in the child: the seconds of the first step, less those of a second one.
int measure(int64_t hidden) {
  const Batch data = images(32);
  Sequential model = mlp("float32", {.hidden = hidden});
  auto step = [&] { model.train_on_batch(data.x, data.y); };
  const double first = secondsOf(step), second = secondsOf(step);
  fmt::print("{}\n", first - second);
  return 0;
}

double child(int64_t hidden, const std::filesystem::path &cache) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = fmt::format("XDG_CACHE_HOME='{}' '{}' --first-step {}", cache.string(), self, hidden);
  FILE *pipe = ::popen(command.c_str(), "r");
  double seconds = 0;
  const bool told = pipe && std::fscanf(pipe, "%lf", &seconds) == 1;
  if (!pipe || ::pclose(pipe) != 0 || !told)
    throw std::runtime_error("the measured process failed: " + command);
  return seconds;
}

void run(Table &table) {
  std::string pattern = (std::filesystem::temp_directory_path() / "halftone-compile-time-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw std::runtime_error("cannot make " + pattern);
  const std::filesystem::path folder = pattern;
  std::vector<double> cold, warm, twelve;
  for (int round = 0; round < rounds; ++round) {
    const std::filesystem::path cache = folder / fmt::format("{}", round),
                                other = folder / fmt::format("{}-twelve", round);
    cold.push_back(child(2, cache));
    warm.push_back(child(2, cache));
    twelve.push_back(child(12, other));
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  const double first = median(cold), again = median(warm), many = median(twelve);
  table.add({"compile the MLP train step, cold (s)", milliseconds(first), "-", first, 0.8, 0.5, true});
  table.add({"compile the MLP train step, from the disk cache (s)", milliseconds(again), "-", again, 0.10, 0.06, true});
  table.add({"compile twelve equal Dense layers against two", milliseconds(many), "two " + milliseconds(first),
             many / first, 1.5, 1.2, true});
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--first-step")
    try {
      return measure(std::atoll(argv[2]));
    } catch (const std::exception &error) {
      fmt::print(stderr, "compile-time: {}\n", error.what());
      return 1;
    }
  return runProgram("compile-time", "seconds from the first call to a compiled step", run);
}
