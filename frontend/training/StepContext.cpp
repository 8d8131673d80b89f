// Traces the steps of models with hooks, and implements StepContext.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/StepContext.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Devices.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/layers/HookScope.h"
#include "frontend/optimizers/MinimizeTogether.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/optimizers/UpdaterScope.h"
#include "frontend/training/BatchLoss.h"
#include "frontend/training/ModelState.h"
#include "frontend/training/OwnOptimizers.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace halftone {
using namespace detail;

/// A step during its trace.
struct StepContext::Rep {
  enum class Purpose : uint8_t { record, losses, program }; // only a program updates with compile()'s optimizer
  LayerImpl &layer;
  CompiledModel &compiled;
  bool isTraining;
  Purpose purpose;
  StepData data{};                                      // as fed
  std::shared_ptr<const StepRecord> record{};           // of a program
  Value loss{};                                         // this process's part, for the logs
  std::vector<std::pair<Value, Value>> parts{};         // losses of own rows, as hooks see them, and their parts
  std::vector<std::pair<std::string, Value>> reports{}; // as passed by hooks
  bool hasMetrics = false, hasOutputLosses = false;     // whether compile()'s have been updated
  std::vector<std::pair<size_t, size_t>> targets{};     // see StepRecord
  std::vector<Value> minimized{};                       // including applied gradients

  Layer handle() const { return Layer(layer.shared_from_this()); }
  int64_t rows() const { return data.x[0].shape()[0]; }
  const char *program() const { return isTraining ? "train" : "test"; }
  const std::string &where() const { return layer.path.empty() ? layer.name : layer.path; }
  [[noreturn]] void refuse(ErrorKind kind, const std::string &message) const { throw Error(kind, message, where()); }

  /// Checks that `value` is a traced scalar; value_error if not, and type_error for a loss that is not a float. `what`
  /// names the value in messages.
  void requireScalar(const std::string &what, const Value &value, bool isLoss) const {
    if (!value.defined())
      refuse(ErrorKind::value_error, fmt::format("{} has an undefined Value: a scalar is expected", what));
    if (!value.node()->isTraced())
      refuse(ErrorKind::value_error, fmt::format("{} has a Value of a functional model's graph: a scalar computed from "
                                                 "the batch is expected, such as by calling that model on data.x",
                                                 what));
    if (value.rank() != 0)
      refuse(ErrorKind::value_error,
             fmt::format("{} has the shape {}: a scalar is expected, such as a mean over all axes", what,
                         value.shape().str()));
    if (isLoss && !is_float(value.dtype()))
      refuse(ErrorKind::type_error, fmt::format("{} has the dtype {}: a float is expected", what, name(value.dtype())));
  }
  /// This process's part of a mean over its rows, or of a loss from computeLoss().
  Value partOf(const Value &value) const {
    const auto found = std::ranges::find_if(parts, [&](const auto &each) { return each.first.node() == value.node(); });
    if (found != parts.end())
      return found->second;
    return tracing().sharedBatch ? partOfMean(atLeastFloat32(value)) : value;
  }
  void requireTraining(const char *method) const {
    if (!isTraining)
      refuse(ErrorKind::value_error,
             fmt::format("step.{}() updates weights, and evaluate() does not: call it if step.training()", method));
  }
  BatchTargets targetsOf(const StepData &data, const Values &predictions);
  BatchLoss lossOf(const StepData &data, const Values &predictions);
};

