// The function around a kernel's blocks on CPUs: the ABI's arguments.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/BlockFrame.h"
#include "compiler/targets/cpu/CpuTarget.h"

namespace halftone::compiler {

/// The number of lanes of a kernel's vectors: of f32, or of f64 if the kernel contains f64 values.
int64_t lanesOf(const KernelSource &source, const CpuTarget &target);

class KernelFrame : public BlockFrame {
public:
  /// Creates the function next to the source's and inserts into its entry block.
  KernelFrame(const KernelSource &source, const CpuTarget &target);
  /// Erases the function, unless finish() has replaced the source's function by it.
  ~KernelFrame() override;
  void finish();
  /// Emits a call of a core, which returns values of these types.
  Values call(const Core &core, llvm::ArrayRef<Emitted> arguments, mlir::TypeRange results = {});
  /// Lanes for which the CPU has no masked instructions are accessed by cores, which keeps the kernel's code short.
  Emitted loadMasked(mlir::VectorType type, Emitted pointer, Emitted mask) override;
  void storeMasked(Emitted value, Emitted pointer, Emitted mask, int64_t alignment = 0) override;

  const CpuTarget &target;
  mlir::func::FuncOp code;
  Emitted blockBegin, blockEnd, scratch;
  int64_t lanes;           // lanesOf() of the source
  std::vector<Core> cores; // the cores that the code calls

private:
  bool hasMaskedInstructions(mlir::VectorType type) const;
};

} // namespace halftone::compiler
