// Thread operations of NVIDIA GPUs, in MLIR's NVVM dialect.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/GpuOps.h"

namespace halftone::compiler {

class NvptxOps : public GpuOps {
public:
  Emitted blockIndex(CodeBuilder &builder) const override;
  Emitted threadIndex(CodeBuilder &builder) const override;
  void barrier(CodeBuilder &builder) const override;
  Emitted shuffle(CodeBuilder &builder, Shuffle kind, Emitted value, Emitted lane) const override;
  Emitted ballot(CodeBuilder &builder, Emitted condition) const override;
  /// The entry of a strict kernel gets the attribute strictFunction (PtxRounding.h).
  void markEntry(mlir::LLVM::LLVMFuncOp entry, int64_t threads, Numerics numerics) const override;
};

} // namespace halftone::compiler
