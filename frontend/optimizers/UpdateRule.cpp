// Applies gradients as keras.optimizers.Optimizer.apply does.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/UpdateRule.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/TraceGradients.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include "runtime/base/Half.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

bool isOverwritten(const Variable &variable) { return variable.impl()->update == UpdateKind::overwrite; }

namespace {

/// floor(`x` / `divisor`) of int32 values, which float64 represents exactly.
Value quotient(const Value &x, int64_t divisor) {
  Value wide = asDtype(x, DType::float64, "optimizer") / static_cast<double>(divisor);
  return asDtype(ops::floor(wide), DType::int32, "optimizer");
}
/// Whether the int32 `count` is a multiple of `period`.
Value isMultiple(const Value &count, int64_t period) { return ops::equal(quotient(count, period) * period, count); }

} // namespace

Value scaledBy(const Value &x, const Value &factor) { return asDtype(x * factor, x.dtype(), "optimizer"); }
/// Scales by `power`, a power of two, first, since the product of both factors may underflow.
static Value scaledBy(const Value &x, const Value &power, const Value &factor) {
  return asDtype(x * power * factor, x.dtype(), "optimizer");
}
ScaledLength scaledNorm(const std::vector<Value> &values) {
  const Value largest = tracing().reduceAll(ReduceAllKind::max_abs, values);
  const SquareScale bounds = squareScale(largest.dtype());
  const Value isLarge = ops::greater(largest, ops::full_like(largest, bounds.from));
  const Value scale = ops::where(isLarge, ops::full_like(largest, bounds.factor), ops::ones_like(largest));
  std::vector<Value> scaled;
  for (const Value &value : values)
    scaled.push_back(asDtype(value, largest.dtype(), "optimizer") * scale);
  return {ops::sqrt(tracing().reduceAll(ReduceAllKind::sum_of_squares, scaled)), scale};
}
Value norm(const std::vector<Value> &values) {
  const ScaledLength scaled = scaledNorm(values);
  return scaled.length / scaled.scale;
}
Value readAs(const Value &like, const Variable &variable) {
  return asDtype(readRaw(variable), like.dtype(), "optimizer");
}
Value moveTo(const Variable &slot, const Value &target, double share) {
  Value old = readAs(target, slot), moved = old + (target - old) * share;
  slot.assign(moved);
  return moved;
}

UpdateRule::UpdateRule(std::string className, RuleArgs args, LearningRate learningRate)
    : args_(std::move(args)), schedule_(std::move(learningRate)) {
  auto text = [](const std::optional<double> &v) { return v ? fmt::format("{}", *v) : std::string("None"); };
  if (args_.clipnorm.has_value() + args_.clipvalue.has_value() + args_.globalClipnorm.has_value() > 1)
    throw Error(ErrorKind::value_error,
                fmt::format("Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                            "clipnorm={}, clipvalue={}, global_clipnorm={}",
                            text(args_.clipnorm), text(args_.clipvalue), text(args_.globalClipnorm)));
  auto integer = [](const std::optional<int64_t> &v) { return v ? std::to_string(*v) : std::string("None"); };
  if (args_.accumulationSteps == 0)
    args_.accumulationSteps.reset();
  if (args_.accumulationSteps && *args_.accumulationSteps < 2)
    throw Error(ErrorKind::value_error, fmt::format("`gradient_accumulation_steps` must be an integer >= 2. Received: "
                                                    "gradient_accumulation_steps={}",
                                                    integer(args_.accumulationSteps)));
  if (args_.useEma && !(args_.emaMomentum >= 0.0 && args_.emaMomentum <= 1.0))
    throw Error(
        ErrorKind::value_error,
        fmt::format("`ema_momentum` must be in the range [0, 1]. Received: ema_momentum={}", args_.emaMomentum));
  if (args_.useEma && args_.emaOverwriteFrequency && *args_.emaOverwriteFrequency < 1)
    throw Error(ErrorKind::value_error, fmt::format("`ema_overwrite_frequency` must be an integer >= 1 or None. "
                                                    "Received: ema_overwrite_frequency={}",
                                                    integer(args_.emaOverwriteFrequency)));
  this->className = std::move(className);
  name = args_.name;
  requireNameInUtf8("The name of an optimizer", name);
  iterations_ = optimizerScalar(name, "iteration", 0, DType::int32, VariableRole::iteration);
  rate_ = optimizerScalar(name, "learning_rate", schedule_.is_schedule() ? 0.0 : schedule_.at(0), floatxDtype(),
                          VariableRole::learning_rate);
  if (schedule_.is_schedule() && !schedule_.class_name().empty())
    rates_ = std::make_unique<RateTable>(name, floatxDtype());
}

