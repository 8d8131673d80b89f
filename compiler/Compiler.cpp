// compile(): runs the passes, builds the plan, and compiles its kernels on worker threads.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/Compiler.h"
#include "compiler/CastBudget.h"
#include "compiler/codegen/KernelCache.h"
#include "compiler/codegen/KernelCompiler.h"
#include "compiler/forms/KernelDescription.h"
#include "compiler/kernels/FormTraits.h"
#include "compiler/passes/ModuleAttributes.h"
#include "compiler/passes/PlanValues.h"
#include "compiler/reports/Diagnostics.h"
#include "compiler/reports/Ledger.h"
#include "mlir/Support/Timing.h"
#include "mlir/Support/ToolUtilities.h"
#include "runtime/base/CompilerGate.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/Threads.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <mutex>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

/// A kernel of the plan that is being compiled. Kernels with different extents may have the same key and then share
/// code.
struct PendingKernel {
  std::string key, name, kind, site; // the kernel's symbol and kind; its first launch's site, for errors
  std::string text;                  // linalg
  int64_t expected;                  // estimated number of LLVM IR instructions
  StatusOr<KernelCode> code;
  KernelDumps dumps;
};

/// Estimates the size of a kernel's code. The text of a kernel grows with its ops and dims, as its code does, so that
/// the estimates order kernels almost as their actual sizes do.
int64_t expectedInstructions(KernelKind kind, const std::string &text) {
  return traitsOf(kind).fewestInstructions + static_cast<int64_t>(text.size()) / 4;
}

/// The interval between calls of CompileOptions::onProgress.
constexpr auto progressInterval = std::chrono::milliseconds(100);

/// A core that kernels being compiled call.
struct PendingCore {
  std::string symbol, method;
  StatusOr<KernelCode> code;
  KernelDumps dumps;
};

Status notCompiled() { return {ErrorKind::internal_error, "not compiled"}; }

class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options, CompileStatistics &statistics)
      : module(module), options(options), statistics(statistics) {}

  StatusOr<Executable> run() {
    HALFTONE_RETURN_IF_ERROR(runStages(module, options.from, Stage::kernel, options));
    auto found = Target::of(module);
    HALFTONE_RETURN_IF_ERROR(found.status());
    target = std::move(*found);
    const StatusOr<Numerics> attached = numericsOf(module);
    HALFTONE_RETURN_IF_ERROR(attached.status());
    numerics = *attached;
    std::vector<LedgerRow> ledger = castLedger(module);
    for (const LedgerRow &row : ledger)
      statistics.standaloneCasts += !row.fused;
    HALFTONE_RETURN_IF_ERROR(checkCastBudget(ledger, options));

    TimingScope linalg = nest(options.timing, "linalg");
    HALFTONE_RETURN_IF_ERROR(describeKernels());
    linalg.stop();
    show(Stage::linalg, [&](llvm::raw_ostream &out) {
      for (const PendingKernel &kernel : kernels) {
        if (&kernel != &kernels.front())
          out << kDefaultSplitMarker << "\n";
        out << "// " << kernel.key << ": " << kernel.name << "\n" << kernel.text << "\n";
      }
    });
    TimingScope planning = nest(options.timing, "plan");
    auto exe = assignSlots(module, arguments);
    if (!exe)
      return exe.status();
    planning.stop();
    exe->buildId = buildId();
    exe->ledger = std::move(ledger);
    for (const PendingKernel &kernel : kernels)
      exe->kernels[kernel.key].kind = kernel.kind;
    if (Status status = verify(*exe); !status)
      return Status(ErrorKind::internal_error, status.message());
    if (options.verifyStages || HALFTONE_VERIFY_STAGES)
      HALFTONE_RETURN_IF_ERROR(checkPlanValues(module, arguments, *exe));
    show(Stage::plan, [&](llvm::raw_ostream &out) { out << print(*exe); });

    HALFTONE_RETURN_IF_ERROR(generate(*exe));
    show(Stage::target, [&](llvm::raw_ostream &out) {
      for (const PendingKernel &kernel : kernels)
        out << "# " << kernel.key << ": " << kernel.name << ", " << exe->kernels[kernel.key].method << ", "
            << kernel.dumps.instructions << " LLVM instructions\n"
            << kernel.dumps.assembly << "\n";
      for (const auto &[key, core] : cores)
        out << "# " << key << ": " << core.symbol << ", " << core.method << ", " << core.dumps.instructions
            << " LLVM instructions\n"
            << core.dumps.assembly << "\n";
    });
    return exe;
  }

