// The compiler's front door: a graph-stage module in, an Executable out, and every stage in between as text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "runtime/plan/Executable.h"
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
  Stage from = Stage::graph;                 // what compile() is given: graph, cast, pure or kernel
  bool strict = false;                       // Numerics::strict: one op, one kernel, every op rounds
  std::string target = "host";               // see Target::find
  int threads = 0;                           // for kernel compilation; 0: all
  std::string cacheDirectory;                // "": the default; "none": no disk cache
  std::optional<int64_t> maxStandaloneCasts; // compile_error when the plan needs more
  bool verifyStages = false;                 // verify-stage between passes (always, when so configured in CMake)
  /// Called with the text of the module after each stage, when set. Of stage linalg it is all kernels' modules, between
  /// them the marker of -split-input-file.
  std::function<void(Stage, std::string_view text)> onStage;
  /// In the texts of the stages up to kernel. (Equal kernels, from wherever, have one linalg form, without locations.)
  bool locations = false;
  /// Where times go, when set: under it each stage with its passes, "plan", and "kernels" with each kernel, "(compiled)"
  /// or where it was found.
  mlir::TimingScope *timing = nullptr;
};

/// What a compile did: for reports and tests.
struct CompileStatistics {
  int64_t kernels = 0;    // unique kernels in the plan
  int64_t compiled = 0;   // generated now
  int64_t fromMemory = 0; // found in the in-process cache
  int64_t fromDisk = 0;   // found in the disk cache
  int64_t standaloneCasts = 0;
  std::string cacheComplaint; // why compiled kernels are not kept on disk; empty when they are, or shall not
  double seconds = 0;
};

/// Compiles a module in stage options.from (consumed: left in the last stage reached). Every failure is a Status with
/// MLIR's diagnostics and the layer path of the op to blame; nothing aborts. compile_error and value_error blame what
/// was given, internal_error the compiler.
StatusOr<Executable> compile(mlir::ModuleOp module, const CompileOptions &options,
                             CompileStatistics *statistics = nullptr);

/// Runs the stock pipeline from one stage to another on a module, up to `kernel`. For tools.
Status runStages(mlir::ModuleOp module, Stage from, Stage to, const CompileOptions &options);

} // namespace halftone::compiler
