// What kernels for GPUs are made of.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/NvptxTarget.h"
#include "compiler/targets/MachineCode.h"
#include "compiler/targets/nvptx/Emitters.h"
#include "compiler/targets/nvptx/GpuMatmul.h"
#include "compiler/targets/nvptx/NvptxBlocking.h"
#include "compiler/targets/nvptx/PtxCode.h"
#include "compiler/targets/nvptx/RowThreads.h"
#include <fmt/format.h>

namespace halftone::compiler {

std::string NvptxTarget::key() const { return fmt::format("nvptx|{}|{}", processor, ptxVersion); }

const Blocking &NvptxTarget::blocking() const {
  static const NvptxBlocking rules;
  return rules;
}

MatmulChoice NvptxTarget::chooseMatmul(const MatmulTraits &traits) const {
  MatmulChoice choice;
  choice.fixesTile = true;
  if (const MmaInstruction *mma = chooseMmaInstruction(traits))
    choice.instruction = mma->name;
  return choice;
}

/// Weights stay row-major: blocks copy their tiles to shared memory from any layout.
std::optional<WeightPanels> NvptxTarget::weightPanels(bool, DType, int64_t, int64_t) const { return std::nullopt; }

std::optional<RowTile> NvptxTarget::rowTile(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const {
  const mlir::FailureOr<KernelSource> source = KernelSource::read(kernel);
  return succeeded(source) ? std::optional(chooseRowTile(*source, extents)) : std::nullopt;
}

/// Only a row kernel whose row does not fit into registers needs scratch; all other kernels use registers and shared
/// memory.
int64_t NvptxTarget::scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const {
  const mlir::FailureOr<KernelSource> source = KernelSource::read(kernel);
  if (failed(source) || source->form.kind != "row" || chooseRowTile(*source, extents).steps > 0)
    return 0;
  return keptRowBytes(*source, extents);
}

mlir::FailureOr<EmittedKernel> NvptxTarget::emit(mlir::func::FuncOp kernel) const { return emitKernel(kernel, *this); }

llvm::ArrayRef<llvm::StringLiteral> NvptxTarget::vocabulary() const {
  static constexpr llvm::StringLiteral ops[] = {
      "llvm.func", "llvm.return", "llvm.mlir.global", "llvm.mlir.addressof", "llvm.mlir.undef", "llvm.ptrtoint",
      "llvm.call_intrinsic", // PtxCode knows which
      // The block, its threads, and what they tell each other.
      "nvvm.read.ptx.sreg.ctaid.x", "nvvm.read.ptx.sreg.tid.x", "nvvm.barrier", "nvvm.shfl.sync", "nvvm.vote.sync",
      // Products of matrices: copies to shared memory, factors from there, sums.
      "nvvm.cp.async.shared.global", "nvvm.cp.async.commit.group", "nvvm.cp.async.wait.group", "nvvm.ldmatrix",
      "nvvm.mma.sync", "llvm.extractvalue", "llvm.bitcast"};
  return ops;
}

StatusOr<std::string> NvptxTarget::makeCode(llvm::Module &module, KernelDumps *dumps) const {
  return generatePtx(module, *this, dumps);
}

StatusOr<NvptxTarget> NvptxTarget::find(std::string_view name) {
  initializeMachines();
  if (name != "sm_80")
    return Status(ErrorKind::value_error, fmt::format("unknown target \"{}\": expected \"sm_80\" of NVIDIA GPUs; its "
                                                      "code runs on all of compute capability 8.0 and above",
                                                      name));
  NvptxTarget target;
  target.name = target.processor = std::string(name);
  target.shortIndices = true;
  target.math.hasFma = target.math.hasRounding = target.math.convertsF16 = target.math.convertsBf16 = true;
  return target;
}

} // namespace halftone::compiler
