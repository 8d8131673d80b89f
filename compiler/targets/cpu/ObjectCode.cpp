// LLVM's optimizer and code generator, kept from inventing calls.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/ObjectCode.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler;

namespace {

Status failure(std::string_view what, std::string detail) {
  return Status(ErrorKind::internal_error, fmt::format("code generation: {}", what), {}, {}, std::move(detail));
}

/// Keeps LLVM's own errors instead of printing them and exiting.
struct ErrorCollector : llvm::DiagnosticHandler {
  std::string &errors;
  explicit ErrorCollector(std::string &errors) : errors(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(errors);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      stream << "\n";
    }
    return true;
  }
};

std::unique_ptr<llvm::TargetMachine> createMachine(const CpuTarget &cpu) {
  const llvm::Triple triple(cpu.triple);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // fuse where `contract` says so, nowhere else
  options.TrapUnreachable = false;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(triple, cpu.processor, cpu.features, options,
                                                                          llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                          llvm::CodeGenOptLevel::Default));
}

void setAttributes(llvm::Module &module, const CpuTarget &cpu) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("no-builtins");
    function.addFnAttr("target-cpu", cpu.processor);
    if (!cpu.features.empty())
      function.addFnAttr("target-features", cpu.features);
    function.addFnAttr("prefer-vector-width", std::to_string(cpu.vectorBytes * 8));
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

/// The passes that emitted code needs, and no more: it comes vectorized, with its loops in the wanted order and nothing
/// to inline, and unrolling would double the time of code generation. By default instcombine ends the process when one
/// round is not enough.
constexpr const char *pipeline =
    "function(lower-expect,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(loop-rotate,licm),"
    "early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

Status optimize(llvm::Module &module, llvm::TargetMachine &machine, const llvm::TargetLibraryInfoImpl &library) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, pipeline))
    return failure("LLVM does not know the pipeline", llvm::toString(std::move(error)));
  passes.run(module, modules);
  return Status::ok();
}

/// False when the target cannot write files of this type.
bool emit(llvm::Module &module, llvm::TargetMachine &machine, const llvm::TargetLibraryInfoImpl &library,
          llvm::CodeGenFileType type, llvm::SmallVectorImpl<char> &out) {
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    return false;
  passes.run(module);
  return true;
}

Status checkSymbols(llvm::StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file)
    return failure("LLVM wrote an object that it cannot read", llvm::toString(file.takeError()));
  std::string missing;
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::Error error = flags ? llvm::Error::success() : flags.takeError();
      if (!name)
        error = llvm::joinErrors(std::move(error), name.takeError());
      return failure("LLVM wrote an object with a broken symbol table", llvm::toString(std::move(error)));
    }
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty())
      missing += (missing.empty() ? "" : ", ") + name->str();
  }
  if (!missing.empty())
    return failure("the kernel would call " + missing + "; expected code without calls", "");
  return Status::ok();
}

} // namespace

StatusOr<std::string> compiler::generateObject(llvm::Module &module, const CpuTarget &cpu, KernelDumps *dumps) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(cpu);
  if (!machine)
    return failure("no such target " + cpu.triple, "");
  std::string errors;
  module.getContext().setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  module.setTargetTriple(llvm::Triple(cpu.triple));
  module.setDataLayout(machine->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  setAttributes(module, cpu);
  std::string broken;
  llvm::raw_string_ostream brokenStream(broken);
  if (llvm::verifyModule(module, &brokenStream))
    return failure("the LLVM IR of the kernel is not valid", broken);

  llvm::TargetLibraryInfoImpl library{llvm::Triple(cpu.triple)};
  library.disableAllFunctions();
  HALFTONE_RETURN_IF_ERROR(optimize(module, *machine, library));
  if (dumps) {
    llvm::raw_string_ostream(dumps->llvm) << module;
    llvm::SmallString<0> assembly;
    std::unique_ptr<llvm::Module> clone = llvm::CloneModule(module);
    if (emit(*clone, *machine, library, llvm::CodeGenFileType::AssemblyFile, assembly))
      dumps->assembly = assembly.str().str();
  }
  llvm::SmallString<0> object;
  if (!emit(module, *machine, library, llvm::CodeGenFileType::ObjectFile, object))
    return failure("the target cannot write objects: " + cpu.triple, "");
  if (!errors.empty())
    return failure("LLVM refused the kernel", errors);
  HALFTONE_RETURN_IF_ERROR(checkSymbols(object));
  return object.str().str();
}
