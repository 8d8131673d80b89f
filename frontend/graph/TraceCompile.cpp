// Compiles and interprets traces.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/TraceCompile.h"
#include "compiler/Compiler.h"
#include "compiler/reports/FusionReport.h"
#include "dialect/Interpreter.h"
#include "dialect/TypeInference.h"
#include "frontend/base/CompileWatch.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/base/UserWords.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/CompilerGate.h"
#include "runtime/base/Environment.h"
#include "runtime/base/ForkGate.h"
#include "runtime/loader/ObjectLoader.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <mutex>
#include <set>

using namespace mlir;

namespace halftone::detail {

namespace {

/// Checks that HALFTONE_TARGET, if it is set, names a target; if the code is to run, one that the device supports.
Status checkEnvironment(const std::string *ofDevice) {
  const std::string named = environmentValue("HALFTONE_TARGET");
  if (named.empty())
    return {};
  const Status status = ofDevice ? checkRunsOn(named, *ofDevice) : compiler::checkTarget(named);
  return status.isOk() ? status
                       : environmentError(ErrorKind::value_error, "HALFTONE_TARGET",
                                          (ofDevice ? "a target of the device: " : "a target: ") + status.message());
}

compiler::CompileOptions compileOptions(const FunctionOptions &options, const std::string &ofDevice) {
  compiler::CompileOptions result;
  result.target = ofDevice;
  result.numerics = compiler::Numerics::strictIf(options.strict);
  result.maxStandaloneCasts = options.maxStandaloneCasts;
  if (const std::string target = environmentValue("HALFTONE_TARGET"); !target.empty())
    result.target = target;
  return result;
}

/// Converts the message of an error to the user's terms; the diagnostics remain MLIR's.
Status inUsersTerms(const Status &status) {
  return {status.kind(), inUsersWords(status.message()), status.layerPath(), status.where(), status.diagnostics()};
}

/// Notifies the thread's watch of a slow compile.
class WatchedCompile {
public:
  /// The value of CompileOptions::onProgress; none if there is no watch.
  std::function<bool(size_t, size_t)> onProgress() {
    if (!watch_)
      return nullptr;
    return [this](size_t done, size_t count) { return tell(done, count); };
  }
  /// Rethrows the exception of the watch.
  void rethrow() const {
    if (exception_)
      std::rethrow_exception(exception_);
  }

private:
  using Clock = std::chrono::steady_clock;
  bool tell(size_t done, size_t count) {
    if (Clock::now() - begun_ < watch_->after() || shown_ == done)
      return true;
    shown_ = done;
    try {
      watch_->show(done, count);
    } catch (...) {
      exception_ = std::current_exception();
    }
    return !exception_;
  }

  const CompileWatch *watch_ = CompileWatch::current();
  const Clock::time_point begun_ = Clock::now();
  std::optional<size_t> shown_;
  std::exception_ptr exception_;
};

/// Prints a warning, unless its reason is empty or this process has printed the warning before.
void warnOnce(const std::string &what, const std::string &reason) {
  static std::mutex mutex;
  static auto &warned = *new std::set<std::string>;
  if (reason.empty())
    return;
  const std::string warning = "warning: " + what + reason + "\n";
  {
    const ForkSafeLock lock(mutex);
    if (!warned.insert(warning).second)
      return;
  }
  writeOutput(warning);
}

dialect::TensorData dataOf(MLIRContext *context, const Tensor &tensor) {
  auto type = RankedTensorType::get(tensor.shape().dims(), dialect::elementType(context, tensor.dtype()));
  return dialect::TensorData::fromBytes(type, TensorAccess::data(TensorAccess::onHost(tensor)));
}

Tensor tensorOf(const dialect::TensorData &data) {
  llvm::ArrayRef<int64_t> dims = data.type.getShape();
  Tensor tensor = TensorAccess::allocate(*dialect::dtypeOf(data.type.getElementType()),
                                         Shape(std::vector<int64_t>(dims.begin(), dims.end())));
  std::string bytes = data.toBytes();
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char *>(TensorAccess::mutableData(tensor)));
  return tensor;
}

} // namespace

