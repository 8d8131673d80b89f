// The targets for which tests compile, and the comparison of their results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/Registry.h"
#include "tools/halftone-run/Comparison.h"
#include "tools/halftone-run/InputSpec.h"
#include <fmt/format.h>

namespace halftone::test {

struct BothModes {
  static constexpr bool isFast = true, isStrict = true;
};
struct Host : BothModes {
  static constexpr const char *target = "host";
  static bool runs() { return true; }
};
struct V2 : BothModes {
  static constexpr const char *target = "x86-64-v2";
  static bool runs() { return true; }
};
struct V3 : BothModes {
  static constexpr const char *target = "x86-64-v3";
  static bool runs() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  }
};
struct V4 : BothModes {
  static constexpr const char *target = "x86-64-v4";
  static bool runs() {
    return V3::runs() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  }
};

/// A CPU that multiplies bf16 in pairs and i8 in fours, unlike V4. Emulated if this CPU does not.
struct Zen4 : BothModes {
  static bool isHere() {
    return V4::runs() && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("vaes") && __builtin_cpu_supports("sse4a"); // Intel's CPUs lack it
  }
  inline static const char *const target =
      isHere() ? "x86_64-unknown-linux-gnu:znver4" : "emulated:x86_64-unknown-linux-gnu:znver4";
  static bool runs() { return V3::runs(); }
};

/// A CPU that multiplies bf16 and int8 in AMX tiles.
struct SapphireRapids {
  static constexpr const char *target = "sapphirerapids";
  static bool runs() {
    return V4::runs() && __builtin_cpu_supports("amx-bf16") && __builtin_cpu_supports("amx-int8") &&
           __builtin_cpu_supports("avx512fp16");
  }
};

/// GPUs. Tests run on the GPU of the driver HALFTONE_CUDA_DRIVER, which may be the emulated one.
struct Sm80 : BothModes {
  static constexpr const char *target = "sm_80";
  static bool runs() { return Device::find("cuda:0").has_value(); }
};

/// A target of which a test covers one mode; otherwise it covers both.
template <class Target> struct Fast : Target {
  static constexpr bool isStrict = false;
};
template <class Target> struct Strict : Target {
  static constexpr bool isFast = false;
};
/// A target that only the full tier covers: its test cases get the label `full` by their names (HalftoneRoom.cmake).
template <class Target> struct Full : Target {};

/// The device on which code for `target` runs.
inline std::shared_ptr<DeviceRuntime> deviceFor(const std::string &target) {
  return deviceRuntime(target.starts_with("sm_") ? Device::cuda(0) : Device::cpu()).valueOrThrow();
}

/// Options for a program compiled for `target`: checked between passes and launch by launch, without a cache.
inline tools::CompareOptions optionsFor(const std::string &target, bool strict) {
  tools::CompareOptions options;
  options.compile.target = target;
  options.compile.numerics = compiler::Numerics::strictIf(strict);
  options.compile.verifyStages = true;
  options.compile.cacheDirectory = "none";
  options.byLayer = true;
  return options;
}

/// Runs a program repeatedly on random feeds and variables. Each run is compared with the interpreter on the state
/// before the run. The default device is that of the target.
inline StatusOr<tools::Comparison> compareProgram(const std::string &text, const tools::CompareOptions &options,
                                                  uint32_t seed, int64_t steps = 2,
                                                  std::shared_ptr<DeviceRuntime> device = nullptr) {
  StatusOr<tools::ModuleFile> file = tools::parseModule(text, "program");
  HALFTONE_RETURN_IF_ERROR(file.status());
  std::vector<Tensor> feeds;
  for (const Parameter &feed : file->signature.feeds)
    feeds.push_back(tools::randomTensor(feed, seed));
  tools::VariableTensors variables;
  for (const tools::DeclaredVariable &variable : file->variables)
    variables[variable.symbol] = tools::initialValue(variable, seed);
  tools::CompareOptions all = options;
  all.steps = steps;
  if (!device)
    device = deviceFor(options.compile.target);
  return compareWithInterpreter(*file, feeds, variables, std::move(device), all);
}

/// The differences, one line each.
inline std::vector<std::string> differencesOf(const tools::Comparison &comparison) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string &what, const tools::Difference &difference) {
    if (!difference.agrees())
      lines.push_back(fmt::format("{}: {} of {} elements differ, first {}", what, difference.unequal,
                                  difference.elements, difference.firstUnequal));
  };
  for (const tools::OutputComparison &output : comparison.outputs)
    add(output.name, output.difference);
  for (const tools::LaunchComparison &launch : comparison.launches)
    add(fmt::format("launch {}, {}", launch.kernel, launch.site), launch.difference);
  return lines;
}

} // namespace halftone::test