private:
  static TimingScope nest(TimingScope *scope, llvm::StringRef what) {
    return scope ? scope->nest(what) : TimingScope();
  }

  void show(Stage stage, llvm::function_ref<void(llvm::raw_ostream &)> write) {
    if (!options.onStage)
      return;
    std::string text;
    llvm::raw_string_ostream out(text);
    write(out);
    options.onStage(stage, text);
  }

  /// Finds the linalg form and the launch arguments of each kernel that is launched, then of each that computes a
  /// shadow.
  Status describeKernels() {
    llvm::MapVector<llvm::StringRef, llvm::StringRef> sites; // by kernel: the site of its first launch
    module.walk([&](LaunchOp launch) { sites.insert({launch.getKernel(), launch.getSite()}); });
    HALFTONE_RETURN_IF_ERROR(addRefreshKernels(module));
    SymbolTable symbols(module);
    std::vector<std::string> refreshes;
    for (ShadowOp shadow : module.getOps<ShadowOp>())
      refreshes.push_back(refreshName(shadow));
    for (const std::string &name : refreshes)
      sites.insert({name, ""});
    for (auto [name, site] : sites) {
      auto kernel = symbols.lookup<KernelOp>(name);
      if (!kernel)
        return Status(ErrorKind::internal_error, "no kernel @" + name.str());
      HALFTONE_RETURN_IF_ERROR(describe(kernel, site.str()));
    }
    return Status::ok();
  }

  Status describe(KernelOp kernel, std::string site) {
    DiagnosticCollector diagnostics(module.getContext());
    auto description = describeKernel(kernel, *target, numerics);
    // A kernel that this compiler formed always has a linalg form.
    const ErrorKind kind = options.from == Stage::kernel ? ErrorKind::compile_error : ErrorKind::internal_error;
    HALFTONE_RETURN_IF_ERROR(
        diagnostics.check(description, fmt::format("kernel {} has no linalg form", kernel.getSymName().str()), kind));
    std::string text;
    llvm::raw_string_ostream out(text);
    description->module->print(out, OpPrintingFlags().assumeVerified().enableDebugInfo(false));
    std::string key = kernelKey(text, *target);
    const int64_t expected = expectedInstructions(kernel.getKind(), text);
    if (known.insert(key).second)
      kernels.push_back({key,
                         kernel.getSymName().str(),
                         stringifyKernelKind(kernel.getKind()).str(),
                         std::move(site),
                         std::move(text),
                         expected,
                         notCompiled(),
                         {}});
    arguments[kernel.getSymName()] = {key, std::move(description->extents), description->grid,
                                      description->scratchBytes, description->cost};
    return Status::ok();
  }

  /// Takes code from the caches or generates it. The texts of stage target are those of generated code, so onStage
  /// causes all code to be generated.
  Status generate(Executable &exe) {
    KernelCache &cache = KernelCache::shared(options.cacheDirectory);
    TimingScope all = nest(options.timing, "kernels");
    std::vector<PendingKernel *> missing;
    for (PendingKernel &kernel : kernels)
      if (!find(cache, kernel, exe, all))
        missing.push_back(&kernel);
    HALFTONE_RETURN_IF_ERROR(compileAll(missing, cache, all));
    for (PendingKernel *kernel : missing) {
      if (!kernel->code)
        return blame(*kernel);
      exe.kernels[kernel->key] = *cache.insert(kernel->key, std::move(*kernel->code));
    }
    for (auto &[key, core] : cores) {
      HALFTONE_RETURN_IF_ERROR(core.code.status());
      exe.kernels[key] = *cache.insert(key, std::move(*core.code));
    }
    if (Status status = checkCores(exe.kernels); !status)
      return Status(ErrorKind::internal_error, status.message());
    statistics.kernels = static_cast<int64_t>(kernels.size());
    statistics.compiled = static_cast<int64_t>(missing.size());
    statistics.cacheWarning = cache.warning();
    statistics.packWarning = cache.packWarning();
    return Status::ok();
  }

  /// Takes a kernel's code and that of its cores from the caches. Returns false if the caches lack one of them.
  bool find(KernelCache &cache, const PendingKernel &kernel, Executable &exe, TimingScope &all) {
    const auto found = options.onStage ? std::nullopt : cache.find(kernel.key);
    if (!found)
      return false;
    for (const std::string &key : found->kernel->uses) {
      const auto core = cache.find(key);
      if (!core || !core->kernel->isCore())
        return false;
      exe.kernels[key] = *core->kernel;
    }
    count(found->source, kernel, all);
    exe.kernels[kernel.key] = *found->kernel;
    return true;
  }

  /// Counts a kernel of this source, and adds its row to the times.
  void count(KernelCache::Source source, const PendingKernel &kernel, TimingScope &all) {
    switch (source) {
    case KernelCache::Source::memory:
      ++statistics.fromMemory;
      return time(all, kernel, "from memory").stop();
    case KernelCache::Source::disk:
      ++statistics.fromDisk;
      return time(all, kernel, "from disk").stop();
    case KernelCache::Source::pack:
      ++statistics.fromPacks;
      return time(all, kernel, "from a pack").stop();
    }
  }

  /// Compiles the cores of the kernel that `compiler` compiled last, except those that a thread has started and those
  /// in the caches.
  void compileCores(KernelCompiler &compiler, KernelCache &cache, bool dumps, TimingScope &all) {
    const std::map<std::string, Core> called = compiler.cores();
    for (const auto &[key, core] : called) {
      PendingCore *pending = nullptr;
      {
        const ForkSafeLock lock(coresMutex);
        const auto [entry, isNew] = cores.try_emplace(key, PendingCore{core.symbol, core.method, notCompiled(), {}});
        if (!isNew)
          continue;
        pending = &entry->second; // pointers to map elements remain valid
      }
      if (auto found = options.onStage ? std::nullopt : cache.find(key)) {
        pending->code = *found->kernel;
        continue;
      }
      TimingScope own = nest(&all, fmt::format("{} {} (compiled)", core.symbol, key.substr(0, 16)));
      pending->code = compiler.compile(core, dumps ? &pending->dumps : nullptr);
    }
  }

  static TimingScope time(TimingScope &all, const PendingKernel &kernel, const char *how) {
    return nest(&all, fmt::format("{} {} ({})", kernel.name, kernel.key.substr(0, 16), how));
  }

  /// Compiles `jobs` on worker threads.
  Status compileAll(std::vector<PendingKernel *> jobs, KernelCache &cache, TimingScope &all) {
    // The longest first, so that none starts when the other threads have run out of work.
    std::ranges::sort(jobs, std::greater(), &PendingKernel::expected);
    const auto wanted = llvm::hardware_concurrency(static_cast<unsigned>(std::max(options.threads, 0)));
    const size_t workers = std::min<size_t>(jobs.size(), wanted.compute_thread_count());
    TimingScope phases = jobs.empty() ? TimingScope() : nest(options.timing ? &all : nullptr, "phases");
    const KernelTimes times{options.timing ? &phases : nullptr, options.timesPasses};
    // Dumps verify the code at each step, which modules that users wrote at stage kernel need.
    const bool dumps = options.onStage || options.from == Stage::kernel;
    std::atomic<size_t> begun{0}, next{0}, done{0};
    std::atomic<bool> shouldContinue{true};
    const auto work = [&](size_t) {
      const WorkerCompilerGate gate; // the calling thread leaves its own gate in onProgress
      ++begun;
      KernelCompiler compiler(*target, times);
      for (size_t i = next++; i < jobs.size() && shouldContinue; i = next++) {
        PendingKernel &kernel = *jobs[i];
        TimingScope own = time(all, kernel, "compiled");
        kernel.code = compiler.compile(kernel.text, dumps ? &kernel.dumps : nullptr);
        own.stop();
        if (kernel.code)
          compileCores(compiler, cache, dumps, all);
        static std::atomic<uint64_t> kernelsCompiled{0};
        noticeStaticObjects(kernelsCompiled);
        ++done;
      }
    };
    if (!options.onProgress)
      runInThreads(workers, workers, work);
    while (options.onProgress && shouldContinue && done < jobs.size()) // repeated in a process that onProgress forked
      runInThreads(workers, workers, work, progressInterval, [&] {
        if (begun < workers)
          return; // a worker has no gate yet, or its thread did not start
        const OutsideCompilerGate outside;
        shouldContinue = options.onProgress(done, jobs.size());
      });
    return shouldContinue ? Status::ok() : Status(ErrorKind::runtime_error, "the compilation was stopped");
  }

  static Status blame(const PendingKernel &kernel) {
    const Status &status = kernel.code.status();
    return Status(status.kind(), fmt::format("kernel {}: {}", kernel.name, status.message()),
                  status.layerPath().empty() ? kernel.site : status.layerPath(), {}, status.diagnostics());
  }

  ModuleOp module;
  const CompileOptions &options;
  CompileStatistics &statistics;
  std::shared_ptr<const Target> target;
  Numerics numerics;
  std::vector<PendingKernel> kernels;
  llvm::StringSet<> known; // keys of `kernels`
  std::mutex coresMutex;
  std::map<std::string, PendingCore> cores; // by key, of kernels that were not cached; the mutex guards the map
  KernelArguments arguments;
};

} // namespace

StatusOr<Executable> compile(ModuleOp module, const CompileOptions &options, CompileStatistics *statistics) {
  auto start = std::chrono::steady_clock::now();
  CompileStatistics own;
  auto exe = Compilation(module, options, own).run();
  own.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (statistics)
    *statistics = own;
  return exe;
}

} // namespace halftone::compiler