std::vector<Value> UpdateRule::derivedOf(const Value &, const Value &) const { return {}; }
DType UpdateRule::dtypeFor(DType variable) const {
  const std::optional<double> divisor = minDivisor();
  return divisor && *divisor != 0.0 && roundTo(variable, *divisor) == 0.0 ? atLeastFloat32(variable) : variable;
}
void UpdateRule::makeState(DType) {}
std::vector<Variable> UpdateRule::state() const { return {}; }
void UpdateRule::advance(const Value &) const {}

Value UpdateRule::scaleLoss(const Value &loss) const {
  return args_.lossScaleFactor ? loss * *args_.lossScaleFactor : loss;
}

Value UpdateRule::lossScaleFactor() const { return tracing().splat(*args_.lossScaleFactor, {}, DType::float64); }
std::vector<Value> UpdateRule::unscale(const std::vector<Value> &gradients) {
  return args_.lossScaleFactor ? dividedBy(lossScaleFactor(), gradients, areReplacements(gradients)) : gradients;
}

size_t UpdateRule::indexOf(const Variable &variable) const {
  auto found = index_.find(variable.impl().get());
  if (found == index_.end())
    throw Error(ErrorKind::value_error,
                fmt::format("Unknown variable: {}. This optimizer can only be called for the variables it was "
                            "originally built with. When working with a new set of variables, you should recreate a "
                            "new optimizer instance.",
                            variable.path()));
  return found->second;
}

bool UpdateRule::decays(const Variable &variable) const {
  auto same = [&](const Variable &each) { return each.impl() == variable.impl(); };
  return std::none_of(undecayed_.begin(), undecayed_.end(), same) &&
         !(undecayedNames_ && undecayedNames_->matches(variable.name()));
}

void UpdateRule::excludeFromWeightDecay(const std::vector<Variable> &variables, const std::vector<std::string> &names) {
  if (isBuilt())
    throw Error(ErrorKind::value_error,
                "`exclude_from_weight_decay()` can only be configured before the optimizer is built.");
  undecayedNames_.reset();
  if (!names.empty())
    undecayedNames_.emplace(fmt::format("(?s:.*)(?:{})(?s:.*)", fmt::join(names, "|")));
  undecayed_ = variables;
}

/// Returns true if gradients are clipped by norm. Each process then needs whole gradients, including accumulated ones.
bool UpdateRule::clipsByNorm() const {
  return (args_.clipnorm && *args_.clipnorm > 0) || (args_.globalClipnorm && *args_.globalClipnorm > 0);
}

