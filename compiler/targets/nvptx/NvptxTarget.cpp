// The facts, instructions and code of NVIDIA GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/NvptxTarget.h"
#include "compiler/targets/MachineCode.h"
#include "compiler/targets/nvptx/Mma.h"
#include "compiler/targets/nvptx/PtxCode.h"
#include <fmt/format.h>

namespace halftone::compiler {

std::string NvptxTarget::key() const { return fmt::format("nvptx|{}|{}", processor, ptxVersion); }

MatmulChoice NvptxTarget::chooseMatmul(const MatmulTraits &traits) const {
  MatmulChoice choice;
  choice.fixesTile = true;
  if (const MmaInstruction *mma = chooseMmaInstruction(traits))
    choice.instruction = mma->name;
  return choice;
}

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
