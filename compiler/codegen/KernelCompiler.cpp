// Compiles one kernel: parse, legalize, emit, check, lower to LLVM, generate code.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCompiler.h"
#include "compiler/codegen/KernelCache.h"
#include "compiler/codegen/Lowering.h"
#include "compiler/kernels/KernelForm.h"
#include "compiler/kernels/Steps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/base/Sha256.h"
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// The only function of a kernel's module. If there is not exactly one, emits a diagnostic and returns null.
func::FuncOp kernelFunction(ModuleOp module) {
  func::FuncOp function;
  for (Operation &op : *module.getBody()) {
    auto candidate = dyn_cast<func::FuncOp>(op);
    if (!candidate || function || candidate.isExternal()) {
      op.emitError("expected one func.func with a body in a kernel's module");
      return nullptr;
    }
    function = candidate;
  }
  if (!function)
    module.emitError("expected one func.func with a body in a kernel's module");
  return function;
}

} // namespace

std::string compiler::kernelKey(std::string_view linalgText, const Target &target) {
  return sha256(fmt::format("{}\n{}\n{}", codeId(), target.key(), linalgText));
}

std::string compiler::coreKey(const Core &core, const Target &target) {
  return sha256(fmt::format("{}\n{}\ncore {}", codeId(), target.key(), core.symbol));
}

/// The number of kernels and cores after which the context is replaced: it keeps every type and attribute ever created.
static constexpr int maxKernels = 64;

KernelCompiler::KernelCompiler(const Target &target, const KernelTimes &times) : target_(target), times_(times) {}
KernelCompiler::~KernelCompiler() = default;

StatusOr<KernelCode> KernelCompiler::compile(std::string_view linalgText, KernelDumps *dumps) {
  return compileInContext([&] { return compileKernel(linalgText, dumps); });
}

StatusOr<KernelCode> KernelCompiler::compile(const Core &core, KernelDumps *dumps) {
  return compileInContext([&] { return compileCore(core, dumps); });
}

template <class Compile> StatusOr<KernelCode> KernelCompiler::compileInContext(Compile compile) {
  if (!machine_) {
    TimingScope phase = times_.phase("contexts");
    auto machine = target_.machine();
    HALFTONE_RETURN_IF_ERROR(machine.status());
    machine_ = std::move(*machine);
    machine_->times = times_;
    context_ = std::make_unique<KernelContext>();
    kernels_ = 0;
  }
  StatusOr<KernelCode> kernel = compile();
  if (!kernel || ++kernels_ == maxKernels) {
    machine_.reset();
    context_.reset();
  }
  return kernel;
}

StatusOr<KernelCode> compiler::compileKernel(std::string_view linalgText, const Target &target, KernelDumps *dumps,
                                             std::map<std::string, KernelCode> *cores) {
  KernelCompiler compiler(target);
  StatusOr<KernelCode> kernel = compiler.compile(linalgText, dumps);
  if (kernel && cores)
    for (const auto &[key, core] : compiler.cores()) {
      if (cores->contains(key))
        continue;
      StatusOr<KernelCode> code = compiler.compile(core);
      HALFTONE_RETURN_IF_ERROR(code.status());
      cores->emplace(key, std::move(*code));
    }
  return kernel;
}

StatusOr<KernelCode> KernelCompiler::compileCore(const Core &core, KernelDumps *dumps) {
  const DiagnosticText diagnostics(context_.get());
  TimingScope phase = times_.phase("emit");
  const OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context_.get()));
  core.emit(*module);
  phase.stop();
  KernelCode code;
  code.symbol = core.symbol;
  code.kind = KernelCode::coreKind;
  code.target = target_.key();
  code.method = core.method;
  std::vector<Core> called;
  StatusOr<std::string> object = lowerToCode(*module, target_, *machine_, diagnostics, called, dumps);
  HALFTONE_RETURN_IF_ERROR(object.status());
  if (!called.empty())
    return Status(ErrorKind::internal_error,
                  fmt::format("core {} calls {}, and a core calls no other", core.symbol, called[0].symbol));
  code.code = std::move(*object);
  return code;
}

StatusOr<KernelCode> KernelCompiler::compileKernel(std::string_view linalgText, KernelDumps *dumps) {
  cores_.clear();
  const DiagnosticText diagnostics(context_.get());
  TimingScope phase = times_.phase("parse");
  ParserConfig config(context_.get());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(StringRef(linalgText.data(), linalgText.size()), config);
  if (!module)
    return diagnostics.failure("the linalg form cannot be parsed");
  func::FuncOp function = kernelFunction(*module);
  FailureOr<KernelForm> form = failure();
  if (function)
    form = KernelForm::read(function);
  if (failed(form))
    return diagnostics.failure("the linalg form is not a valid kernel");
  KernelCode kernel;
  kernel.symbol = "halftone_" + kernelKey(linalgText, target_).substr(0, 16);
  kernel.kind = dialect::stringifyKernelKind(form->kind).str();
  kernel.target = target_.key();
  kernel.description = std::string(linalgText);
  function.setSymName(kernel.symbol);
  phase.stop();
  phase = times_.phase("legalize");
  if (failed(legalizeStorage(function, target_.math)) || failed(verify(*module)))
    return diagnostics.failure("the kernel's storage cannot be legalized");
  if (dumps) {
    llvm::raw_string_ostream stream(dumps->legalized);
    module->print(stream);
  }
  phase.stop();
  phase = times_.phase("emit");
  FailureOr<EmittedKernel> emitted = target_.emit(function);
  if (failed(emitted))
    return diagnostics.failure("the linalg form cannot be lowered to code");
  phase.stop();
  kernel.method = std::move(emitted->method);
  kernel.launch = emitted->launch;
  StatusOr<std::string> object = lowerToCode(*module, target_, *machine_, diagnostics, emitted->cores, dumps);
  HALFTONE_RETURN_IF_ERROR(object.status());
  for (Core &core : emitted->cores)
    cores_.emplace(coreKey(core, target_), std::move(core));
  for (const auto &[key, core] : cores_)
    kernel.uses.push_back(key);
  kernel.code = std::move(*object);
  return kernel;
}
