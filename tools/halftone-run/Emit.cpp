// halftone-run emit: writes one stage of the compiler, as text or bytes.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "CompiledModule.h"
#include "ModuleOrPlan.h"
#include "UsageError.h"
#include "compiler/codegen/KernelCompiler.h"
#include "runtime/plan/PlanFile.h"
#include "tools/shell/ModuleText.h"
#include "llvm/Object/ArchiveWriter.h"
#include <fmt/format.h>
#include <map>

namespace halftone::tools {
namespace {

/// The text of the module in a stage up to linalg.
std::string textOf(const Arguments &arguments, const ModuleOrPlan &model, compiler::Stage stage) {
  compiler::CompileOptions options = compileOptions(arguments, model);
  StageTexts stages;
  stages.collect(options);
  mlir::OwningOpRef<mlir::ModuleOp> module((*model.module->module).clone());
  if (stage == compiler::Stage::linalg)
    compileModule(*module, model.module->stage, options).status().orThrow();
  else
    runStages(*module, model.module->stage, stage, options).orThrow();
  if (!arguments.dumpDirectory.empty())
    stages.write(arguments.dumpDirectory);
  return stages.texts.at(stage);
}

/// The object of a single kernel; the objects of several as an archive, which linkers accept in the same way.
std::string objectsOf(const Executable &executable) {
  if (executable.kernels.size() == 1)
    return executable.kernels.begin()->second.code;
  std::vector<llvm::NewArchiveMember> members;
  for (const auto &[key, kernel] : executable.kernels)
    members.emplace_back(llvm::MemoryBufferRef(kernel.code, kernel.symbol));
  std::vector<std::string> names;
  for (const auto &[key, kernel] : executable.kernels)
    names.push_back(kernel.symbol + ".o");
  for (size_t i = 0; i < members.size(); ++i)
    members[i].MemberName = names[i];
  auto archive = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU, true, false);
  if (!archive)
    throw Error(ErrorKind::internal_error, "cannot write the archive: " + llvm::toString(archive.takeError()));
  return (*archive)->getBuffer().str();
}

/// Whether the kernels' code is PTX, of GPUs, or objects, of CPUs.
bool isPtx(const KernelCode &kernel) { return kernel.target.starts_with("nvptx|"); }

/// UsageError unless all kernels have code of that kind.
void checkKind(const Executable &executable, bool ptx, const std::string &format) {
  for (const auto &[key, kernel] : executable.kernels)
    if (isPtx(kernel) != ptx)
      throw UsageError(fmt::format("--format {}: kernel {} was generated for {}; expected {}", format, kernel.symbol,
                                   kernel.target, ptx ? "object" : "ptx"));
}

/// The PTX of each kernel, one module after the other.
std::string ptxOf(const Executable &executable) {
  std::string text;
  for (const auto &[key, kernel] : executable.kernels)
    text += fmt::format("// {} ({}): {}\n{}\n", kernel.symbol, kernel.kind, kernel.method, kernel.code);
  return text;
}

/// LLVM IR or assembly of every kernel, generated again from its description, and of the cores that these call. Anybody may
/// have written the description in a saved plan.
std::string codeOf(const Arguments &arguments, const ModuleOrPlan &model, const Executable &executable, bool assembly) {
  std::string text;
  const std::string name = targetOf(arguments, model);
  const std::shared_ptr<const compiler::Target> target = compiler::Target::find(name).valueOrThrow();
  const auto add = [&](const std::string &symbol, const std::string &kind, const compiler::KernelDumps &dumps) {
    text += fmt::format("{} {} ({})\n{}\n", assembly ? "#" : ";", symbol, kind, assembly ? dumps.assembly : dumps.llvm);
  };
  std::map<std::string, compiler::Core> cores;
  for (const auto &[key, kernel] : executable.kernels) {
    if (kernel.isCore())
      continue;
    if (kernel.description.empty())
      throw Error(ErrorKind::value_error,
                  fmt::format("kernel {} has no description; only its object is available", key));
    if (kernel.target != target->key())
      throw UsageError(fmt::format("--target {}: kernel {} was generated for {}", name, key, kernel.target));
    compiler::KernelDumps dumps;
    checkModuleText(kernel.description, kernel.symbol).orThrow();
    compiler::KernelCompiler compiler(*target);
    const Status status = compiler.compile(kernel.description, &dumps).status();
    if (!status && model.plan) // the description may be bad, so this is no bug of the compiler
      throw Error(ErrorKind::value_error,
                  fmt::format("kernel {}: {}\n{}", key, status.message(), status.diagnostics()));
    status.orThrow();
    add(kernel.symbol, kernel.kind, dumps);
    cores.insert(compiler.cores().begin(), compiler.cores().end());
  }
  for (const auto &[key, core] : cores) {
    compiler::KernelDumps dumps;
    compiler::KernelCompiler(*target).compile(core, &dumps).status().orThrow();
    add(core.symbol, std::string(KernelCode::coreKind), dumps);
  }
  return text;
}

std::string ofExecutable(const Arguments &arguments, const ModuleOrPlan &model, const std::string &format) {
  const std::shared_ptr<const Executable> plan = planOf(arguments, model);
  const Executable &executable = *plan;
  if (format == "plan")
    return writeExecutable(executable);
  if (format == "object" || format == "ptx") {
    checkKind(executable, format == "ptx", format);
    return format == "ptx" ? ptxOf(executable) : objectsOf(executable);
  }
  if (format == "llvm" || format == "asm")
    return codeOf(arguments, model, executable, format == "asm");
  return print(executable);
}

} // namespace

ExitCode emit(const Arguments &arguments) {
  const std::optional<compiler::Stage> stage = compiler::stageNamed(arguments.stage);
  if (!stage)
    throw UsageError(
        fmt::format("--stage '{}': expected graph, cast, pure, kernel, linalg, plan or target", arguments.stage));
  static const std::array formats = {"mlir", "plan", "llvm", "asm", "ptx", "object"};
  std::string format = arguments.format;
  if (!format.empty() && std::ranges::find(formats, format) == formats.end())
    throw UsageError(fmt::format("--format '{}': expected mlir, plan, llvm, asm, ptx or object", format));
  const bool isModule = *stage <= compiler::Stage::linalg;
  if (!format.empty() && (isModule                          ? format != "mlir"
                          : *stage == compiler::Stage::plan ? format != "plan"
                                                            : format == "mlir"))
    throw UsageError(fmt::format("--format {}: stage {} is written as {}", format, arguments.stage,
                                 isModule                          ? "mlir"
                                 : *stage == compiler::Stage::plan ? "plan, or without --format as text"
                                                                   : "plan, llvm, asm, ptx or object"));
  if (format.empty())
    format = isModule ? "mlir" : *stage == compiler::Stage::plan ? "" : "asm";
  const ModuleOrPlan model = loadModuleOrPlan(arguments);

  if (model.plan && isModule)
    throw UsageError(
        fmt::format("--stage {}: {} is a saved plan; expected plan or target", arguments.stage, arguments.model));
  if (model.module && *stage < model.module->stage)
    throw UsageError(fmt::format("--stage {}: {} is already in stage {}", arguments.stage, arguments.model,
                                 name(model.module->stage)));
  std::string bytes;
  if (!isModule)
    bytes = ofExecutable(arguments, model, format);
  else
    bytes = textOf(arguments, model, *stage);
  writeFile(arguments.output, bytes);
  return yes;
}

} // namespace halftone::tools