/// Clips the gradients. Norms are in float32 at least, and of scaled gradients if squares may overflow. With a scale of
/// 1 the roundings match Keras's.
std::vector<Value> UpdateRule::clipped(std::vector<Value> gradients) const {
  if (args_.clipnorm && *args_.clipnorm > 0) {
    for (Value &gradient : gradients) {
      const ScaledLength scaled = scaledNorm({gradient});
      const Value limit = ops::full_like(scaled.length, *args_.clipnorm);
      const Value factor = *args_.clipnorm / ops::maximum(scaled.length, limit * scaled.scale);
      gradient = scaledBy(gradient, scaled.scale, factor);
    }
  } else if (args_.globalClipnorm && *args_.globalClipnorm > 0) {
    double limit = *args_.globalClipnorm;
    const ScaledLength scaled = scaledNorm(gradients);
    const Value &length = scaled.length, inverse = 1.0 / length;
    // The last term is 0, or NaN if the norm is not finite.
    const Value most = ops::full_like(inverse, 1.0 / limit) / scaled.scale;
    const Value factor = limit * ops::minimum(inverse, most) + (length - length);
    for (Value &gradient : gradients)
      gradient = scaledBy(gradient, scaled.scale, factor);
  } else if (args_.clipvalue && *args_.clipvalue > 0) {
    for (Value &gradient : gradients)
      gradient = ops::clip(gradient, -*args_.clipvalue, *args_.clipvalue);
  }
  return gradients;
}

/// `updates`: whether this call consumes the accumulated gradients; undefined without accumulation.
void UpdateRule::overwrite(const Variable &variable, const Value &gradient, const Value &updates) const {
  if (!updates.defined()) {
    variable.assign(gradient);
    return;
  }
  const Variable &accumulator = accumulators_[indexOf(variable)];
  Value largest = ops::maximum(asDtype(gradient, accumulator.impl()->dtype, "optimizer"), readRaw(accumulator));
  variable.assign(ops::where(updates, largest, readRaw(variable)));
  accumulator.assign(ops::where(updates, ops::zeros_like(largest), largest));
}

/// Restricts the lists to variables that this process updates, and gradients to its elements.
void UpdateRule::takeMagnitudes(std::vector<Value> &gradients, std::vector<Variable> &variables) const {
  const std::optional<SharedBatch> &shared = tracing().sharedBatch;
  size_t count = 0;
  for (size_t i = 0; i < variables.size(); ++i)
    if (parts_.own(variables[i]).defined()) {
      gradients[count] = shared && shared->hasOwnGradients ? gradients[i] : parts_.own(variables[i], gradients[i]);
      variables[count++] = variables[i];
    }
  gradients.resize(count);
  variables.resize(count);
}

/// Sets copies at the first update, which starts from the variables' current values, whatever was written to them since
/// the slots were created.
void UpdateRule::beginCopies(const Value &updatesBefore) const {
  if (copies_.empty())
    return;
  const Value first = ops::equal(updatesBefore, ops::zeros_like(updatesBefore));
  for (const auto &[slot, variable] : copies_)
    if (const Variable own = parts_.own(variable); own.defined())
      slot.assign(ops::where(first, readRaw(own), readRaw(slot)));
}

void UpdateRule::updateAll(std::vector<Value> gradients, std::vector<Variable> variables, const Value &updatesBefore) {
  gradients = clipped(std::move(gradients));
  if (clipsByNorm())
    takeMagnitudes(gradients, variables);
  Value rate = readRaw(rate_), step = updatesBefore + 1;
  beginCopies(updatesBefore);
  advance(step);
  std::map<DType, Scalars> scalars;
  for (const Variable &variable : variables) {
    DType dtype = variable.impl()->dtype;
    if (scalars.contains(dtype))
      continue;
    DType wide = atLeastFloat32(dtype);
    Scalars &numbers = scalars[dtype];
    DType own = dtypeFor(dtype);
    numbers.rate = asDtype(rate, own, "optimizer");
    for (const Value &number : derivedOf(asDtype(rate, wide, "optimizer"), asDtype(step, wide, "optimizer")))
      numbers.derived.push_back(asDtype(number, own, "optimizer"));
  }
  for (const Variable &variable : variables)
    if (const std::optional<double> decay = weightDecayOf(variable); decay && decays(variable)) {
      const Variable own = parts_.own(variable);
      Value x = readRaw(own);
      own.assign(x - x * *decay * scalars[x.dtype()].rate);
    }
  for (size_t i = 0; i < variables.size(); ++i) {
    DType dtype = variables[i].impl()->dtype;
    update(asDtype(gradients[i], dtypeFor(dtype), "optimizer"), parts_.own(variables[i]),
           slotsOf_[indexOf(variables[i])], scalars[dtype]);
  }
}

