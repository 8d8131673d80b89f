// Generates objects for CPUs: optimizes, emits, and checks that they are self-contained.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/ObjectCode.h"
#include "compiler/targets/cpu/KernelPasses.h"
#include "compiler/targets/cpu/x86/Emulation.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace halftone;
using namespace halftone::compiler;

namespace {

/// Checks that the only undefined symbols of the object are those of cores that `module` declares.
Status checkSymbols(llvm::StringRef object, const llvm::Module &module) {
  const auto isCore = [&](llvm::StringRef name) {
    const llvm::Function *function = module.getFunction(name);
    return name.starts_with(Core::prefix) && function && function->isDeclaration();
  };
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file)
    return codeGenerationFailure("LLVM wrote an object that it cannot read", llvm::toString(file.takeError()));
  std::string missing;
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::Error error = flags ? llvm::Error::success() : flags.takeError();
      if (!name)
        error = llvm::joinErrors(std::move(error), name.takeError());
      return codeGenerationFailure("LLVM wrote an object with a broken symbol table", llvm::toString(std::move(error)));
    }
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty() && !isCore(*name))
      missing += (missing.empty() ? "" : ", ") + name->str();
  }
  if (!missing.empty())
    return codeGenerationFailure("the kernel would call " + missing + "; expected code that calls only cores");
  return Status::ok();
}

} // namespace

StatusOr<std::string> compiler::generateObject(llvm::Module &module, const CpuTarget &cpu, MachineCode &machine,
                                               KernelDumps *dumps) {
  if (!cpu.emulated.empty())
    emulateInstructions(module);
  module.setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr("prefer-vector-width", std::to_string(cpu.vectorBytes * 8));
  HALFTONE_RETURN_IF_ERROR(machine.optimize(module, dumps, kernelPasses(module, cpu)));
  const llvm::SmallVector<llvm::StringLiteral, 0> without = skippedPasses(module, cpu);
  if (dumps) {
    auto assembly = machine.write(*llvm::CloneModule(module), llvm::CodeGenFileType::AssemblyFile, without);
    if (assembly.isOk())
      dumps->assembly = std::move(*assembly);
  }
  auto object = machine.write(module, llvm::CodeGenFileType::ObjectFile, without);
  HALFTONE_RETURN_IF_ERROR(object.status());
  HALFTONE_RETURN_IF_ERROR(checkSymbols(*object, module));
  return object;
}
