// Compares compiled code with the interpreter: whole programs, and launch by launch.
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
  int64_t steps = 1;    // runs one after another; each is checked from the compiled code's state before it
};

struct OutputComparison {
  std::string name; // of the fetch, or "@symbol" of a variable that was written
  TensorType type;
  Difference difference;
  std::string worstLayer; // site of the launch with the largest error in ulp among all on which the output depends
};

struct LaunchComparison {
  int64_t step = 0;
  size_t index = 0; // among the launches of the plan
  std::string kernel, site;
  Difference difference; // over all its results
};

struct Comparison {
  std::vector<OutputComparison> outputs;
  /// If byLayer, the launches that ran; of one in a loop, the first two iterations and the last one.
  std::vector<LaunchComparison> launches;
  compiler::CompileStatistics statistics;
  std::vector<LedgerRow> ledger;
  bool agrees() const;
};

/// Compiles `file`'s module, runs it on `device` and interprets it. `variables` has a value for each variable and gets
/// the values after the last run.
StatusOr<Comparison> compareWithInterpreter(const ModuleFile &file, std::span<const Tensor> feeds,
                                            VariableTensors &variables, std::shared_ptr<DeviceRuntime> device,
                                            const CompareOptions &options);

/// Whether every op under `scope` is exactly rounded, so that its result has one right value.
bool isExact(mlir::Operation *scope);

} // namespace halftone::tools
