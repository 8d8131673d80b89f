// LLVM's optimizer and code generator, configured not to introduce calls.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/MachineCode.h"
#include "compiler/targets/StaticObjects.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/PassInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler;

namespace {

/// Collects LLVM's errors; otherwise LLVM prints them and exits.
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

/// Times the pass that runs. A pass manager also reports passes of other kinds, which contain the passes.
class PassClock {
public:
  explicit PassClock(mlir::TimingScope &phase) : phase_(phase) {}
  void start(llvm::StringRef pass) {
    if (pass.contains("PassManager") || pass.contains("Adaptor"))
      return;
    running_.stop();
    running_ = phase_.nest(pass);
  }

private:
  mlir::TimingScope &phase_;
  mlir::TimingScope running_;
};

/// Starts the clock for the pass after it.
struct StartClock : llvm::FunctionPass {
  static char id;
  PassClock &clock;
  std::string pass;
  StartClock(PassClock &clock, llvm::StringRef pass) : FunctionPass(id), clock(clock), pass(pass) {}
  bool runOnFunction(llvm::Function &) override {
    clock.start(pass);
    return false;
  }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override { usage.setPreservesAll(); }
};
char StartClock::id = 0;

/// The passes of a code generator, except some. Times each pass if `clock` is not null.
class PassesWithout : public llvm::legacy::PassManager {
public:
  PassesWithout(llvm::ArrayRef<llvm::StringLiteral> without, PassClock *clock) : without_(without), clock_(clock) {}
  void add(llvm::Pass *pass) override {
    const llvm::PassInfo *info = llvm::Pass::lookupPassInfo(pass->getPassID());
    if (info && llvm::is_contained(without_, info->getPassArgument())) {
      delete pass; // the manager would take ownership
      return;
    }
    if (clock_ && !pass->getAsImmutablePass())
      PassManager::add(new StartClock(*clock_, pass->getPassName()));
    PassManager::add(pass);
  }

private:
  llvm::ArrayRef<llvm::StringLiteral> without_;
  PassClock *clock_;
};

} // namespace

// Unrolling would double the time of code generation. The passes are named here rather than in a pipeline string, so a
// statically linked program contains no other passes.
llvm::FunctionPassManager compiler::usualPasses() {
  llvm::InstCombineOptions once;
  once.setVerifyFixpoint(false); // by default instcombine aborts if one iteration is not enough
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerExpectIntrinsicPass());
  const auto simplify = [&] {
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::InstCombinePass(once));
    passes.addPass(llvm::SimplifyCFGPass());
  };
  simplify();
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  simplify();
  return passes;
}

Status compiler::codeGenerationFailure(std::string_view what, std::string detail) {
  return Status(ErrorKind::internal_error, fmt::format("code generation: {}", what), {}, {}, std::move(detail));
}

/// Runs passes over the LLVM IR of one module after another, with the same analysis managers: setting these up takes
/// longer than a pass over a short kernel.
class MachineCode::Optimizer {
public:
  Optimizer(llvm::TargetMachine &machine, const llvm::TargetLibraryInfoImpl &library)
      : builder_(&machine, llvm::PipelineTuningOptions(), {}, &callbacks_) {
    callbacks_.registerBeforeNonSkippedPassCallback([this](llvm::StringRef pass, llvm::Any) {
      if (clock_)
        clock_->start(pass);
    });
    functions_.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
    builder_.registerModuleAnalyses(modules_);
    builder_.registerCGSCCAnalyses(callGraph_);
    builder_.registerFunctionAnalyses(functions_);
    builder_.registerLoopAnalyses(loops_);
    builder_.crossRegisterProxies(loops_, functions_, callGraph_, modules_);
  }

  /// Times each pass if `clock` is not null.
  void run(llvm::Module &module, llvm::FunctionPassManager functionPasses, PassClock *clock) {
    clock_ = clock;
    llvm::ModulePassManager passes;
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functionPasses)));
    passes.run(module, modules_);
    clock_ = nullptr;
    // The results refer to the module.
    loops_.clear();
    functions_.clear();
    callGraph_.clear();
    modules_.clear();
  }

private:
  PassClock *clock_ = nullptr;
  llvm::PassInstrumentationCallbacks callbacks_;
  llvm::PassBuilder builder_;
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager callGraph_;
  llvm::ModuleAnalysisManager modules_;
};

