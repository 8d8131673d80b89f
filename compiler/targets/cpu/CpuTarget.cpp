// Derives the properties of a CPU that the emitters query from LLVM's subtarget information.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/MachineCode.h"
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/ObjectCode.h"
#include "compiler/targets/cpu/matmul/MatmulSchedule.h"
#include "compiler/targets/cpu/matmul/Products.h"
#include "compiler/targets/cpu/x86/X86Math.h"
#include "runtime/base/TilePermission.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <utility>

using namespace halftone;
using namespace halftone::compiler;

namespace {

/// The detected features, sorted, each with its sign: features that the machine lacks although its CPU model has them
/// are disabled. AMX is disabled if the operating system does not permit it.
std::string hostFeatures() {
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second && (!feature.first().starts_with("amx-") || mayUseTiles()) ? "+" : "-") +
                       feature.first().str());
  std::sort(features.begin(), features.end());
  std::string joined;
  for (const std::string &feature : features)
    joined += (joined.empty() ? "" : ",") + feature;
  return joined;
}

Status unknown(std::string_view name, std::string_view why) {
  return Status(
      ErrorKind::value_error,
      fmt::format("unknown target \"{}\": {}; expected \"host\", \"x86-64-v2\", \"x86-64-v3\", \"x86-64-v4\", "
                  "\"sapphirerapids\", \"graniterapids\", \"sm_80[:<multiprocessors>]\" or \"<triple>[:<cpu>]\" of a "
                  "64-bit little-endian CPU with ELF objects, such as \"aarch64-unknown-linux-gnu:neoverse-n1\", or "
                  "\"emulated:\" followed by one of these",
                  name, why));
}

/// Returns true for general-purpose CPUs; LLVM's other targets are GPUs and virtual machines.
bool isCpu(const llvm::Triple &triple) {
  return triple.isX86() || triple.isAArch64() || triple.isRISCV() || triple.isLoongArch() || triple.isPPC() ||
         triple.isMIPS();
}

void setX86Facts(CpuTarget &target, const llvm::MCSubtargetInfo &info) {
  const auto has = [&](llvm::StringRef feature) { return info.checkFeatures("+" + feature.str()); };
  const bool avx512 = hasAvx512(info);
  target.vectorBytes = avx512 ? 64 : has("avx2") ? 32 : 16;
  target.vectorRegisters = avx512 ? 32 : 16;
  target.math.hasFma = has("fma") || avx512;
  target.math.convertsF16 = has("f16c") || avx512;
  target.hasMaskedMemory = avx512;
  target.math.hasRounding = has("sse4.1");
  target.hasStreaming = true;
  if (avx512)
    target.math.instructions = &x86MathInstructions(has("avx512bf16"));
}

constexpr std::string_view emulatedPrefix = "emulated:";

/// Finds an x86 CPU whose instructions, except AMX, this x86 CPU emulates.
StatusOr<CpuTarget> findEmulated(std::string_view name) {
  StatusOr<CpuTarget> found = CpuTarget::find(name.substr(emulatedPrefix.size())), host = CpuTarget::find("host");
  HALFTONE_RETURN_IF_ERROR(found.status());
  HALFTONE_RETURN_IF_ERROR(host.status());
  if (!found->emulated.empty() || !llvm::Triple(found->triple).isX86() || !llvm::Triple(host->triple).isX86() ||
      !host->math.hasFma)
    return unknown(name, "only x86 CPUs can be emulated, on an x86 host with fused multiply-add");
  found->name = std::string(name);
  found->emulated = std::exchange(found->processor, host->processor);
  found->triple = host->triple;
  found->features = host->features;
  llvm::erase_if(found->products, [](const ProductRow *row) { return row->usesTiles(); });
  return found;
}

} // namespace

std::string CpuTarget::key() const {
  return triple + "|" + processor + "|" + features + (emulated.empty() ? "" : "|" + emulated);
}

/// Attention multiplies pairs of bf16 if a matmul of its queries and keys would. Otherwise, and in the schedule for few
/// queries, it uses multiply-adds.
static cpu::AttentionScheduleAttr attentionSchedule(mlir::MLIRContext *context, const CpuTarget &target,
                                                    const AttentionTraits &traits) {
  // Attention kernels exist only in numerics that do not fix the order of sums.
  const auto tile = target.blocking(Numerics::fast()).attentionTile(traits);
  if (!traits.isGradient && tile && tile->queries == 1)
    return cpu::AttentionScheduleAttr::get(context, cpu::Product::multiply_add, /*few_queries=*/true);
  MatmulTraits scores{traits.dtype, traits.dtype, DType::float32};
  scores.rows = traits.queries;
  scores.depth = traits.depth;
  scores.lhsAlongDepth = true;
  const ProductRow &product = chooseProduct(target, scores);
  return cpu::AttentionScheduleAttr::get(context, product.group == 2 ? product.product : cpu::Product::multiply_add,
                                         /*few_queries=*/false);
}

/// The weights stay packed through all steps, so pairs of bf16 are profitable whenever the CPU multiplies them fast.
static cpu::RecurrenceScheduleAttr recurrenceSchedule(mlir::MLIRContext *context, const CpuTarget &target,
                                                      const RecurrenceTraits &traits) {
  const ProductRow *pairs = findProduct(target, cpu::Product::vdpbf16ps);
  MatmulTraits step{traits.factors, traits.factors, DType::float32};
  step.rows = traits.rows;
  step.lhsAlongDepth = true;
  const bool isProfitable = pairs && traits.factors == DType::bfloat16 && pairs->isProfitable(target, step);
  return cpu::RecurrenceScheduleAttr::get(context, isProfitable ? pairs->product : cpu::Product::multiply_add);
}