Status checkRunsOn(const std::string &target, const std::string &ofDevice) {
  const StatusOr<std::string> key = compiler::targetKey(target);
  HALFTONE_RETURN_IF_ERROR(key.status());
  const bool isGpu = key->starts_with("nvptx|"), deviceIsGpu = ofDevice.starts_with("sm_");
  if (isGpu != deviceIsGpu)
    return {ErrorKind::value_error, fmt::format("{} is a {}, but the device is a {}", target, isGpu ? "GPU" : "CPU",
                                                deviceIsGpu ? "GPU" : "CPU")};
  if (isGpu)
    return {};
  const Status status = checkRunsHere(*key);
  return status.isOk() ? status : Status(status.kind(), fmt::format("code for {} is {}", target, status.message()));
}

StatusOr<Executable> compileTrace(Trace &trace, const FunctionOptions &options, const std::string &target) {
  HALFTONE_RETURN_IF_ERROR(checkEnvironment(&target));
  compiler::CompileStatistics statistics;
  WatchedCompile watched;
  StatusOr<Executable> executable = [&]() -> StatusOr<Executable> {
    const CompilerGate gate;
    HALFTONE_RETURN_IF_ERROR(gate.status());
    compiler::CompileOptions compile = compileOptions(options, target);
    compile.onProgress = watched.onProgress();
    return compiler::compile(trace.finish(), compile, &statistics);
  }();
  watched.rethrow();
  warnOnce("compiled kernels are not cached on disk: ", statistics.cacheWarning);
  warnOnce("", statistics.packWarning);
  if (!executable.isOk())
    return inUsersTerms(executable.status());
  return executable;
}

StatusOr<std::string> traceText(Trace &trace, const FunctionOptions &options, const TextOptions &wanted) {
  HALFTONE_RETURN_IF_ERROR(checkEnvironment(nullptr));
  const CompilerGate gate;
  HALFTONE_RETURN_IF_ERROR(gate.status());
  ModuleOp module = trace.finish();
  const auto stage = static_cast<compiler::Stage>(wanted.stage);
  const compiler::CompileOptions plain = compileOptions(options, wanted.target);
  if (stage <= compiler::Stage::kernel) {
    if (Status status = compiler::runStages(module, compiler::Stage::graph, stage, plain); !status)
      return inUsersTerms(status);
    std::string text;
    llvm::raw_string_ostream os(text);
    OpPrintingFlags flags;
    if (wanted.locations)
      flags.enableDebugInfo();
    module->print(os, flags);
    return text;
  }
  std::string text;
  compiler::CompileOptions withText = plain;
  withText.locations = wanted.locations;
  withText.onStage = [&](compiler::Stage reached, std::string_view stageText) {
    if (reached == stage)
      text = stageText;
    if (wanted.onLateStage && reached > compiler::Stage::kernel)
      wanted.onLateStage(static_cast<Stage>(reached), stageText);
  };
  StatusOr<Executable> executable = compiler::compile(module, withText);
  if (text.empty()) // a stage that was reached has a text, even if a later one failed
    return inUsersTerms(executable.status());
  return text;
}

StatusOr<std::vector<compiler::FusionRow>> traceFusion(Trace &trace, const FunctionOptions &options,
                                                       const std::string &target) {
  HALFTONE_RETURN_IF_ERROR(checkEnvironment(nullptr));
  const CompilerGate gate;
  HALFTONE_RETURN_IF_ERROR(gate.status());
  ModuleOp module = trace.finish();
  compiler::CompileOptions explained = compileOptions(options, target);
  explained.explainFusion = true;
  if (Status status = compiler::runStages(module, compiler::Stage::graph, compiler::Stage::kernel, explained); !status)
    return inUsersTerms(status);
  return compiler::fusionReport(module);
}

VariableHandle memoryIn(const std::shared_ptr<const VariableSubstitutes> &substitutes, const VariableHandle &own) {
  if (!substitutes)
    return own;
  const auto found = substitutes->find(own);
  return found == substitutes->end() ? own : found->second;
}

/// Closes a trace, and lowers its module to the stage that the interpreter runs.
static StatusOr<ModuleOp> pureModule(Trace &trace, const FunctionOptions &options) {
  const CompilerGate gate;
  HALFTONE_RETURN_IF_ERROR(gate.status());
  ModuleOp module = trace.finish();
  const Status status =
      compiler::runStages(module, compiler::Stage::graph, compiler::Stage::pure, compileOptions(options, "host"));
  return status ? StatusOr<ModuleOp>(module) : inUsersTerms(status);
}

