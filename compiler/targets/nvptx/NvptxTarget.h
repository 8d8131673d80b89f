// NVIDIA GPUs as targets: code as PTX, which the driver compiles for the installed GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/GpuTarget.h"
#include "compiler/targets/nvptx/NvptxOps.h"

namespace halftone::compiler {

/// "sm_80" or "sm_80:<n>": code for every GPU of compute capability 8.0 and above. Blocks are chosen for a GPU with `n`
/// multiprocessors, 1 to 1024; without a number, for the 108 of an A100.
struct NvptxTarget : GpuTarget {
  std::string key() const override;
  ScheduleAttrInterface schedule(mlir::MLIRContext *context, const KernelTraits &traits) const override;
  const GpuOps &ops() const override { return operations; }
  mlir::FailureOr<std::string> emitMatmul(GridFrame &frame) const override;
  llvm::ArrayRef<llvm::StringLiteral> legalOps() const override;
  StatusOr<std::unique_ptr<MachineCode>> machine() const override;
  StatusOr<std::string> makeCode(llvm::Module &module, MachineCode &machine, KernelDumps *dumps) const override;

  /// As Target::registerDialects.
  static void registerDialects(mlir::DialectRegistry &registry);
  /// As Target::find, for names that begin with "sm_".
  static StatusOr<NvptxTarget> find(std::string_view name);

private:
  explicit NvptxTarget(int64_t multiprocessors) : GpuTarget(multiprocessors) {}

  NvptxOps operations;
};

} // namespace halftone::compiler
