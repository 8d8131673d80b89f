// Runs one kernel in two ways: compiled and interpreted.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/KernelDescription.h"
#include "compiler/targets/Target.h"
#include "dialect/Interpreter.h"
#include "runtime/plan/Abi.h"
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace halftone::testing {

struct GpuLaunch;

/// One `halftone.kernel` from text, with its compiled code and operands.
class KernelHarness {
public:
  /// run() and the checks need a CPU with the instructions of the target; without AMX, AMX and AVX-512 are emulated.
  /// GPU kernels run on the emulated driver.
  KernelHarness(const std::string &text, std::string_view target, bool strict);
  ~KernelHarness();

  /// Random operands. With `specials`, floats include NaN, infinities, zeros of both signs and subnormal values.
  std::vector<dialect::TensorData> operands(unsigned seed, bool specials, double scale = 2.0) const;
  /// Runs all blocks of the compiled kernel at once. Checks that the blocks one by one, last first, give the same
  /// bytes. On a GPU, also checks another order of blocks and warps, the launch as one of several parts, and code with
  /// i64 indices.
  std::vector<dialect::TensorData> run(const std::vector<dialect::TensorData> &operands) const;
  /// Like run() on a CPU, with the first result in the memory of an operand.
  std::vector<dialect::TensorData> runInPlace(const std::vector<dialect::TensorData> &operands, size_t operand) const {
    return runOnCpu(operands, operand);
  }
  std::vector<dialect::TensorData> interpret(const std::vector<dialect::TensorData> &operands, bool intervals) const;
  /// Checks that the results equal the interpreter's bit for bit; any NaN equals any NaN.
  void checkExact(const std::vector<dialect::TensorData> &operands) const;
  /// Checks that the results are in the interpreter's intervals.
  void checkInside(const std::vector<dialect::TensorData> &operands) const;
  /// Checks that the results have at most a relative error, if all operands are below `limit` in magnitude.
  void checkClose(const std::vector<dialect::TensorData> &operands, double relative, double limit) const;

  const std::string &linalgText() const { return text; }
  /// The kernel's schedule, "#halftone_cpu.matmul<few_rows = true>"; "" if it has none.
  std::string schedule() const;
  /// The diagnostics for the kernel with another schedule, for which there must be no code.
  std::string refusalOf(const std::string &schedule) const;
  const compiler::KernelDescription &description() const { return described; }
  /// The code of the kernel for its target; compiled once.
  const KernelCode &code() const;
  /// One launch of the kernel on a GPU; it refers to code().
  GpuLaunch gpuLaunch(const std::vector<dialect::TensorData> &operands) const;

private:
  std::vector<dialect::TensorData> runOnCpu(const std::vector<dialect::TensorData> &operands,
                                            std::optional<size_t> inPlace = {}) const;
  std::vector<dialect::TensorData> runOnGpu(const std::vector<dialect::TensorData> &operands) const;
  std::vector<mlir::RankedTensorType> resultTypes() const;
  /// The code with i64 indices.
  const KernelCode &wideCode() const;
  GpuLaunch launchOf(const KernelCode &made, const std::vector<dialect::TensorData> &operands) const;

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  dialect::KernelOp kernel;
  compiler::KernelDescription described;
  std::string text;
  std::shared_ptr<const compiler::Target> target;
};

/// The targets of this test program: HALFTONE_TEST_TARGET of the environment; otherwise the x86 levels that this
/// machine runs, and a CPU with bf16 pairs if this machine can run its code.
std::vector<std::string> runnableTargets();

/// A CPU that multiplies bf16 in pairs and i8 in fours, and a CPU that does so in AMX tiles. Emulated where this
/// machine is neither.
std::vector<std::string> targetsOfGroups();

} // namespace halftone::testing
