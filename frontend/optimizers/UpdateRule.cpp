// Applying gradients as keras.optimizers.Optimizer.apply does.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/UpdateRule.h"
#include "frontend/ProgressBar.h"
#include "frontend/Promotion.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

void setOptional(Config &config, const char *key, const std::optional<double> &value) {
  if (value)
    config.set(key, *value);
  else
    config.set_null(key);
}

bool isOverwritten(const Variable &variable) { return variable.impl()->update == UpdateKind::overwrite; }

/// `x` times `factor`, a float32 or float64 scalar, rounded once to the dtype of `x`.
Value scaledBy(const Value &x, const Value &factor) { return asDtype(x * factor, x.dtype(), "clip"); }

Value norm(const std::vector<Value> &gradients) {
  return ops::sqrt(tracing().reduceAll(ReduceAllKind::sum_of_squares, gradients));
}

} // namespace

UpdateRule::UpdateRule(std::string className, RuleArgs args, LearningRate learningRate)
    : args_(std::move(args)), schedule_(std::move(learningRate)) {
  auto text = [](const std::optional<double> &v) { return v ? fmt::format("{}", *v) : std::string("None"); };
  if (args_.clipnorm.has_value() + args_.clipvalue.has_value() + args_.globalClipnorm.has_value() > 1)
    throw Error(ErrorKind::value_error,
                fmt::format("Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                            "clipnorm={}, clipvalue={}, global_clipnorm={}",
                            text(args_.clipnorm), text(args_.clipvalue), text(args_.globalClipnorm)));
  this->className = std::move(className);
  name = args_.name;
  iterations_ = optimizerScalar(name, "iteration", 0, DType::int32, VariableRole::iteration);
  rate_ = optimizerScalar(name, "learning_rate", schedule_.is_schedule() ? 0.0 : schedule_.at(0), floatxDtype(),
                          VariableRole::learning_rate);
}

Value UpdateRule::alphaOf(const Value &, const Value &) const { return {}; }

Value UpdateRule::scaleLoss(const Value &loss) const {
  return args_.lossScaleFactor ? loss * *args_.lossScaleFactor : loss;
}

