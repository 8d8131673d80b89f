// Dynamic loss scaling around another optimizer, as recorded operations, so that no step waits for the host.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/TraceGradients.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace halftone {
using namespace detail;

namespace {

class LossScaleImpl final : public OptimizerImpl {
public:
  LossScaleImpl(const Optimizer &inner, const optimizers::LossScaleArgs &args) : inner_(inner), args_(args) {
    // The scale is a float32. If it became 0 or inf, the weights would become NaN; a negative one would never halve.
    auto usable = [](double scale) {
      return scale >= std::numeric_limits<float>::denorm_min() && scale <= std::numeric_limits<float>::max();
    };
    if (!usable(args.initial_scale) || !usable(args.min_scale) || !usable(args.max_scale) ||
        args.max_scale < args.min_scale)
      throw Error(
          ErrorKind::value_error,
          fmt::format("LossScaleOptimizer needs scales that are above 0 and finite in float32, and `min_scale` <= "
                      "`max_scale`. Received: initial_scale={}, min_scale={}, max_scale={}",
                      args.initial_scale, args.min_scale, args.max_scale));
    if (args.dynamic_growth_steps < 1)
      throw Error(ErrorKind::value_error,
                  fmt::format("LossScaleOptimizer needs `dynamic_growth_steps` of at least 1. Received: "
                              "dynamic_growth_steps={}",
                              args.dynamic_growth_steps));
    if (args.stall_alarm_steps < 0)
      throw Error(
          ErrorKind::value_error,
          fmt::format("LossScaleOptimizer needs `stall_alarm_steps` of at least 0; 0 disables the alarm. Received: "
                      "stall_alarm_steps={}",
                      args.stall_alarm_steps));
    className = "LossScaleOptimizer";
    name = args.name.empty() ? "loss_scale_optimizer" : args.name;
    inner.impl()->dropLossScaleFactor();
    auto scalar = [&](const char *part, double value, DType dtype, VariableRole role) {
      return optimizerScalar(name, part, value, dtype, role);
    };
    iteration_ = scalar("iteration", 0, DType::int32, VariableRole::iteration);
    rate_ = scalar("learning_rate", 0, floatxDtype(), VariableRole::learning_rate);
    counter_ = scalar("step_counter", 0, DType::int32, VariableRole::loss_scale);
    scale_ = scalar("dynamic_scale", args.initial_scale, DType::float32, VariableRole::loss_scale);
    skipped_ = scalar("skipped_steps", 0, DType::int64, VariableRole::loss_scale);
    fault_ = scalar("last_fault", 0, DType::int32, VariableRole::loss_scale);
  }

  Value scaleLoss(const Value &loss) const override { return loss * readRaw(scale_); }

  /// Records whether the gradients are finite, since later processing may hide this: clipping makes infinity finite.
  std::vector<Value> unscale(const std::vector<Value> &gradients) override {
    Trace &trace = tracing();
    if (unscaledIn_.lock().get() != &trace) {
      unscaled_.clear();
      given_.clear();
    }
    unscaledIn_ = trace.weak_from_this();
    const std::vector<bool> areReplaced = areReplacements(gradients);
    requireScaled(gradients, areReplaced);
    Unscaled &call = unscaled_.emplace_back();
    call.finite.resize(gradients.size());
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined())
        call.finite[i] = trace.reduceAll(ReduceAllKind::all_finite, {gradients[i]});
    call.gradients = dividedBy(readRaw(scale_), gradients, areReplaced);
    for (const Value &gradient : call.gradients)
      if (gradient.defined())
        given_.insert(gradient.node().get());
    return call.gradients;
  }

