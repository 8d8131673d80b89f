// The facts, instructions and code of NVIDIA GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/NvptxTarget.h"
#include "compiler/targets/MachineCode.h"
#include "compiler/targets/gpu/Schedules.h"
#include "compiler/targets/nvptx/Mma.h"
#include "compiler/targets/nvptx/PtxCode.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include <charconv>
#include <fmt/format.h>

namespace halftone::compiler {

namespace {

constexpr std::string_view processorName = "sm_80";
constexpr int64_t usualMultiprocessors = 108, maxMultiprocessors = 1024;

/// The number of multiprocessors in `name`; nullopt if `name` is not a target.
std::optional<int64_t> multiprocessorsOf(std::string_view name) {
  if (name == processorName)
    return usualMultiprocessors;
  if (!name.starts_with(processorName) || name[processorName.size()] != ':')
    return std::nullopt;
  const std::string_view digits = name.substr(processorName.size() + 1);
  unsigned count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  const bool isNumber = error == std::errc() && end == digits.data() + digits.size() && digits.front() != '0';
  return isNumber && count <= maxMultiprocessors ? std::optional<int64_t>(count) : std::nullopt;
}

} // namespace

std::string NvptxTarget::key() const {
  const std::string key = fmt::format("nvptx|{}|{}", processor, ptxVersion);
  return multiprocessors == usualMultiprocessors ? key : fmt::format("{}|{} multiprocessors", key, multiprocessors);
}

ScheduleAttrInterface NvptxTarget::schedule(mlir::MLIRContext *context, const KernelTraits &traits) const {
  const auto *matmul = std::get_if<MatmulTraits>(&traits);
  const MmaInstruction *mma = matmul ? chooseMmaInstruction(*matmul) : nullptr;
  if (!mma)
    return GpuTarget::schedule(context, traits);
  context->getOrLoadDialect<nvptx::ScheduleDialect>();
  return nvptx::MmaScheduleAttr::get(context, mma->product, {matmul->tile.m, matmul->tile.n}, matmul->divisors);
}

llvm::ArrayRef<llvm::StringLiteral> NvptxTarget::legalOps() const {
  static constexpr llvm::StringLiteral ops[] = {
      "llvm.func", "llvm.return", "llvm.mlir.global", "llvm.mlir.addressof", "llvm.mlir.undef", "llvm.ptrtoint",
      "llvm.call_intrinsic", // PtxCode checks the intrinsics
      // The block and thread indices, and communication between threads.
      "nvvm.read.ptx.sreg.ctaid.x", "nvvm.read.ptx.sreg.tid.x", "nvvm.barrier", "nvvm.shfl.sync", "nvvm.vote.sync",
      // Matrix products: copies to shared memory, loads of factors, sums.
      "nvvm.cp.async.shared.global", "nvvm.cp.async.commit.group", "nvvm.cp.async.wait.group", "nvvm.ldmatrix",
      "nvvm.mma.sync", "llvm.extractvalue", "llvm.bitcast"};
  return ops;
}

StatusOr<std::unique_ptr<MachineCode>> NvptxTarget::machine() const {
  return MachineCode::create({"nvptx64-nvidia-cuda", processor, "+" + std::string(ptxVersion)});
}

StatusOr<std::string> NvptxTarget::makeCode(llvm::Module &module, MachineCode &machine, KernelDumps *dumps) const {
  return generatePtx(module, machine, dumps);
}

StatusOr<NvptxTarget> NvptxTarget::find(std::string_view name) {
  initializeMachines();
  const std::optional<int64_t> multiprocessors = multiprocessorsOf(name);
  if (!multiprocessors)
    return Status(ErrorKind::value_error,
                  fmt::format("unknown target \"{}\": expected \"sm_80\", for all NVIDIA GPUs of compute capability "
                              "8.0 and above, or \"sm_80:<n>\" for n multiprocessors, 1 to {}",
                              name, maxMultiprocessors));
  NvptxTarget target(*multiprocessors);
  target.name = std::string(name);
  target.processor = std::string(processorName);
  target.shortIndices = true;
  target.math.hasFma = target.math.hasRounding = target.math.convertsF16 = target.math.convertsBf16 = true;
  return target;
}

void NvptxTarget::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<gpu::ScheduleDialect, nvptx::ScheduleDialect, mlir::NVVM::NVVMDialect>();
  mlir::registerConvertNVVMToLLVMInterface(registry);
  mlir::registerNVVMDialectTranslation(registry);
}

} // namespace halftone::compiler
