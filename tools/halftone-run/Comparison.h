// Compiled code against the interpreter: whole programs, and launch by launch.
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
///   strict   equal bits; but if an op that is not exactly rounded (exp, a sum of floats) had a part in a result, the
///            result lies inside the interpreter's interval, that is within the error that the op states
///   fast     inside the interpreter's interval
/// With a tolerance, outputs must lie within it under any numerics; launches may also lie inside the interval, if the
/// numerics give one.
struct CompareOptions {
  compiler::CompileOptions compile;
  Tolerance tolerance;
  bool byLayer = false; // also each launch of the plan, interpreted on the operands that it had
  int64_t steps = 1;    // runs one after another; each is checked from the state that the compiled code had before it
};

struct OutputComparison {
  std::string name; // of the fetch, or "@symbol" of a variable that was written
  TensorType type;
  Difference difference;
  std::string worstLayer; // site of the launch with the largest error in ulp of all that the output depends on
};

struct LaunchComparison {
  int64_t step = 0;
  size_t index = 0; // among the plan's launches
  std::string kernel, site;
  Difference difference; // of all its results
};

struct Comparison {
  std::vector<OutputComparison> outputs;
  std::vector<LaunchComparison> launches; // with byLayer; those that ran
  compiler::CompileStatistics statistics;
  std::vector<LedgerRow> ledger;
  bool agrees() const;
};

/// Compiles `file`'s module, runs it on `device` and interprets it. `variables` has a value for each variable and is
/// updated.
StatusOr<Comparison> compareWithInterpreter(const ModuleFile &file, std::span<const Tensor> feeds,
                                            VariableTensors &variables, std::shared_ptr<DeviceRuntime> device,
                                            const CompareOptions &options);

/// Whether every op under `scope` is exactly rounded, so that its result has one right value.
bool isExact(mlir::Operation *scope);

} // namespace halftone::tools
