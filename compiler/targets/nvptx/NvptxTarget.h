// NVIDIA GPUs: code as PTX, which the driver compiles for the GPU at hand.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"

namespace halftone::compiler {

/// "sm_80": code for every GPU of compute capability 8.0 and above.
struct NvptxTarget : Target {
  std::string key() const override;
  const Blocking &blocking() const override;
  MatmulChoice chooseMatmul(const MatmulTraits &traits) const override;
  std::optional<WeightPanels> weightPanels(bool strict, DType weight, int64_t k, int64_t n) const override;
  std::optional<RowTile> rowTile(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const override;
  /// Bytes per block.
  int64_t scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const override;
  mlir::FailureOr<EmittedKernel> emit(mlir::func::FuncOp kernel) const override;
  llvm::ArrayRef<llvm::StringLiteral> vocabulary() const override;
  StatusOr<std::string> makeCode(llvm::Module &module, KernelDumps *dumps) const override;

  /// As Target::find, for names that begin with "sm_".
  static StatusOr<NvptxTarget> find(std::string_view name);
};

} // namespace halftone::compiler
