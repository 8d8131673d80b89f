// Traces, compiles and runs functions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/CompiledFunction.h"
#include "frontend/base/ProcessRun.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/graph/AgreeOnProgram.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Devices.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/Rematerialize.h"
#include "frontend/graph/TraceCompile.h"
#include "frontend/graph/Variables.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/CompilerGate.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/policy/PolicyRep.h"
#include <algorithm>
#include <fmt/format.h>
#include <new>

namespace halftone::detail {

static constexpr int64_t minForCompiling = int64_t(32) << 20; // bytes, more than a step of a small model needs

/// Calls f() and converts std::bad_alloc to an error with `name` and the free bytes.
template <class F> static auto naming(const std::string &name, F f) {
  try {
    return f();
  } catch (const std::bad_alloc &) {
    throw Error(ErrorKind::runtime_error, fmt::format("{}: out of memory; {} bytes are free", name, freeMemory()));
  }
}

CompiledFunction::CompiledFunction(FunctionOptions options, std::vector<std::string> feedNames, Body body)
    : options_(std::move(options)), feedNames_(std::move(feedNames)), body_(std::move(body)),
      program_(
          options_.name, [this](ProgramKey &key) { return compile(key); },
          [](const std::string &message) { writeOutput(fmt::format("warning: {}\n", message)); }) {}

std::shared_ptr<Trace> CompiledFunction::trace(const std::vector<TensorType> &types, const FeedLayout &layout,
                                               const std::vector<Tensor> &data) {
  const FloatMode mode;
  const DeviceScope device(this->device()); // for variables that the function creates while it is traced
  std::shared_ptr<Trace> trace = Trace::create(options_.name);
  trace->generator = generator_;
  trace->hostFeeds = data;
  trace->openExtents = layout.openExtents;
  Trace::Scope scope(trace);
  std::vector<Value> feeds;
  for (size_t i = 0; i < types.size(); ++i) {
    std::string name = i < feedNames_.size() ? feedNames_[i] : fmt::format("arg{}", i);
    feeds.push_back(trace->feed(name, Shape(types[i].shape), types[i].dtype));
    feeds.back().node()->feed = i;
  }
  const std::vector<Named> fetches = [&] {
    const OutsideForkGate users;
    return body_(*trace, feeds, layout);
  }();
  for (const std::function<void()> &record : trace->atEnd)
    record();
  for (const Named &fetch : fetches)
    trace->fetch(fetch.name, fetch.value);
  return trace;
}

FeedLayout CompiledFunction::withExtents(FeedLayout layout) const {
  const ForkSafeLock lock(hostMutex_);
  if (layout.openExtents.empty())
    layout.openExtents = latestExtents_;
  return layout;
}

/// Thread settings that a layer reads when it is created. A function that creates layers does so in each trace.
static uint64_t threadSettings() { return globalPolicyId() ^ openRematId(); }

/// The device of a traced function: `device` if the caller requested it or if the function has no variables, otherwise
/// the device of the variables. Moves the function's constants, its random states, and other following variables there.
static std::shared_ptr<DeviceRuntime> runtimeFor(const Trace &trace, Device device, bool isRequested) {
  std::shared_ptr<DeviceRuntime> runtime = runtimeOf(device);
  const auto &variables = trace.variables();
  const auto isEverywhere = [](const auto &named) {
    return named.second->role == VariableRole::constant || named.second->role == VariableRole::seed;
  };
  const auto follows = [&](const auto &named) { return named.second->follows || isEverywhere(named); };
  auto first = std::ranges::find_if_not(variables, follows);
  if (first == variables.end())
    first = std::ranges::find_if_not(variables, isEverywhere);
  if (!isRequested && first != variables.end())
    runtime = first->second->memory->sharedDevice();
  for (const auto &named : variables)
    if (follows(named))
      moveVariables({Variable(named.second)}, runtime);
  return runtime;
}

static StatusOr<std::shared_ptr<const KernelLibrary>> loadKernels(DeviceRuntime &device, const Executable &executable) {
  const CompilerGate gate;
  HALFTONE_RETURN_IF_ERROR(gate.status());
  return device.load(executable.kernels);
}

/// Returns true if the traced function communicates with other processes.
static bool withOthers(const Trace &trace) { return trace.sharedBatch || trace.usesProcesses; }

StatusOr<std::shared_ptr<Player>> CompiledFunction::compile(ProgramKey &key) {
  const FloatMode mode;
  if (!fitsMemory(minForCompiling))
    return Status(ErrorKind::runtime_error, fmt::format("{}: not enough memory to compile it: {}", options_.name,
                                                        memoryShortage(minForCompiling)));
  CallTransaction transaction(CallTransaction::Extent::program);
  // Exceptions from user code pass through ProgramCache, which has changed nothing at this point.
  const PolicyReads reads;
  std::shared_ptr<Trace> traced = trace(key.feeds, key.layout);
  if (!traced->hostSteps.empty() && !hasHostSteps_.exchange(true))
    return Status(ErrorKind::internal_error, fmt::format("{} has host steps", options_.name)); // run() begins again
  if (!reads.any())
    key.threadSettings = ProgramKey::anySettings;
  const std::shared_ptr<DeviceRuntime> device = runtimeFor(*traced, key.device, options_.device.has_value());
  const bool agrees = traced->usesProcesses && !traced->sharedBatch; // callers compare the steps of fit()
  std::string text;
  if (agrees)
    text = traceText(*traced, options_, {device->target(), Stage::graph}).valueOrThrow();
  StatusOr<Executable> compiled = compileTrace(*traced, options_, device->target());
  if (!compiled.isOk())
    return compiled.status();
  compiled->name = options_.name; // for messages of the player
  if (agrees)
    agreeOnProgram(*traced, text, *compiled);
  auto executable = std::make_shared<const Executable>(*std::move(compiled));
  const StatusOr<std::shared_ptr<const KernelLibrary>> kernels = loadKernels(*device, *executable);
  if (!kernels.isOk())
    return kernels.status();
  VariableBinding binding;
  for (const auto &[symbol, variable] : traced->variables())
    binding[symbol] = memoryIn(key.substitutes, variable->memory);
  StatusOr<std::shared_ptr<Player>> player = Player::bind(executable, *kernels, device, binding, traced->beforeRun,
                                                          withOthers(*traced) ? processGroup() : nullptr);
  if (player.isOk())
    transaction.commit();
  return player;
}

/// The number of lists of host steps kept, for the most recent feed types.
static constexpr size_t maxHostPrograms = 64;

CompiledFunction::HostProgram CompiledFunction::hostSteps(const std::vector<Tensor> &feeds, const FeedLayout &layout) {
  ProgramKey key{typesOf(feeds), layout, configurationEpoch(), device(), ProgramKey::anySettings};
  const auto find = [&]() -> HostProgram {
    const ForkSafeLock lock(hostMutex_);
    for (const auto &[known, steps] : hostPrograms_)
      if (known == key)
        return steps;
    return nullptr;
  };
  if (auto known = find())
    return known;
  key.threadSettings = threadSettings();
  if (auto known = find())
    return known;
  CallTransaction transaction(CallTransaction::Extent::program);
  const PolicyReads reads;
  const auto steps = std::make_shared<std::vector<HostStep>>(trace(key.feeds, layout, feeds)->hostSteps);
  for (HostStep &step : *steps)
    step.result = {}; // of that trace
  transaction.commit();
  if (!reads.any())
    key.threadSettings = ProgramKey::anySettings;
  const ForkSafeLock lock(hostMutex_);
  if (hostPrograms_.size() >= maxHostPrograms)
    hostPrograms_.erase(hostPrograms_.begin());
  hostPrograms_.emplace_back(key, steps);
  return steps;
}

/// The maximum number of results kept for later runs: the next batch of each of a few threads.
static constexpr size_t maxAhead = 4;

void CompiledFunction::runHostStepsAhead(const std::vector<Tensor> &feeds) {
  if (!std::ranges::all_of(feeds, &Tensor::defined))
    return;
  const std::vector<TensorType> types = typesOf(feeds);
  const auto isKnown = [&, epoch = configurationEpoch()](const std::pair<ProgramKey, HostProgram> &known) {
    return known.first.epoch == epoch && known.first.feeds.size() >= types.size() &&
           std::ranges::equal(std::span(known.first.feeds).first(types.size()), types);
  };
  AheadResults ahead{.steps = nullptr, .feeds = feeds, .results = {}};
  {
    const ForkSafeLock lock(hostMutex_);
    if (const auto found = std::ranges::find_if(hostPrograms_.rbegin(), hostPrograms_.rend(), isKnown);
        found != hostPrograms_.rend())
      ahead.steps = found->second;
  }
  if (!ahead.steps || ahead.steps->empty())
    return;
  for (const HostStep &step : *ahead.steps)
    ahead.results.push_back(computeOn(step, feeds));
  const ForkSafeLock lock(hostMutex_);
  if (ahead_.size() >= maxAhead)
    ahead_.pop_front();
  ahead_.push_back(std::move(ahead));
}

/// Returns true if two tensors share their memory.
static bool areSame(const Tensor &a, const Tensor &b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return false;
  return a.dtype() == DType::string ? TensorAccess::strings(a).data() == TensorAccess::strings(b).data()
                                    : TensorAccess::address(a) == TensorAccess::address(b);
}

std::vector<Tensor> CompiledFunction::resultsOf(const HostProgram &steps, const std::vector<Tensor> &feeds) {
  {
    const ForkSafeLock lock(hostMutex_);
    const auto found = std::ranges::find_if(ahead_, [&](const AheadResults &ahead) {
      return ahead.steps == steps && ahead.feeds.size() <= feeds.size() &&
             std::ranges::equal(ahead.feeds, std::span(feeds).first(ahead.feeds.size()), areSame);
    });
    if (found != ahead_.end()) {
      std::vector<Tensor> results = std::move(found->results);
      ahead_.erase(found);
      return results;
    }
  }
  std::vector<Tensor> results;
  for (const HostStep &step : *steps)
    results.push_back(computeOn(step, feeds));
  return results;
}

CompiledFunction::HostResults CompiledFunction::onHost(const std::vector<Tensor> &feeds, const FeedLayout &layout) {
  HostResults results{{}, layout};
  for (const Tensor &feed : feeds)
    if (feed.dtype() != DType::string)
      results.feeds.push_back(feed);
  const HostProgram steps = hostSteps(feeds, layout);
  const std::vector<Tensor> computed = resultsOf(steps, feeds);
  for (size_t i = 0; i < steps->size(); ++i) {
    const Shape &spec = (*steps)[i].spec.shape;
    for (int64_t axis = 0; axis < spec.rank(); ++axis)
      if (spec[axis] < 0)
        results.layout.openExtents.push_back(computed[i].shape()[axis]);
    results.feeds.push_back(computed[i]);
  }
  const ForkSafeLock lock(hostMutex_);
  latestExtents_ = results.layout.openExtents;
  return results;
}

std::vector<Tensor> CompiledFunction::play(const std::vector<Tensor> &feeds, const FeedLayout &layout,
                                           const std::shared_ptr<const VariableSubstitutes> &substitutes) {
  if (!needsHost(feeds)) {
    StatusOr<std::vector<Tensor>> fetches =
        program_.play(feeds, layout, configurationEpoch(), device(), threadSettings(), substitutes);
    if (fetches.isOk() || !hasHostSteps_)
      return std::move(fetches).valueOrThrow();
  }
  CallTransaction transaction(
      CallTransaction::Extent::program); // the trace that discovers the host steps builds layers too
  const HostResults host = onHost(feeds, layout);
  std::vector<Tensor> fetches = player(typesOf(feeds), host.layout, substitutes)->play(host.feeds).valueOrThrow();
  transaction.commit();
  return fetches;
}

std::vector<Tensor> CompiledFunction::run(const std::vector<Tensor> &feeds, const FeedLayout &layout,
                                          const std::shared_ptr<const VariableSubstitutes> &substitutes) {
  for (const Tensor &feed : feeds)
    if (!feed.defined())
      throw Error(ErrorKind::value_error, fmt::format("{} was given an undefined Tensor", options_.name));
  return naming(options_.name, [&] {
    if (!options_.interpret)
      return play(feeds, layout, substitutes);
    const FloatMode mode;
    CallTransaction transaction(CallTransaction::Extent::program);
    const HostResults host = onHost(feeds, layout);
    std::shared_ptr<Trace> traced = trace(typesOf(feeds), host.layout);
    if (withOthers(*traced))
      throw Error(ErrorKind::not_implemented_error,
                  fmt::format("{}: several processes cannot run eager steps together: compile() the model "
                              "without `run_eagerly`",
                              options_.name));
    std::vector<Tensor> fetches = interpretTrace(*traced, options_, host.feeds, substitutes).valueOrThrow();
    transaction.commit();
    return fetches;
  });
}

void CompiledFunction::prepare(const std::vector<Tensor> &feeds, const FeedLayout &layout,
                               const std::shared_ptr<const VariableSubstitutes> &substitutes) {
  if (options_.interpret)
    return;
  CallTransaction transaction(CallTransaction::Extent::program);
  player(typesOf(feeds), needsHost(feeds) ? onHost(feeds, layout).layout : layout, substitutes);
  transaction.commit();
}

std::shared_ptr<Player> CompiledFunction::player(const std::vector<TensorType> &types, const FeedLayout &layout,
                                                 const std::shared_ptr<const VariableSubstitutes> &substitutes) {
  const bool knowsHost = hasHostSteps_;
  const ProgramKey key{types, withExtents(layout), configurationEpoch(), device(), threadSettings(), substitutes};
  return naming(options_.name, [&] {
    StatusOr<std::shared_ptr<Player>> found = program_.find(key);
    if (!found.isOk() && hasHostSteps_ && !knowsHost)
      found = program_.find(key);
    return std::move(found).valueOrThrow();
  });
}

std::string CompiledFunction::ir(Stage stage, const std::vector<TensorType> &types, const FeedLayout &layout,
                                 bool locations, const std::function<void(Stage, std::string_view)> &onLateStage) {
  const FloatMode mode;
  CallTransaction transaction(CallTransaction::Extent::program);
  std::string text = traceText(*trace(types, withExtents(layout)), options_,
                               {runtimeOf(device())->target(), stage, locations, onLateStage})
                         .valueOrThrow();
  transaction.commit();
  return text;
}

std::vector<compiler::FusionRow> CompiledFunction::fusion(const std::vector<TensorType> &types,
                                                          const FeedLayout &layout) {
  const FloatMode mode;
  CallTransaction transaction(CallTransaction::Extent::program);
  std::vector<compiler::FusionRow> rows =
      traceFusion(*trace(types, withExtents(layout)), options_, runtimeOf(device())->target()).valueOrThrow();
  transaction.commit();
  return rows;
}

CastLedger CompiledFunction::ledger(const std::vector<TensorType> &types, const FeedLayout &layout) {
  const std::shared_ptr<Player> player = this->player(types, layout);
  CastLedger ledger;
  ledger.shapes = shapesText(types);
  for (const LedgerRow &row : player->executable().ledger) {
    ledger.rows.push_back({row.path, row.value, row.from, row.to,
                           row.storage ? CastLedger::Kind::storage : CastLedger::Kind::rounding, row.fused, row.bytes,
                           row.rule, row.location});
    (row.fused ? ledger.fused : ledger.standalone) += 1;
    if (!row.fused)
      ledger.bytes_moved += row.bytes;
  }
  return ledger;
}

Tensor elementsOfConstant(const Value &value) {
  CompiledFunction read({.name = "constant", .interpret = true}, {},
                        [&value](Trace &, const std::vector<Value> &, const FeedLayout &) {
                          return std::vector<CompiledFunction::Named>{{"value", replay({}, {value}, {})[0]}};
                        });
  return TensorAccess::onHost(read.run({}).at(0));
}

} // namespace halftone::detail
