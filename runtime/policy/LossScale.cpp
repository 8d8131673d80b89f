// TensorFlow 2.0's loss scales.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Legacy.h"
#include "runtime/base/ForkGate.h"
#include "runtime/policy/PythonText.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <mutex>

using namespace halftone;
using namespace halftone::legacy;

struct LossScale::Rep {
  bool dynamic;
  DynamicLossScaleArgs args; // a fixed loss scale uses only the initial scale
  std::mutex mutex;
  float current;
  int64_t goodSteps = 0;

  Rep(bool dynamic, const DynamicLossScaleArgs &args)
      : dynamic(dynamic), args(args), current(static_cast<float>(args.initial_loss_scale)) {}
};

/// The value must be finite in float32, in which the scale is stored.
static void requireFinite(const char *argument, double value) {
  if (!(std::abs(value) <= std::numeric_limits<float>::max()))
    throw Error(ErrorKind::value_error,
                fmt::format("{} must be finite in float32. Received: {}={}", argument, argument, value));
}

FixedLossScale::FixedLossScale(double loss_scale_value)
    : LossScale(std::make_shared<Rep>(false, DynamicLossScaleArgs{.initial_loss_scale = loss_scale_value})) {
  if (!(loss_scale_value >= 1))
    throw Error(ErrorKind::value_error, "loss_scale_value must be at least 1.");
  requireFinite("loss_scale_value", loss_scale_value);
}

DynamicLossScale::DynamicLossScale(DynamicLossScaleArgs args) : LossScale(std::make_shared<Rep>(true, args)) {
  if (!(args.initial_loss_scale >= 1) || !(args.multiplier >= 1) || args.increment_period < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("initial_loss_scale, increment_period and multiplier must be at least 1. Received: "
                            "initial_loss_scale={}, increment_period={}, multiplier={}",
                            args.initial_loss_scale, args.increment_period, args.multiplier));
  requireFinite("initial_loss_scale", args.initial_loss_scale);
  requireFinite("multiplier", args.multiplier);
}

std::optional<LossScale> LossScale::get(double value) { return FixedLossScale(value); }
std::optional<LossScale> LossScale::get(std::string_view identifier) {
  if (identifier != "dynamic")
    throw Error(ErrorKind::value_error, fmt::format("Could not interpret loss scale identifier: {}", identifier));
  return DynamicLossScale();
}

double LossScale::operator()() const {
  const ForkSafeLock lock(rep_->mutex);
  return rep_->current;
}

bool LossScale::update(bool all_finite) const {
  Rep &rep = *rep_;
  if (!rep.dynamic)
    return true;
  const ForkSafeLock lock(rep.mutex);
  const auto multiplier = static_cast<float>(rep.args.multiplier);
  if (!all_finite) {
    rep.current = std::max(rep.current / multiplier, 1.0f);
    rep.goodSteps = 0;
  } else if (rep.goodSteps + 1 >= rep.args.increment_period) {
    if (std::isfinite(rep.current * multiplier))
      rep.current *= multiplier;
    rep.goodSteps = 0;
  } else {
    ++rep.goodSteps;
  }
  return all_finite;
}

std::string LossScale::repr() const {
  const auto &args = rep_->args;
  if (!rep_->dynamic)
    return fmt::format("FixedLossScale({})", pythonRepr(args.initial_loss_scale));
  const ForkSafeLock lock(rep_->mutex);
  return fmt::format("DynamicLossScale(current_loss_scale={}, num_good_steps={}, initial_loss_scale={}, "
                     "increment_period={}, multiplier={})",
                     pythonRepr(rep_->current), rep_->goodSteps, pythonRepr(args.initial_loss_scale),
                     args.increment_period, pythonRepr(args.multiplier));
}

std::string LossScale::class_name() const { return rep_->dynamic ? "DynamicLossScale" : "FixedLossScale"; }

Config LossScale::get_config() const {
  Config config;
  if (rep_->dynamic) {
    config.set("initial_loss_scale", rep_->args.initial_loss_scale);
    config.set("increment_period", rep_->args.increment_period);
    config.set("multiplier", rep_->args.multiplier);
  } else {
    config.set("loss_scale_value", rep_->args.initial_loss_scale);
  }
  return config;
}
