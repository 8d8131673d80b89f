// Compares compiled code with the interpreter: whole programs, and single launches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Difference.h"
#include "Interpretation.h"
#include "ModuleFile.h"
#include "runtime/Device.h"
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halftone::tools {

/// The allowed results if no tolerance is given:
///   strict   equal bits; but if an op that is not exactly rounded (exp, a sum of floats) contributed to a result, the
///            result must lie inside the interpreter's interval, which follows from the errors that ops state
///   fast     inside the interpreter's interval
/// If a tolerance is given, outputs must lie within it under both numerics; a launch's results may also lie inside the
/// interval, if the numerics give one.
struct CompareOptions {
  compiler::CompileOptions compile;
  Tolerance tolerance;
  bool byLayer = false; // whether to compare each launch of the plan too, interpreted on its own operands
  int64_t steps = 1;    // successive runs; each is checked from the state that the compiled code left before it
};

struct OutputComparison {
  std::string name; // of the fetch, or "@symbol" of a written variable
  TensorType type;
  Difference difference;
  std::string worstLayer; // site of the launch with the largest error in ulp among those on which the output depends
};

struct LaunchComparison {
  int64_t step = 0;
  size_t index = 0; // index among the launches of the plan
  std::string kernel, site;
  Difference difference; // over all its results
};

struct Comparison {
  std::vector<OutputComparison> outputs;
  /// If byLayer, the launches that ran; for a launch in a loop, the first two iterations and the last one.
  std::vector<LaunchComparison> launches;
  compiler::CompileStatistics statistics;
  std::vector<LedgerRow> ledger;
  bool agrees() const;
};

/// Compiles `file`'s module, runs it on `device` and interprets it. `variables` must have a value for each variable and
/// receives the values after the last run.
StatusOr<Comparison> compareWithInterpreter(const ModuleFile &file, std::span<const Tensor> feeds,
                                            VariableTensors &variables, std::shared_ptr<DeviceRuntime> device,
                                            const CompareOptions &options);

/// Returns true if every op under `scope` is exactly rounded, so that its result is unique.
bool isExact(mlir::Operation *scope);

} // namespace halftone::tools