  void apply(const std::vector<Value> &gradients, const std::vector<Variable> &variables,
             const ApplyArgs &args) override {
    Trace &trace = tracing();
    checkGradients(gradients, variables);
    watchAll(variables);
    Value scale = readRaw(scale_), lastFault = readRaw(fault_), none = scalarLike(noFault, lastFault);
    Value fault = faultOf(gradients, variables, args, none);
    Value finite = ops::equal(fault, none);
    if (!gradients.empty())
      trace.when(finite, [&] {
        std::vector<bool> areReplaced;
        for (const Variable &variable : variables)
          areReplaced.push_back(isReplaced(variable));
        inner_.impl()->apply(args.unscaled ? gradients : dividedBy(scale, gradients, areReplaced), variables,
                             {.unscaled = true});
      });

    Value counter = readRaw(counter_), skipped = readRaw(skipped_);
    Value zero = ops::zeros_like(counter), minScale = ops::full_like(scale, args_.min_scale),
          maxScale = ops::full_like(scale, args_.max_scale);
    // Keras compares with ==: a counter beyond the number of growth steps does not grow the scale until a non-finite
    // gradient resets the counter.
    const int64_t last = std::min<int64_t>(args_.dynamic_growth_steps - 1, std::numeric_limits<int32_t>::max());
    Value grows = ops::equal(counter, ops::full_like(counter, last));
    Value grown = ops::where(ops::less(scale, maxScale), ops::minimum(scale * 2.0, maxScale), scale);
    Value halved = ops::where(ops::greater(scale, minScale), ops::maximum(scale * 0.5, minScale), scale);
    scale_.assign(ops::where(finite, ops::where(grows, grown, scale), halved));
    counter_.assign(ops::where(finite, ops::where(grows, zero, counter + 1), zero));
    Value total = trace.binary("shr", skipped, scalarLike(32, skipped));
    skipped_.assign(ops::where(finite, total * inAll, skipped + (inAll + 1)));
    fault_.assign(ops::where(finite, lastFault, fault));
  }

  bool hasAverages() const override { return inner_.impl()->hasAverages(); }
  bool areExchanged() const override { return inner_.impl()->areExchanged(); }
  void exchangeAverages(const std::vector<Variable> &variables) override { inner_.impl()->exchangeAverages(variables); }
  void finalize(const std::vector<Variable> &variables) override { inner_.finalize_variable_values(variables); }
  double learningRate() const override { return inner_.learning_rate(); }
  void setLearningRate(double value) override { inner_.set_learning_rate(value); }
  int64_t prepareRate(int64_t updates) override { return inner_.impl()->prepareRate(updates); }
  Variable callCount() const override { return inner_.impl()->callCount(); }
  int64_t updatesAfter(int64_t calls) const override { return inner_.impl()->updatesAfter(calls); }
  bool isBuilt() const override { return inner_.impl()->isBuilt(); }
  void build(const std::vector<Variable> &variables) override {
    watchAll(variables); // so that state() can name a faulty variable read from a file
    inner_.impl()->build(variables);
  }
  const OptimizerParts &parts() const override { return inner_.impl()->parts(); }
  bool takesOwnGradients() const override { return inner_.impl()->takesOwnGradients(); }
  void split(int64_t rank, int64_t processes) override { inner_.impl()->split(rank, processes); }
  std::vector<Variable> variables() const override {
    std::vector<Variable> result{iteration_, rate_, counter_, scale_};
    for (const Variable &variable : inner_.variables())
      result.push_back(variable);
    return result;
  }
  std::vector<Variable> allVariables() const override {
    std::vector<Variable> result{iteration_, rate_, counter_, scale_, skipped_, fault_};
    for (const Variable &variable : inner_.impl()->allVariables())
      result.push_back(variable);
    return result;
  }
  Config config() const override {
    Config config;
    config.set("name", name);
    config.set("inner_optimizer", optimizers::serialize(inner_));
    config.set("initial_scale", args_.initial_scale);
    config.set("dynamic_growth_steps", args_.dynamic_growth_steps);
    return config;
  }
  void dropLossScaleFactor() override {}
  void excludeFromWeightDecay(const std::vector<Variable> &variables, const std::vector<std::string> &names) override {
    inner_.exclude_from_weight_decay(variables, names);
  }

