// The stages of a module and the options of a compile.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Numerics.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mlir {
class TimingScope;
}

namespace halftone::compiler {

enum class Stage : uint8_t { graph, cast, pure, kernel, linalg, plan, target };
std::string_view name(Stage stage);
std::optional<Stage> stageNamed(std::string_view name);

struct CompileOptions {
  Stage from = Stage::graph;                 // the stage of the given module: graph, cast, pure or kernel
  std::optional<Numerics> numerics;          // nullopt: the module's `halftone.numerics`, or fast
  std::string target;                        // see Target::find; "": the module's `halftone.target`, or "host"
  int threads = 0;                           // for kernel compilation; 0: all
  std::string cacheDirectory;                // "": the default; "none": no disk cache
  std::optional<int64_t> maxStandaloneCasts; // compile_error when the plan needs more
  bool explainFusion = false;                // launches record which rules formed their kernels (FusionReport.h)
  /// Runs MLIR's verifier after each pass, verify-stage at each stage boundary, and checkPlanValues; always true with the
  /// CMake option HALFTONE_VERIFY_STAGES. Otherwise the verifier runs once, on the final module.
  bool verifyStages = false;
  /// If set, called with the text of each stage as soon as it is reached. The plan's text is therefore passed even if a
  /// kernel then has no code, and does not say how kernels compute; the text of stage target does. The text of stage
  /// linalg consists of the modules of all kernels, separated by the marker of -split-input-file.
  std::function<void(Stage, std::string_view text)> onStage;
  /// Prints locations in the texts of the stages up to kernel. (Linalg forms have no locations: equal kernels share
  /// one.)
  bool locations = false;
  /// If set, called on the calling thread a few times per second while kernels are compiled: `done` of the `count`
  /// kernels that are in no cache have been compiled. It may run user code and must not throw. If it returns false, no
  /// further kernel is started, and compilation fails with a runtime_error.
  std::function<bool(size_t done, size_t count)> onProgress;
  /// If set, times are reported under this scope: each stage with its passes, "plan", "kernels" with each kernel,
  /// marked "(compiled)" or with where it was found, and "phases" with the total time of compiled kernels in each
  /// phase.
  mlir::TimingScope *timing = nullptr;
  bool timesPasses = false; // also reports each LLVM pass, under the phases of LLVM
};

} // namespace halftone::compiler