/// Generates files from one module after another, with the same pass manager: setting one up takes a tenth of the time
/// of a short kernel. LLVM's CPU backends support this (`llc -compile-twice`), and an object does not depend on the
/// modules compiled before it.
class MachineCode::Writer {
public:
  Writer(llvm::CodeGenFileType type, llvm::ArrayRef<llvm::StringLiteral> without, PassClock *clock)
      : type_(type), without_(without.begin(), without.end()), passes_(without_, clock) {}

  /// Returns false if the machine has no files of that type.
  bool setUp(llvm::TargetMachine &machine, const llvm::TargetLibraryInfoImpl &library) {
    passes_.add(new llvm::TargetLibraryInfoWrapperPass(library));
    return !machine.addPassesToEmitFile(passes_, stream_, nullptr, type_, /*DisableVerify=*/true);
  }
  bool writes(llvm::CodeGenFileType type, llvm::ArrayRef<llvm::StringLiteral> without) const {
    return type == type_ && without == llvm::ArrayRef(without_);
  }
  std::string write(llvm::Module &module) {
    file_.clear();
    passes_.run(module);
    return file_.str().str();
  }

private:
  llvm::CodeGenFileType type_;
  llvm::SmallVector<llvm::StringLiteral, 0> without_;
  llvm::SmallString<0> file_;
  llvm::raw_svector_ostream stream_{file_};
  PassesWithout passes_;
};

MachineCode::MachineCode(MachineName name, std::unique_ptr<llvm::TargetMachine> machine)
    : name_(std::move(name)), machine_(std::move(machine)), library_(llvm::Triple(name_.triple)) {
  library_.disableAllFunctions();
}

MachineCode::~MachineCode() = default;

StatusOr<std::unique_ptr<MachineCode>> MachineCode::make(MachineName name) {
  const llvm::Triple triple(name.triple);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return codeGenerationFailure("unknown target triple " + name.triple);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // fuse exactly where `contract` permits it
  options.TrapUnreachable = false;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, name.processor, name.features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  return std::unique_ptr<MachineCode>(new MachineCode(std::move(name), std::move(machine)));
}

StatusOr<std::unique_ptr<MachineCode>> MachineCode::create(MachineName name) {
  HALFTONE_RETURN_IF_ERROR(StaticObjects::make(name));
  return make(std::move(name));
}

Status MachineCode::optimize(llvm::Module &module, KernelDumps *dumps, llvm::FunctionPassManager passes) {
  module.getContext().setDiagnosticHandler(std::make_unique<ErrorCollector>(errors_));
  module.setTargetTriple(llvm::Triple(name_.triple));
  module.setDataLayout(machine_->createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("no-builtins");
    function.addFnAttr("target-cpu", name_.processor);
    if (!name_.features.empty())
      function.addFnAttr("target-features", name_.features);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  std::string broken;
  llvm::raw_string_ostream brokenStream(broken);
  if ((dumps || HALFTONE_VERIFY_STAGES) && llvm::verifyModule(module, &brokenStream))
    return codeGenerationFailure("the LLVM IR of the kernel is not valid", broken);
  mlir::TimingScope phase = times.phase("LLVM's passes");
  PassClock clock(phase);
  if (!optimizer_)
    optimizer_ = std::make_unique<Optimizer>(*machine_, library_);
  optimizer_->run(module, std::move(passes), times.byPass ? &clock : nullptr);
  if (dumps) {
    llvm::raw_string_ostream(dumps->llvm) << module;
    dumps->instructions = module.getInstructionCount();
  }
  return Status::ok();
}

StatusOr<std::string> MachineCode::write(llvm::Module &module, llvm::CodeGenFileType type,
                                         llvm::ArrayRef<llvm::StringLiteral> without) {
  mlir::TimingScope phase = times.phase("code generation");
  PassClock clock(phase);
  auto found = llvm::find_if(writers_, [&](const auto &each) { return each->writes(type, without); });
  if (found == writers_.end()) {
    auto writer = std::make_unique<Writer>(type, without, times.byPass ? &clock : nullptr);
    if (!writer->setUp(*machine_, library_))
      return codeGenerationFailure("the target cannot generate files of this type: " + name_.triple);
    found = writers_.insert(writers_.end(), std::move(writer));
  }
  std::string file = (*found)->write(module);
  // The labels in a text contain the number of the function in the life of the pass manager, and NVPTX, which writes
  // texts only, crashes on a second module. With times by pass, the passes refer to the clock.
  if (type != llvm::CodeGenFileType::ObjectFile || times.byPass)
    writers_.erase(found);
  if (!errors_.empty())
    return codeGenerationFailure("LLVM rejected the kernel", errors_);
  return file;
}