  const Optimizer &inner() const { return inner_; }
  optimizers::LossScaleState state() const {
    const std::vector<Tensor> all = // a consistent snapshot
        readTogether({scale_.impl()->memory, counter_.impl()->memory, skipped_.impl()->memory, fault_.impl()->memory})
            .valueOrThrow();
    const auto skipped = all[2].item<int64_t>();
    const auto fault = static_cast<size_t>(all[3].item<int32_t>());
    return {all[0].item<float>(), all[1].item<int32_t>(), skipped >> 32,
            fault > 0 && fault <= watched_.size() ? watched_[fault - 1].path() : "", inARow(skipped)};
  }
  std::vector<std::pair<Variable, Tensor>> initialScale() const {
    std::vector<std::pair<Variable, Tensor>> values;
    for (const Variable &variable : {counter_, scale_, skipped_, fault_})
      values.emplace_back(variable, Tensor::full({}, variable.impl() == scale_.impl() ? args_.initial_scale : 0.0,
                                                 variable.impl()->dtype));
    return values;
  }
  Value skippedWord() const { return readRaw(skipped_); }
  bool isStalled(int64_t skippedWord) const {
    return args_.stall_alarm_steps > 0 && inARow(skippedWord) >= args_.stall_alarm_steps;
  }

private:
  static int64_t inARow(int64_t skippedWord) { return skippedWord & 0xffffffff; }

  /// The result of unscale() for one list of gradients, and whether each of them is finite.
  struct Unscaled {
    std::vector<Value> finite, gradients;
  };

  /// value_error for gradients from unscale() in this trace, which it would divide again.
  void requireScaled(const std::vector<Value> &gradients, const std::vector<bool> &areReplaced) const {
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined() && !areReplaced[i] && given_.contains(gradients[i].node().get()))
        throw Error(ErrorKind::value_error, fmt::format("unscale() of '{}' got, at index {}, a gradient that it had "
                                                        "returned, and would divide it by the scale again",
                                                        name, i));
  }

  /// Takes the unscale() calls of this trace since the last update; none apply if the update uses other gradients.
  /// value_error if `gradients` come from unscale() but `args` does not say so.
  std::vector<Unscaled> takeUnscaled(const std::vector<Value> &gradients, const std::vector<Variable> &variables,
                                     const ApplyArgs &args) {
    if (unscaledIn_.lock().get() != &tracing())
      return {};
    std::vector<Unscaled> calls = std::exchange(unscaled_, {}); // keeps the nodes of `given` alive
    const std::unordered_set<const Node *> given = std::exchange(given_, {});
    if (args.unscaled)
      return calls;
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined() && given.contains(gradients[i].node().get()) && !isReplaced(variables[i]))
        throw Error(ErrorKind::value_error,
                    fmt::format("apply() of '{}' got the gradient of '{}' from unscale() and would divide it by the "
                                "scale again: pass {{.unscaled = true}}",
                                name, variables[i].path()));
    return {};
  }
  static bool isReplaced(const Variable &variable) { return variable.impl()->update == UpdateKind::overwrite; }

  /// 1 + the index of the first variable whose gradient is not finite, or was not when unscale() received it; otherwise
  /// `none`.
  Value faultOf(const std::vector<Value> &gradients, const std::vector<Variable> &variables, const ApplyArgs &args,
                const Value &none) {
    Trace &trace = tracing();
    const std::vector<Unscaled> known = takeUnscaled(gradients, variables, args);
    Value fault = none;
    const auto add = [&](const Value &finite, size_t position) {
      Value number = scalarLike(watch(variables[position]) + 1.0, none);
      fault = ops::where(finite, fault, ops::minimum(fault, number));
    };
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined())
        add(trace.reduceAll(ReduceAllKind::all_finite, {gradients[i]}), i);
    for (const Unscaled &call : known) // of other variables, if the number differs
      for (size_t i = 0; i < call.finite.size() && !variables.empty(); ++i)
        if (call.finite[i].defined())
          add(call.finite[i], call.finite.size() == variables.size() ? i : 0);
    // So far each process knows only its own elements, or the state of its own gradients.
    const bool isOwn = trace.sharedBatch ? trace.sharedBatch->hasOwnGradients || !known.empty() : trace.usesProcesses;
    return isOwn ? ops::negative(trace.allReduce(CollectiveKind::max, ops::negative(fault))) : fault;
  }

  void watchAll(const std::vector<Variable> &variables) {
    for (const Variable &variable : variables)
      watch(variable);
  }
  /// The index of a variable among all variables passed to build() or apply().
  double watch(const Variable &variable) {
    const auto [found, isNew] = positions_.try_emplace(&*variable.impl(), watched_.size());
    if (isNew) {
      watched_.push_back(variable);
      CallTransaction::onFailure([self = std::static_pointer_cast<LossScaleImpl>(shared_from_this())] {
        self->positions_.erase(&*self->watched_.back().impl());
        self->watched_.pop_back();
      });
    }
    return static_cast<double>(found->second);
  }

  static constexpr int64_t inAll = int64_t(1) << 32;
  static constexpr double noFault = std::numeric_limits<int32_t>::max();
  Optimizer inner_;
  optimizers::LossScaleArgs args_;
  Variable iteration_, rate_; // in Keras's list of variables; neither changes
  Variable counter_, scale_;
  // Specific to Halftone: inAll times the total number of skipped steps, plus the number of the latest consecutive
  // ones.
  Variable skipped_;
  Variable fault_; // 1 + the index in watched_ of the faulty variable in the last skipped step, 0 for none
  std::vector<Variable> watched_;
  std::vector<Unscaled> unscaled_;         // of that trace, until the next update
  std::unordered_set<const Node *> given_; // the nodes of their gradients
  std::weak_ptr<Trace> unscaledIn_;
  std::unordered_map<const void *, size_t> positions_; // in watched_, by the variable's impl
};