namespace {

using Rep = StepContext::Rep;
using Hook = LayerBody::Hook;
using Named = CompiledFunction::Named;

std::string listed(const std::vector<std::string> &names) { return fmt::format("[{}]", fmt::join(names, ", ")); }

template <class Pairs> std::vector<std::string> keysOf(const Pairs &pairs) {
  std::vector<std::string> keys;
  for (const auto &each : pairs)
    keys.push_back(each.first);
  return keys;
}

/// Returns true if the model has a hook for the whole step of this program.
bool hasStep(const Rep &rep) { return rep.layer.body->has(rep.isTraining ? Hook::train_step : Hook::test_step); }

/// Runs a step without a hook for the whole step.
void runParts(Rep &rep, const StepContext &step) {
  const Values predictions(rep.layer.callTraced({rep.data.x.begin(), rep.data.x.end()}));
  LayerBody &body = *rep.layer.body;
  if (body.has(Hook::compute_loss)) {
    const HookScope scope(rep.layer, {rep.data.x.begin(), rep.data.x.end()});
    const Value own = body.compute_loss(step, rep.data, predictions);
    rep.requireScalar("compute_loss()", own, true);
    rep.loss = rep.partOf(own);
  } else {
    rep.loss = rep.lossOf(rep.data, predictions).part;
  }
  if (rep.hasMetrics)
    rep.refuse(ErrorKind::value_error, "step.update_metrics() in compute_loss() would add the batch to the metrics a "
                                       "second time: the step does it after compute_loss()");
  if (!rep.compiled.args.metrics.metrics().empty() || !rep.compiled.args.weighted_metrics.metrics().empty())
    step.update_metrics(rep.data, predictions);
}

/// Restores the model's layers after a test_step() whose model's optimizer already knows its variables: layers that the
/// hook calls first do not become layers of the model, since the optimizer rejects later variables.
class KnownChildren {
public:
  explicit KnownChildren(const Rep &rep)
      : layer_(rep.layer),
        count_(rep.isTraining || !rep.compiled.optimizer.impl()->isBuilt() ? std::numeric_limits<size_t>::max()
                                                                           : rep.layer.children.size()) {}
  ~KnownChildren() {
    while (layer_.children.size() > count_) {
      layer_.knownChildren.erase(layer_.children.back().impl().get());
      layer_.children.pop_back();
    }
  }
  KnownChildren(const KnownChildren &) = delete;

private:
  LayerImpl &layer_;
  size_t count_;
};

/// Records the hooks of the step. The update follows later if `rep.loss` is to be minimized.
void runHooks(Rep &rep, const StepContext &step) {
  try {
    const UpdaterScope updaters;
    if (hasStep(rep)) {
      const HookScope scope(rep.layer, {rep.data.x.begin(), rep.data.x.end()});
      const KnownChildren known(rep);
      rep.layer.body->step(rep.isTraining ? Hook::train_step : Hook::test_step, step, rep.data);
    } else {
      runParts(rep, step);
    }
    if (rep.purpose != Rep::Purpose::losses) // which only inspects them
      adoptOptimizers(rep.handle(), rep.compiled, updaters.optimizers());
  } catch (const Error &error) {
    rethrowWithLayer(error, rep.layer);
  }
}

bool isReported(const Rep &rep, std::string_view name) {
  return std::ranges::any_of(rep.reports, [&](const auto &each) { return each.first == name; });
}
/// Returns true if the logs have the step's loss: a train_step() or test_step() may report its own "loss" instead.
bool logsLoss(const Rep &rep) { return rep.loss.defined() && !(hasStep(rep) && isReported(rep, "loss")); }

/// Checks that the trace reports the recorded names: the steps of all traces must log the same names, since an epoch
/// averages them.
void requireReports(const Rep &rep) {
  std::vector<std::string> found = keysOf(rep.reports), expected = keysOf(rep.record->reports);
  if (logsLoss(rep))
    found.push_back("loss");
  if (rep.record->hasLoss)
    expected.push_back("loss");
  std::ranges::sort(found);
  std::ranges::sort(expected);
  if (found != expected)
    rep.refuse(ErrorKind::value_error,
               fmt::format("the step reports {}, and the first {} step since compile() reported {}: report the same "
                           "names for every shape of the batch and in every configuration",
                           listed(found), rep.program(), listed(expected)));
}

std::shared_ptr<const LoggedMetrics> listOf(const std::map<std::string, Metric> &byName) {
  auto logged = std::make_shared<LoggedMetrics>();
  for (const auto &[name, metric] : byName)
    logged->push_back({name, metric});
  return logged;
}

/// The record of a traced step: every metric by name. Both programs share the average of a name that both report. If a
/// metric and the loss of an output have the same name, the loss takes precedence.
StepRecord recordOf(const Rep &rep) {
  const DeviceScope device(*rep.compiled.args.device); // for the variables created here
  StepRecord record;
  record.hasLoss = logsLoss(rep);
  record.targets = rep.targets;
  std::map<std::string, Metric> byName;
  const auto add = [&](const std::string &name, const Metric &metric) {
    byName.insert_or_assign(name, metric);
    record.metrics.push_back(metric);
  };
  if (record.hasLoss)
    add("loss", rep.compiled.lossTracker.metric());
  if (rep.hasMetrics)
    for (const OutputMetric &metric : rep.compiled.metrics)
      add(metric.name, metric.metric);
  if (rep.hasOutputLosses)
    for (const auto &[output, tracker] : rep.compiled.outputTrackers)
      add(tracker.name(), tracker.metric());
  const std::shared_ptr<const StepRecord> other = rep.compiled.steps[!rep.isTraining].known();
  for (const auto &[name, value] : rep.reports) {
    if (byName.contains(name))
      rep.refuse(ErrorKind::value_error, fmt::format("step.report('{}') has the name of another value of the logs: {}",
                                                     name, listed(keysOf(byName))));
    const MeanTracker *shared = other && other->reports.contains(name) ? &other->reports.at(name) : nullptr;
    const MeanTracker tracker = shared ? *shared : MeanTracker(name);
    record.reports.emplace(name, tracker);
    add(name, tracker.metric());
  }
  record.logged = listOf(byName);
  return record;
}

Rep repOf(LayerImpl &layer, CompiledModel &compiled, bool isTraining, Rep::Purpose purpose,
          const std::vector<Value> &feeds, const FeedLayout &layout) {
  Rep rep{.layer = layer, .compiled = compiled, .isTraining = isTraining, .purpose = purpose};
  std::vector<std::vector<Value>> parts = layout.split(feeds);
  shareBatch(parts.at(3), layout);
  rep.data = {Values(std::move(parts.at(0))), Values(std::move(parts.at(1))), Values(std::move(parts.at(2)))};
  return rep;
}

/// Moves everything that the step uses to the device of its program, including layers and optimizers of the hooks.
void moveStep(const CompiledModel &compiled) {
  std::vector<Variable> variables;
  for (const auto &[symbol, variable] : tracing().variables())
    variables.push_back(Variable(variable));
  moveVariables(variables, runtimeOf(*compiled.args.device));
}

/// Fetches the loss for the logs. It precedes the update: after it, the sum over processes would be a separate
/// exchange.
void fetchLoss(const Rep &rep, std::vector<Named> &fetches) {
  if (logsLoss(rep))
    fetches.push_back({"loss", meanOverProcesses(rep.loss)});
}

} // namespace