/// Updates the averages. The first update sets an average to a copy of the variable.
void UpdateRule::average(const Value &updatesBefore) const {
  Value first = ops::equal(updatesBefore, ops::zeros_like(updatesBefore));
  for (size_t i = 0; i < known_.size(); ++i) {
    const Variable own = parts_.own(known_[i]);
    if (!averages_[i].defined() || !own.defined())
      continue;
    Value x = readRaw(own), old = readRaw(averages_[i]);
    Value moved = old * args_.emaMomentum + x * (1.0 - args_.emaMomentum);
    Value next = ops::where(first, x, moved);
    averages_[i].assign(next);
    if (args_.emaOverwriteFrequency)
      own.assign(ops::where(isMultiple(updatesBefore + 1, *args_.emaOverwriteFrequency), next, x));
  }
}

/// Applies the constraints of variables. As in Keras, this runs at each apply(), even if the call only accumulates
/// gradients, and after averages have replaced the variables. A variable with a constraint is owned by one process.
static void constrain(const std::vector<Variable> &variables, const OptimizerParts &parts) {
  for (const Variable &variable : variables) {
    const VariableImpl &impl = *variable.impl();
    if (!impl.constraint.defined() || !parts.own(variable).defined())
      continue;
    try {
      variable.assign(impl.constraint(readRaw(variable)));
    } catch (const Error &error) {
      if (!error.layer_path().empty())
        throw;
      throw Error(error.kind(), error.message(), impl.path, error.where());
    }
  }
}

void UpdateRule::apply(const std::vector<Value> &allGradients, const std::vector<Variable> &allVariables,
                       const ApplyArgs &args) {
  if (allGradients.empty() && allVariables.empty())
    return;
  Trace &trace = tracing();
  checkGradients(allGradients, allVariables);
  build(allVariables);
  if (!trace.sharedBatch)
    parts_.requireWhole();
  Value calls = readRaw(iterations_), updatesBefore = calls, updates;
  if (args_.accumulationSteps) {
    updatesBefore = quotient(calls, *args_.accumulationSteps);
    updates = isMultiple(calls + 1, *args_.accumulationSteps);
  }
  std::vector<Value> gradients;
  std::vector<Variable> variables;
  std::string missing;
  for (size_t i = 0; i < allVariables.size(); ++i) {
    indexOf(allVariables[i]);
    if (!allGradients[i].defined())
      missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ", allVariables[i].path());
    else if (isOverwritten(allVariables[i]))
      overwrite(allVariables[i], allGradients[i], updates);
    else {
      gradients.push_back(allGradients[i]);
      variables.push_back(allVariables[i]);
    }
  }
  if (!missing.empty())
    writeOutput(fmt::format("warning: Gradients do not exist for variables [{}] when minimizing the loss.\n", missing));
  if (args_.lossScaleFactor && !args.unscaled)
    gradients = dividedBy(lossScaleFactor(), gradients, std::vector<bool>(gradients.size()));
  if (schedule_.is_schedule())
    feedSchedule(trace);
  const bool anyUpdates = !gradients.empty();
  const std::vector<Variable> updated = variables;
  if (!clipsByNorm())
    takeMagnitudes(gradients, variables);
  if (anyUpdates && !updates.defined()) {
    updateAll(std::move(gradients), variables, updatesBefore);
  } else if (anyUpdates) {
    for (size_t i = 0; i < variables.size(); ++i) {
      const Variable &accumulator = accumulators_[indexOf(variables[i])];
      Value sum = asDtype(gradients[i], accumulator.impl()->dtype, "optimizer") + readRaw(accumulator);
      accumulator.assign(ops::where(updates, ops::zeros_like(sum), sum));
      gradients[i] = sum / static_cast<double>(*args_.accumulationSteps);
    }
    trace.when(updates, [&] { updateAll(gradients, variables, updatesBefore); });
  }
  if (args_.useEma)
    average(updatesBefore);
  constrain(updated, parts_);
  iterations_.assign(calls + 1);
}