ScheduleAttrInterface CpuTarget::schedule(mlir::MLIRContext *context, const KernelTraits &traits) const {
  context->getOrLoadDialect<cpu::ScheduleDialect>();
  if (const auto *matmul = std::get_if<MatmulTraits>(&traits))
    return matmulSchedule(context, *this, *matmul);
  if (const auto *attention = std::get_if<AttentionTraits>(&traits))
    return attentionSchedule(context, *this, *attention);
  if (const auto *recurrence = std::get_if<RecurrenceTraits>(&traits))
    return recurrenceSchedule(context, *this, *recurrence);
  const auto *grouped = std::get_if<GroupedTraits>(&traits);
  if (!grouped || !lowerings().sumsGroups(grouped->dtype, grouped->channels, grouped->filters))
    return {};
  return cpu::GroupedScheduleAttr::get(context, grouped->filters, grouped->channels, grouped->channelDim);
}

int64_t CpuTarget::scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const {
  return kernelScratchBytes(kernel, extents, *this);
}

mlir::FailureOr<EmittedKernel> CpuTarget::emit(mlir::func::FuncOp kernel) const { return emitKernel(kernel, *this); }

llvm::ArrayRef<llvm::StringLiteral> CpuTarget::legalOps() const {
  static constexpr llvm::StringLiteral ops[] = {"func.func", "func.return", "llvm.intr.masked.load",
                                                "llvm.intr.masked.store", "llvm.intr.prefetch", "llvm.ptrtoint",
                                                // For an instruction that an emitter selected by the features.
                                                "llvm.call_intrinsic", "func.call"};
  return ops;
}

StatusOr<std::unique_ptr<MachineCode>> CpuTarget::machine() const {
  return MachineCode::create({triple, processor, features});
}

StatusOr<std::string> CpuTarget::makeCode(llvm::Module &module, MachineCode &machine, KernelDumps *dumps) const {
  return generateObject(module, *this, machine, dumps);
}

void CpuTarget::registerDialects(mlir::DialectRegistry &registry) { registry.insert<cpu::ScheduleDialect>(); }

StatusOr<CpuTarget> CpuTarget::find(std::string_view name) {
  if (name.starts_with(emulatedPrefix))
    return findEmulated(name);
  initializeMachines();
  CpuTarget target;
  target.name = std::string(name);
  const std::string x86 = "x86_64-unknown-linux-gnu";
  if (name == "host") {
    target.triple = llvm::Triple::normalize(llvm::sys::getProcessTriple());
    target.processor = llvm::sys::getHostCPUName().str();
    target.features = hostFeatures();
  } else if (name == "x86-64-v2" || name == "x86-64-v3" || name == "x86-64-v4" || name == "sapphirerapids" ||
             name == "graniterapids") {
    target.triple = x86;
    target.processor = std::string(name);
  } else if (const size_t colon = name.find(':'); name.substr(0, colon).find('-') != std::string_view::npos) {
    target.triple = llvm::Triple::normalize(std::string(name.substr(0, colon)));
    if (colon != std::string_view::npos)
      target.processor = std::string(name.substr(colon + 1));
  } else {
    return unknown(name, "not a known name");
  }

  const llvm::Triple triple(target.triple);
  if (!isCpu(triple) || !triple.isArch64Bit() || !triple.isLittleEndian())
    return unknown(name, fmt::format("\"{}\" is not a 64-bit little-endian CPU", target.triple));
  if (!triple.isOSBinFormatELF())
    return unknown(name, fmt::format("\"{}\" does not use ELF objects", target.triple));
  std::string error;
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget || !llvmTarget->hasTargetMachine() || !llvmTarget->hasMCAsmBackend())
    return unknown(name, fmt::format("LLVM was built without \"{}\"", target.triple));
  if (target.processor.empty() && triple.isRISCV())
    target.features = "+m,+a,+f,+d,+c"; // the general-purpose set: without it even division is a call
  if (target.processor.empty())
    target.processor = triple.isX86() ? "x86-64" : triple.isRISCV() ? "generic-rv64" : "generic";
  // Queries with an empty CPU first, because LLVM prints an unknown one to stderr.
  std::unique_ptr<llvm::MCSubtargetInfo> info(llvmTarget->createMCSubtargetInfo(triple, "", ""));
  if (!info || !info->isCPUStringValid(target.processor))
    return unknown(name, fmt::format("\"{}\" has no CPU \"{}\"", target.triple, target.processor));
  info.reset(llvmTarget->createMCSubtargetInfo(triple, target.processor, target.features));
  if (triple.isX86()) {
    if (!info->checkFeatures("+64bit"))
      return unknown(name, fmt::format("\"{}\" has no 64-bit mode", target.processor));
    setX86Facts(target, *info);
  } else if (triple.isAArch64()) {
    if (!info->checkFeatures("+neon"))
      return unknown(name, fmt::format("\"{}\" has no vector registers", target.processor));
    target.math.hasFma = target.math.convertsF16 = target.math.hasRounding = true;
    target.vectorRegisters = 32;
  }
  target.products = productsOf(triple, *info);
  return target;
}