/// Interprets the module once and returns the fetches. `variables` holds the values of the trace's variables, and then
/// the new values.
static StatusOr<std::vector<Tensor>> interpretOn(ModuleOp module, const Trace &trace, const std::vector<Tensor> &feeds,
                                                 std::vector<Tensor> &variables) {
  const CompilerGate gate;
  HALFTONE_RETURN_IF_ERROR(gate.status());
  MLIRContext *context = module.getContext();
  std::vector<dialect::TensorData> inputs;
  for (const Tensor &feed : feeds)
    inputs.push_back(dataOf(context, feed));
  dialect::VariableValues values;
  for (size_t i = 0; i < variables.size(); ++i)
    values[trace.variables()[i].first] = dataOf(context, variables[i]);
  StatusOr<std::vector<dialect::TensorData>> outputs = dialect::interpret(module, inputs, values);
  if (!outputs.isOk())
    return outputs.status();
  for (size_t i = 0; i < variables.size(); ++i)
    variables[i] = tensorOf(values.at(trace.variables()[i].first));
  std::vector<Tensor> results;
  for (const dialect::TensorData &output : *outputs)
    results.push_back(tensorOf(output));
  return results;
}

/// Interprets the module once on the variables, whose locks the caller holds, and returns the fetches.
static StatusOr<std::vector<Tensor>> interpretLocked(ModuleOp module, const Trace &trace,
                                                     const std::vector<Tensor> &feeds,
                                                     const std::shared_ptr<const VariableSubstitutes> &substitutes) {
  std::vector<Tensor> values;
  for (const auto &[symbol, variable] : trace.variables()) {
    values.push_back(TensorAccess::allocate(variable->dtype, variable->shape));
    HALFTONE_RETURN_IF_ERROR(memoryIn(substitutes, variable->memory)
                                 ->readBytesLocked({TensorAccess::mutableData(values.back()),
                                                    static_cast<size_t>(TensorAccess::bytes(values.back()))}));
  }
  StatusOr<std::vector<Tensor>> results = interpretOn(module, trace, feeds, values);
  HALFTONE_RETURN_IF_ERROR(results.status());
  for (size_t i = 0; i < values.size(); ++i)
    HALFTONE_RETURN_IF_ERROR(
        memoryIn(substitutes, trace.variables()[i].second->memory)
            ->writeBytesLocked({TensorAccess::data(values[i]), static_cast<size_t>(TensorAccess::bytes(values[i]))}));
  return results;
}

StatusOr<InterpretedTrace> InterpretedTrace::prepare(std::shared_ptr<Trace> trace, const FunctionOptions &options) {
  const StatusOr<ModuleOp> module = pureModule(*trace, options);
  HALFTONE_RETURN_IF_ERROR(module.status());
  return InterpretedTrace(std::move(trace), ModuleOp(*module).getAsOpaquePointer());
}
StatusOr<std::vector<Tensor>> InterpretedTrace::run(const std::vector<Tensor> &values) const {
  std::vector<Tensor> variables = values;
  return interpretOn(ModuleOp::getFromOpaquePointer(module_), *trace_, {}, variables);
}

StatusOr<std::vector<Tensor>> interpretTrace(Trace &trace, const FunctionOptions &options,
                                             const std::vector<Tensor> &feeds,
                                             const std::shared_ptr<const VariableSubstitutes> &substitutes) {
  const StatusOr<ModuleOp> module = pureModule(trace, options);
  HALFTONE_RETURN_IF_ERROR(module.status());
  std::vector<VariableHandle> variables;
  for (const auto &named : trace.variables())
    variables.push_back(memoryIn(substitutes, named.second->memory));
  for (const BeforePlay &work : trace.beforeRun)
    variables.insert(variables.end(), work.variables.begin(), work.variables.end());
  const std::vector<std::mutex *> locks = locksOf(variables);
  for (;;) {
    const std::vector<BeforePlay::Begin> begins = prepareAll(trace.beforeRun);
    const LocksHeld stores(locks);
    const StatusOr<bool> begun = beginAll(begins);
    HALFTONE_RETURN_IF_ERROR(begun.status());
    if (*begun)
      return interpretLocked(*module, trace, feeds, substitutes);
  }
}

} // namespace halftone::detail