UpdateRule::Averaged UpdateRule::averagedOf(const std::vector<Variable> &variables) const {
  Averaged result;
  std::vector<VariableHandle> averages{iterations_.impl()->memory};
  for (const Variable &variable : variables)
    if (auto found = index_.find(variable.impl().get()); found != index_.end() && averages_[found->second].defined()) {
      result.weights.push_back(variable.impl()->memory);
      result.slots.push_back(averages_[found->second]);
      averages.push_back(result.slots.back().impl()->memory);
    }
  if (result.weights.empty())
    return {};
  result.averages = readTogether(averages).valueOrThrow();
  if (result.averages.front().item<int32_t>() == 0) // no average has started: it holds zeros
    return {};
  result.averages.erase(result.averages.begin());
  for (size_t i = 0; i < result.averages.size(); ++i)
    result.averages[i] = parts_.whole(result.slots[i], result.averages[i]);
  return result;
}

void UpdateRule::writeAverages(const Averaged &averaged, const std::vector<Tensor> &weights,
                               const std::vector<Tensor> &averages) const {
  std::vector<VariableHandle> variables = averaged.weights;
  std::vector<Tensor> values = weights;
  for (size_t i = 0; i < averages.size(); ++i) {
    variables.push_back(averaged.slots[i].impl()->memory);
    values.push_back(parts_.cutFor(averaged.slots[i], averages[i]));
  }
  writeTogether(variables, values).orThrow();
}

void UpdateRule::finalize(const std::vector<Variable> &variables) {
  const Averaged averaged = averagedOf(variables);
  if (averaged.weights.empty())
    return;
  if (areExchanged_.exchange(false)) { // the weights already hold the averages
    const std::vector<Tensor> weights = readTogether(averaged.weights).valueOrThrow();
    writeAverages(averaged, weights, weights);
  } else {
    writeAverages(averaged, averaged.averages, {});
  }
}

void UpdateRule::exchangeAverages(const std::vector<Variable> &variables) {
  const Averaged averaged = averagedOf(variables);
  if (averaged.weights.empty())
    return;
  writeAverages(averaged, averaged.averages, readTogether(averaged.weights).valueOrThrow());
  areExchanged_ = !areExchanged_;
}

std::vector<Variable> UpdateRule::variables() const {
  std::vector<Variable> result{iterations_};
  if (!schedule_.is_schedule())
    result.push_back(rate_);
  result.insert(result.end(), slots_.begin(), slots_.end());
  if (isBuilt())
    for (const Variable &variable : state())
      result.push_back(variable);
  return result;
}

std::vector<Variable> UpdateRule::allVariables() const {
  std::vector<Variable> result = variables();
  if (schedule_.is_schedule())
    result.push_back(rate_);
  if (rates_)
    for (const Variable &variable : rates_->variables())
      result.push_back(variable);
  result.insert(result.end(), parts_.parts().begin(), parts_.parts().end());
  return result;
}

Config UpdateRule::config() const {
  Config config;
  config.set("name", name);
  if (!schedule_.is_schedule())
    config.set("learning_rate", learningRate());
  else if (schedule_.class_name().empty())
    config.set_null("learning_rate"); // a function cannot be saved
  else
    config.set("learning_rate",
               serializedObject("keras.optimizers.schedules", schedule_.class_name(), schedule_.get_config()));
  return config;
}

} // namespace halftone::detail
