// Runs one of the bundled programs, selected by the first argument or by the name of the executable.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <string_view>

// The main functions of those programs, renamed by CMakeLists.txt.
int halftoneRun(int argc, char **argv);
int halftoneOpt(int argc, char **argv);
int testMain(int argc, char **argv);
int gpuBenchmark();
int gpuTrainStep();
int gpuInstructions(int argc, char **argv);

namespace {

struct Program {
  std::string_view name;
  int (*main)(int argc, char **argv);
};

/// The tests of all test programs are in one list; --filenames-as-tags distinguishes them by file.
constexpr Program programs[] = {{"halftone-run", halftoneRun},
                                {"halftone-opt", halftoneOpt},
                                {"test_gpu", testMain},
                                {"test_gpu_ops", testMain},
                                {"test_gpu_loops", testMain},
                                {"test_gpu_models", testMain},
                                {"gpu", [](int, char **) { return gpuBenchmark(); }},
                                {"gpu-train-step", [](int, char **) { return gpuTrainStep(); }},
                                {"gpu-instructions", gpuInstructions}};

const Program *find(std::string_view name) {
  for (const Program &program : programs)
    if (program.name == name)
      return &program;
  return nullptr;
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 0)
    if (const Program *program = find(std::filesystem::path(argv[0]).filename().string()))
      return program->main(argc, argv);
  if (argc > 1)
    if (const Program *program = find(argv[1]))
      return program->main(argc - 1, argv + 1);
  std::fprintf(stderr, "halftone-verify: expected the name of a program and its arguments; the programs are");
  for (const Program &program : programs)
    std::fprintf(stderr, " %.*s", static_cast<int>(program.name.size()), program.name.data());
  std::fprintf(stderr, "\n");
  return 2;
}
