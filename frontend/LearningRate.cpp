// Learning rates: numbers, functions and Keras's schedules.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Error.h"
#include "halftone/Optimizers.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace halftone {

struct LearningRate::Rep {
  double value = 0.0;
  std::function<double(int64_t)> schedule; // null: `value`
  std::string className;
  Config config;
};

LearningRate::LearningRate(const LearningRate &) = default;
LearningRate::LearningRate(LearningRate &&other) noexcept : rep_(other.rep_) {} // a moved-from rate stays whole
LearningRate &LearningRate::operator=(const LearningRate &) & = default;
LearningRate &LearningRate::operator=(LearningRate &&other) &noexcept {
  return *this = static_cast<const LearningRate &>(other);
}
LearningRate::~LearningRate() = default;
LearningRate::LearningRate(double value) {
  Rep rep;
  rep.value = value;
  rep_ = std::make_shared<Rep>(std::move(rep));
}
LearningRate::LearningRate(std::function<double(int64_t)> schedule) {
  if (!schedule)
    throw Error(ErrorKind::value_error, "Argument `learning_rate` should be float, or an instance of "
                                        "LearningRateSchedule, or a callable. Received an empty function");
  Rep rep;
  rep.schedule = std::move(schedule);
  rep_ = std::make_shared<Rep>(std::move(rep));
}
double LearningRate::at(int64_t step) const { return rep_->schedule ? rep_->schedule(step) : rep_->value; }
bool LearningRate::is_schedule() const { return rep_->schedule != nullptr; }
std::string LearningRate::class_name() const { return rep_->className; }
Config LearningRate::get_config() const { return rep_->config; }

namespace schedules {

static void checkSteps(int64_t decaySteps) {
  if (decaySteps <= 0)
    throw Error(ErrorKind::value_error,
                fmt::format("Argument `decay_steps` must be > 0. Received: decay_steps={}", decaySteps));
}

ExponentialDecay::ExponentialDecay(double initial, int64_t decaySteps, double decayRate,
                                   const ExponentialDecayArgs &args)
    : LearningRate(0.0) {
  checkSteps(decaySteps);
  Rep rep;
  rep.schedule = [=, staircase = args.staircase](int64_t step) {
    double share = static_cast<double>(step) / static_cast<double>(decaySteps);
    return initial * std::pow(decayRate, staircase ? std::floor(share) : share);
  };
  rep.className = "ExponentialDecay";
  rep.config.set("initial_learning_rate", initial);
  rep.config.set("decay_steps", decaySteps);
  rep.config.set("decay_rate", decayRate);
  rep.config.set("staircase", args.staircase);
  rep.config.set("name", args.name);
  rep_ = std::make_shared<Rep>(std::move(rep));
}

CosineDecay::CosineDecay(double initial, int64_t decaySteps, const CosineDecayArgs &args) : LearningRate(0.0) {
  checkSteps(decaySteps);
  if (args.warmup_steps < 0)
    throw Error(ErrorKind::value_error,
                fmt::format("Argument `warmup_steps` must be >= 0. Received: warmup_steps={}", args.warmup_steps));
  Rep rep;
  rep.schedule = [=](int64_t step) {
    double t = static_cast<double>(step), steps = static_cast<double>(decaySteps), from = initial;
    if (args.warmup_target) {
      double warmup = static_cast<double>(args.warmup_steps);
      if (t < warmup)
        return initial + (*args.warmup_target - initial) * (t / warmup);
      t -= warmup;
      from = *args.warmup_target;
    }
    double cosine = 0.5 * (1.0 + std::cos(std::numbers::pi * std::min(t, steps) / steps));
    return from * ((1.0 - args.alpha) * cosine + args.alpha);
  };
  rep.className = "CosineDecay";
  rep.config.set("initial_learning_rate", initial);
  rep.config.set("decay_steps", decaySteps);
  rep.config.set("alpha", args.alpha);
  rep.config.set("name", args.name);
  if (args.warmup_target)
    rep.config.set("warmup_target", *args.warmup_target);
  else
    rep.config.set_null("warmup_target");
  rep.config.set("warmup_steps", args.warmup_steps);
  rep_ = std::make_shared<Rep>(std::move(rep));
}

PolynomialDecay::PolynomialDecay(double initial, int64_t decaySteps, const PolynomialDecayArgs &args)
    : LearningRate(0.0) {
  checkSteps(decaySteps);
  Rep rep;
  rep.schedule = [=](int64_t step) {
    double t = static_cast<double>(step), steps = static_cast<double>(decaySteps);
    if (args.cycle)
      steps *= std::max(1.0, std::ceil(t / steps));
    double share = std::min(t, steps) / steps;
    return (initial - args.end_learning_rate) * std::pow(1.0 - share, args.power) + args.end_learning_rate;
  };
  rep.className = "PolynomialDecay";
  rep.config.set("initial_learning_rate", initial);
  rep.config.set("decay_steps", decaySteps);
  rep.config.set("end_learning_rate", args.end_learning_rate);
  rep.config.set("power", args.power);
  rep.config.set("cycle", args.cycle);
  rep.config.set("name", args.name);
  rep_ = std::make_shared<Rep>(std::move(rep));
}

} // namespace schedules
} // namespace halftone