void UpdateRule::build(const std::vector<Variable> &variables) {
  if (built_)
    return;
  // Everything is made before anything is kept.
  std::vector<Variable> slots;
  std::map<const VariableImpl *, size_t> index;
  std::vector<std::vector<Variable>> slotsOf(variables.size());
  for (const Variable &variable : variables)
    index.emplace(variable.impl().get(), index.size());
  if (index.size() != variables.size())
    throw Error(ErrorKind::value_error, fmt::format("{}: a variable was given twice", name));
  for (const std::vector<const char *> &group : slotGroups())
    for (size_t i = 0; i < variables.size(); ++i) {
      const VariableImpl &variable = *variables[i].impl();
      for (const char *slot : group) {
        if (isOverwritten(variables[i]))
          continue;
        std::string slotName = variable.path + "_" + slot;
        std::replace(slotName.begin(), slotName.end(), '/', '_');
        slots.push_back(makeVariable(Tensor::zeros(variable.shape, variable.dtype), {.name = slotName,
                                                                                     .path = name + "/" + slotName,
                                                                                     .role = VariableRole::slot,
                                                                                     .update = UpdateKind::assign,
                                                                                     .trainable = false,
                                                                                     .autocast = false}));
        slotsOf[i].push_back(slots.back());
      }
    }
  slots_ = std::move(slots);
  index_ = std::move(index);
  slotsOf_ = std::move(slotsOf);
  known_ = variables;
  built_ = true;
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

/// Norms are of float32 or more: the square of a float16 above 255 is inf.
std::vector<Value> UpdateRule::clipped(std::vector<Value> gradients) const {
  if (args_.clipnorm && *args_.clipnorm > 0) {
    for (Value &gradient : gradients) {
      Value length = norm({gradient});
      gradient = scaledBy(gradient, *args_.clipnorm / ops::maximum(length, ops::full_like(length, *args_.clipnorm)));
    }
  } else if (args_.globalClipnorm && *args_.globalClipnorm > 0) {
    double limit = *args_.globalClipnorm;
    Value length = norm(gradients), inverse = 1.0 / length;
    // The last term is 0, or NaN for a norm that is not finite.
    Value factor = limit * ops::minimum(inverse, ops::full_like(inverse, 1.0 / limit)) + (length - length);
    for (Value &gradient : gradients)
      gradient = scaledBy(gradient, factor);
  } else if (args_.clipvalue && *args_.clipvalue > 0) {
    for (Value &gradient : gradients)
      gradient = ops::clip(gradient, -*args_.clipvalue, *args_.clipvalue);
  }
  return gradients;
}

void UpdateRule::apply(const std::vector<Value> &allGradients, const std::vector<Variable> &allVariables) {
  if (allGradients.empty() && allVariables.empty())
    return;
  Trace &trace = tracing();
  checkGradients(allGradients, allVariables);
  build(allVariables);
  std::vector<Value> gradients;
  std::vector<Variable> variables;
  std::string missing;
  for (size_t i = 0; i < allVariables.size(); ++i) {
    indexOf(allVariables[i]);
    if (!allGradients[i].defined())
      missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ", allVariables[i].path());
    else if (isOverwritten(allVariables[i]))
      allVariables[i].assign(allGradients[i]);
    else {
      gradients.push_back(allGradients[i]);
      variables.push_back(allVariables[i]);
    }
  }
  if (!missing.empty())
    writeOutput(fmt::format("warning: Gradients do not exist for variables [{}] when minimizing the loss.\n", missing));
  if (args_.lossScaleFactor)
    for (Value &gradient : gradients)
      gradient = gradient / *args_.lossScaleFactor;
  if (!gradients.empty())
    gradients = clipped(std::move(gradients));

  if (schedule_.is_schedule())
    trace.beforeRun.push_back([self = std::static_pointer_cast<UpdateRule>(shared_from_this())] {
      self->rate_.assign(Tensor::full({}, self->learningRate(), self->rate_.impl()->dtype));
    });
  Value rate = readRaw(rate_), iterations = readRaw(iterations_);
  std::map<DType, Scalars> scalars;
  for (const Variable &variable : variables) {
    DType dtype = variable.impl()->dtype;
    if (scalars.contains(dtype))
      continue;
    DType wide = itemsize(dtype) < 4 ? DType::float32 : dtype;
    Value alpha = alphaOf(asDtype(rate, wide, "optimizer"), asDtype(iterations + 1, wide, "optimizer"));
    scalars[dtype] = {asDtype(rate, dtype, "optimizer"),
                      alpha.defined() ? asDtype(alpha, dtype, "optimizer") : Value()};
  }
  if (args_.weightDecay)
    for (const Variable &variable : variables) {
      Value x = readRaw(variable);
      variable.assign(x - x * *args_.weightDecay * scalars[x.dtype()].rate);
    }
  for (size_t i = 0; i < variables.size(); ++i) {
    DType dtype = variables[i].impl()->dtype;
    update(asDtype(gradients[i], dtype, "optimizer"), variables[i], slotsOf_[indexOf(variables[i])], scalars[dtype]);
  }
  iterations_.assign(iterations + 1);
}

double UpdateRule::learningRate() const {
  return schedule_.is_schedule() ? schedule_.at(iterations()) : hostNumber(rate_);
}
void UpdateRule::setLearningRate(double value) {
  if (schedule_.is_schedule())
    throw Error(ErrorKind::type_error,
                "This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` constructor "
                "argument, hence its learning rate is not settable. If you need the learning rate to be settable, you "
                "should instantiate the optimizer with a float `learning_rate` argument.");
  rate_.assign(Tensor::full({}, value, rate_.impl()->dtype));
}
int64_t UpdateRule::iterations() const { return static_cast<int64_t>(hostNumber(iterations_)); }

std::vector<Variable> UpdateRule::variables() const {
  std::vector<Variable> result{iterations_};
  if (!schedule_.is_schedule())
    result.push_back(rate_);
  result.insert(result.end(), slots_.begin(), slots_.end());
  return result;
}

Config UpdateRule::config() const {
  Config config;
  config.set("name", name);
  if (!schedule_.is_schedule())
    config.set("learning_rate", learningRate());
  else if (schedule_.class_name().empty())
    config.set_null("learning_rate"); // a function: nothing to save
  else
    config.set("learning_rate",
               serializedObject("keras.optimizers.schedules", schedule_.class_name(), schedule_.get_config()));
  setOptional(config, "weight_decay", args_.weightDecay);
  setOptional(config, "clipnorm", args_.clipnorm);
  setOptional(config, "global_clipnorm", args_.globalClipnorm);
  setOptional(config, "clipvalue", args_.clipvalue);
  config.set("use_ema", false);
  config.set("ema_momentum", 0.99);
  config.set_null("ema_overwrite_frequency");
  setOptional(config, "loss_scale_factor", args_.lossScaleFactor);
  config.set_null("gradient_accumulation_steps");
  addConfig(config);
  return config;
}

} // namespace halftone::detail