const LossScaleImpl &implOf(const Optimizer &optimizer) {
  return static_cast<const LossScaleImpl &>(*optimizer.impl());
}

} // namespace

bool detail::isLossScaleOptimizer(const Optimizer &optimizer) {
  return dynamic_cast<const LossScaleImpl *>(optimizer.impl().get()) != nullptr;
}
Value detail::skippedWord(const optimizers::LossScaleOptimizer &optimizer) { return implOf(optimizer).skippedWord(); }
std::vector<std::pair<Variable, Tensor>> detail::initialLossScale(const optimizers::LossScaleOptimizer &optimizer) {
  return implOf(optimizer).initialScale();
}
bool detail::isStalled(const optimizers::LossScaleOptimizer &optimizer, int64_t skippedWord) {
  return implOf(optimizer).isStalled(skippedWord);
}
optimizers::LossScaleOptimizer detail::asLossScaleOptimizer(const Optimizer &optimizer) {
  return optimizers::LossScaleOptimizer(optimizer.impl());
}

namespace optimizers {

LossScaleOptimizer::LossScaleOptimizer(const Optimizer &inner_optimizer, const LossScaleArgs &args)
    : Optimizer(std::make_shared<LossScaleImpl>(inner_optimizer, args)) {}
LossScaleOptimizer::LossScaleOptimizer(std::shared_ptr<OptimizerImpl> impl) : Optimizer(std::move(impl)) {
  if (!isLossScaleOptimizer(*this))
    throw Error(ErrorKind::type_error, fmt::format("optimizer '{}' is not a LossScaleOptimizer", name()));
}
LossScaleOptimizer LossScaleOptimizer::from_config(const Config &config) {
  return LossScaleOptimizer(optimizerFromConfig("LossScaleOptimizer", config).impl());
}
Optimizer LossScaleOptimizer::inner_optimizer() const { return implOf(*this).inner(); }
LossScaleState LossScaleOptimizer::state() const { return implOf(*this).state(); }

} // namespace optimizers
} // namespace halftone