/// Matches compile()'s lists to the predictions at the first call.
BatchTargets StepContext::Rep::targetsOf(const StepData &data, const Values &predictions) {
  const std::vector<Value> outputs(predictions.begin(), predictions.end());
  prepareCompiled(handle(), compiled, outputs, data.y);
  requireOutputs(layer, compiled, outputs.size());
  const NameList &names = compiled.outputs;
  const size_t weights = data.sample_weight.size();
  requireWeightEntries(weights, data.y.size(), where());
  BatchTargets targets{std::vector<Value>(outputs.size()), std::vector<Value>(outputs.size())};
  const std::vector<std::optional<size_t>> entries = entriesOf(names, "y", {}, data.y.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (entries[i] && names.needed[i]) {
      targets.y[i] = data.y[*entries[i]];
      if (weights > 0)
        targets.weights[i] = data.sample_weight[weights == 1 ? 0 : *entries[i]];
    }
  return targets;
}

BatchLoss StepContext::Rep::lossOf(const StepData &given, const Values &predictions) {
  const BatchTargets all = targetsOf(given, predictions);
  for (size_t output = 0; output < all.y.size(); ++output)
    for (size_t position = 0; position < data.y.size(); ++position)
      if (compiled.losses[output].defined() && all.y[output].node() == data.y[position].node())
        targets.emplace_back(position, output);
  BatchLoss result = computeLoss(handle(), compiled, all, {predictions.begin(), predictions.end()}, rows());
  hasOutputLosses = true;
  return result;
}

bool StepContext::training() const { return rep_.isTraining; }
Model StepContext::model() const { return Model(rep_.handle()); }
Optimizer StepContext::optimizer() const { return rep_.compiled.optimizer; }

Values StepContext::call(const Values &x) const {
  const TrainingScope training(rep_.isTraining);
  return rep_.handle().outputs(x);
}

Value StepContext::compute_loss(const StepData &data, const Values &y_pred) const {
  const BatchLoss loss = rep_.lossOf(data, y_pred);
  const Value own = loss.ofOwnRows();
  rep_.parts.emplace_back(own, loss.part);
  if (rep_.minimized.empty()) // otherwise the logs have the argument of minimize()
    rep_.loss = loss.part;
  return own;
}

std::vector<Value> StepContext::gradients(const Value &loss) const {
  rep_.requireScalar("step.gradients()", loss, true);
  rep_.loss = rep_.partOf(loss);
  rep_.minimized.push_back(rep_.loss);
  return gradientsTogether(rep_.compiled.optimizer, rep_.loss, rep_.handle().trainable_variables());
}
void StepContext::apply(const std::vector<Value> &gradients) const {
  rep_.requireTraining("apply");
  rep_.minimized.insert(rep_.minimized.end(), gradients.begin(), gradients.end());
  if (rep_.purpose == Rep::Purpose::program)
    applyTogether(rep_.compiled.optimizer, gradients, rep_.handle().trainable_variables());
}
void StepContext::minimize(const Value &loss) const {
  rep_.requireTraining("minimize");
  rep_.requireScalar("step.minimize()", loss, true);
  rep_.loss = rep_.partOf(loss);
  rep_.minimized.push_back(rep_.loss);
  if (rep_.purpose == Rep::Purpose::program)
    minimizeTogether(rep_.compiled.optimizer, rep_.loss, rep_.handle().trainable_variables());
}

void StepContext::update_metrics(const StepData &data, const Values &y_pred) const {
  updateMetrics(rep_.compiled, rep_.targetsOf(data, y_pred), {y_pred.begin(), y_pred.end()});
  rep_.hasMetrics = true;
}

void StepContext::report(const std::string &name, const Value &scalar) const {
  if (name.empty())
    rep_.refuse(ErrorKind::value_error, "step.report() needs a name for the logs");
  rep_.requireScalar(fmt::format("step.report('{}')", name), scalar, false);
  if (isReported(rep_, name))
    rep_.refuse(ErrorKind::value_error, fmt::format("step.report('{}') was called twice in one step", name));
  rep_.reports.emplace_back(name, is_float(scalar.dtype()) ? scalar : asDtype(scalar, floatxDtype(), "report"));
}

namespace detail {

bool hasHooks(const LayerImpl &layer) {
  return std::ranges::any_of(std::initializer_list{Hook::train_step, Hook::test_step, Hook::compute_loss},
                             [&](Hook hook) { return layer.body->has(hook); });
}

std::vector<Named> recordStep(LayerImpl &layer, CompiledModel &compiled, bool isTraining,
                              const std::vector<Value> &feeds, const FeedLayout &layout) {
  Rep rep = repOf(layer, compiled, isTraining, Rep::Purpose::program, feeds, layout);
  rep.record = compiled.steps[isTraining].known();
  if (!rep.record)
    rep.refuse(ErrorKind::internal_error, "a step is traced before its logs are known");
  const StepContext step(rep);
  runHooks(rep, step);
  requireReports(rep);
  std::vector<Named> fetches;
  if (logsLoss(rep))
    compiled.lossTracker.update(rep.loss, rep.rows());
  for (const auto &[name, value] : rep.reports)
    rep.record->reports.at(name).update(rep.partOf(value), rep.rows());
  fetchLoss(rep, fetches);
  if (isTraining && !hasStep(rep))
    minimizeTogether(compiled.optimizer, rep.loss, rep.handle().trainable_variables());
  fetchMetrics(*rep.record->logged, fetches);
  moveStep(compiled);
  return fetches;
}

std::vector<Named> recordLosses(LayerImpl &layer, CompiledModel &compiled, bool isTraining,
                                const std::vector<Value> &feeds, const FeedLayout &layout) {
  Rep rep = repOf(layer, compiled, isTraining, Rep::Purpose::losses, feeds, layout);
  runHooks(rep, StepContext(rep));
  std::vector<Named> fetches;
  fetchLoss(rep, fetches);
  for (const Value &value : rep.minimized)
    if (value.defined())
      fetches.push_back({fmt::format("minimized_{}", fetches.size()), value});
  for (const auto &[name, value] : rep.reports)
    fetches.push_back({name, value});
  return fetches;
}

std::shared_ptr<const StepRecord> requireRecord(const Layer &model, CompiledModel &compiled, bool isTraining,
                                                const std::vector<TensorType> &types, const FeedLayout &layout) {
  RecordedStep &step = compiled.steps[isTraining];
  step.require([&] {
    StepRecord record;
    CompiledFunction program(
        optionsOf(model, &compiled.args, isTraining ? "train" : "test"), {},
        [&](Trace &, const std::vector<Value> &feeds, const FeedLayout &layout) -> std::vector<Named> {
          const TrainingScope training(isTraining);
          Rep rep = repOf(*model.impl(), compiled, isTraining, Rep::Purpose::record, feeds, layout);
          runHooks(rep, StepContext(rep));
          record = recordOf(rep);
          return {};
        });
    (void)program.ir(Stage::graph, types, layout);
    return record;
  });
  return step.known();
}

std::shared_ptr<const LoggedMetrics> loggedSteps(const CompiledModel &compiled) {
  std::map<std::string, Metric> byName;
  for (const RecordedStep &step : compiled.steps)
    if (const std::shared_ptr<const StepRecord> record = step.known())
      for (const LoggedMetric &logged : *record->logged)
        byName.emplace(logged.name, logged.metric);
  return listOf(byName);
}

void RecordedStep::require(const std::function<StepRecord()> &record) {
  made_.require([&] { set(std::make_shared<const StepRecord>(record())); }, [this] { set(nullptr); });
}
std::shared_ptr<const StepRecord> RecordedStep::known() const {
  const ForkSafeLock lock(mutex_);
  return record_;
}
void RecordedStep::set(std::shared_ptr<const StepRecord> record) {
  const ForkSafeLock lock(mutex_);
  record_ = std::move(record);
}

} // namespace detail
} // namespace halftone
