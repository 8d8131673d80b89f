// Runs one kernel both ways: compiled, and by the interpreter.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/KernelDescription.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "dialect/Interpreter.h"
#include "runtime/plan/Abi.h"
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace halftone::testing {

/// One `halftone.kernel` from text, and everything needed to run it.
class KernelHarness {
public:
  /// Tiles are emulated for a target with AMX where this CPU lacks it.
  KernelHarness(const std::string &text, std::string_view target, bool strict);
  ~KernelHarness();

  /// Random operands; `specials`: with NaN, infinities, zeros of both signs and subnormal numbers among the floats.
  std::vector<dialect::TensorData> operands(unsigned seed, bool specials, double scale = 2.0) const;
  /// The compiled kernel, all blocks at once. Checks that blocks one by one, last first, give the same bytes.
  std::vector<dialect::TensorData> run(const std::vector<dialect::TensorData> &operands) const;
  std::vector<dialect::TensorData> interpret(const std::vector<dialect::TensorData> &operands, bool intervals) const;
  /// Bit for bit, any NaN being as good as any other.
  void checkExact(const std::vector<dialect::TensorData> &operands) const;
  /// Inside what any legal result may be.
  void checkInside(const std::vector<dialect::TensorData> &operands) const;
  /// Within a relative error, where all operands are below `limit` in size.
  void checkClose(const std::vector<dialect::TensorData> &operands, double relative, double limit) const;

  const std::string &linalgText() const { return text; }
  const compiler::KernelDescription &description() const { return described; }

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  dialect::KernelOp kernel;
  compiler::KernelDescription described;
  std::string text;
  std::shared_ptr<const void> library;
  CpuKernelFunction function = nullptr;
};

/// x86 levels that this machine runs, and a CPU that multiplies bf16 in pairs where it is close enough to one.
std::vector<std::string> runnableTargets();

} // namespace halftone::testing
