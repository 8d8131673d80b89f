// Learning rates: constants, functions and Keras's schedules.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ConfigFields.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Error.h"
#include "halftone/Optimizers.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/FloatMode.h"
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
LearningRate::LearningRate(LearningRate &&other) noexcept : rep_(other.rep_) {} // a moved-from rate stays valid
LearningRate &LearningRate::operator=(const LearningRate &) & = default;
LearningRate &LearningRate::operator=(LearningRate &&other) & noexcept {
  return *this = static_cast<const LearningRate &>(other);
}
LearningRate::~LearningRate() = default;
double detail::requireRate(double rate) {
  if (!std::isfinite(rate))
    throw Error(ErrorKind::value_error,
                fmt::format("A learning rate must be finite. Received: learning_rate={}", rate));
  return rate;
}
LearningRate::LearningRate(double value) {
  (void)detail::requireRate(value);
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
/// Refuses an infinity or NaN among a schedule's arguments, lists included.
static void requireFinite(const std::string &className, const Config &config) {
  for (const auto &[key, value] : ConfigAccess::json(config).items())
    for (const auto &number : value.is_array() ? value : nlohmann::ordered_json::array({value}))
      if (number.is_number_float() && !std::isfinite(number.get<double>()))
        throw Error(ErrorKind::value_error, fmt::format("Argument `{0}` of {1} must be finite. Received: {0}={2}", key,
                                                        className, number.get<double>()));
}
LearningRate::LearningRate(std::string className, Config config, std::function<double(int64_t)> schedule) {
  requireFinite(className, config);
  Rep rep;
  rep.schedule = std::move(schedule);
  rep.className = std::move(className);
  rep.config = std::move(config);
  rep_ = std::make_shared<Rep>(std::move(rep));
}
double LearningRate::at(int64_t step) const {
  const FloatMode mode;
  if (!rep_->schedule)
    return rep_->value;
  const double rate = rep_->schedule(step);
  if (rep_->className.empty() && !std::isfinite(rate)) // Keras schedules are computed far ahead of the step
    throw Error(ErrorKind::value_error,
                fmt::format("A learning rate must be finite. The function returned {} at step {}", rate, step));
  return rate;
}
bool LearningRate::is_schedule() const { return rep_->schedule != nullptr; }
std::string LearningRate::class_name() const { return rep_->className; }
Config LearningRate::get_config() const { return rep_->config; }

namespace schedules {
using detail::Field;

static constexpr std::tuple exponentialFields{Field{"staircase", &ExponentialDecayArgs::staircase},
                                              Field{"name", &ExponentialDecayArgs::name}};
static constexpr std::tuple inverseTimeFields{Field{"staircase", &InverseTimeDecayArgs::staircase},
                                              Field{"name", &InverseTimeDecayArgs::name}};
static constexpr std::tuple cosineFields{Field{"alpha", &CosineDecayArgs::alpha}, Field{"name", &CosineDecayArgs::name},
                                         Field{"warmup_target", &CosineDecayArgs::warmup_target},
                                         Field{"warmup_steps", &CosineDecayArgs::warmup_steps}};
static constexpr std::tuple restartsFields{
    Field{"t_mul", &CosineDecayRestartsArgs::t_mul}, Field{"m_mul", &CosineDecayRestartsArgs::m_mul},
    Field{"alpha", &CosineDecayRestartsArgs::alpha}, Field{"name", &CosineDecayRestartsArgs::name}};
static constexpr std::tuple polynomialFields{
    Field{"end_learning_rate", &PolynomialDecayArgs::end_learning_rate}, Field{"power", &PolynomialDecayArgs::power},
    Field{"cycle", &PolynomialDecayArgs::cycle}, Field{"name", &PolynomialDecayArgs::name}};
static constexpr std::tuple piecewiseFields{Field{"name", &PiecewiseConstantDecayArgs::name}};

static void checkSteps(const char *argument, int64_t steps) {
  if (steps <= 0)
    throw Error(ErrorKind::value_error,
                fmt::format("Argument `{}` must be > 0. Received: {}={}", argument, argument, steps));
}

/// The config of a schedule with an initial rate and a number of decay steps.
template <class Args, class... T>
static Config configOf(double initial, const char *stepsKey, int64_t steps, std::optional<double> decayRate,
                       const Args &args, const std::tuple<Field<Args, T>...> &fields) {
  checkSteps(stepsKey, steps);
  Config config;
  config.set("initial_learning_rate", initial);
  config.set(stepsKey, steps);
  if (decayRate)
    config.set("decay_rate", *decayRate);
  detail::writeFields(config, args, fields);
  return config;
}

/// `step` / `steps`, rounded down for a staircase.
static double periods(int64_t step, int64_t steps, bool staircase) {
  double share = static_cast<double>(step) / static_cast<double>(steps);
  return staircase ? std::floor(share) : share;
}
static double halfCosine(double share) { return 0.5 * (1.0 + std::cos(std::numbers::pi * share)); }

ExponentialDecay::ExponentialDecay(double initial, int64_t decaySteps, double decayRate,
                                   const ExponentialDecayArgs &args)
    : LearningRate("ExponentialDecay", configOf(initial, "decay_steps", decaySteps, decayRate, args, exponentialFields),
                   [=, staircase = args.staircase](int64_t step) {
                     return initial * std::pow(decayRate, periods(step, decaySteps, staircase));
                   }) {}

InverseTimeDecay::InverseTimeDecay(double initial, int64_t decaySteps, double decayRate,
                                   const InverseTimeDecayArgs &args)
    : LearningRate("InverseTimeDecay", configOf(initial, "decay_steps", decaySteps, decayRate, args, inverseTimeFields),
                   [=, staircase = args.staircase](int64_t step) {
                     return initial / (1.0 + decayRate * periods(step, decaySteps, staircase));
                   }) {}

CosineDecay::CosineDecay(double initial, int64_t decaySteps, const CosineDecayArgs &args)
    : LearningRate("CosineDecay", configOf(initial, "decay_steps", decaySteps, std::nullopt, args, cosineFields),
                   [=](int64_t step) {
                     double t = static_cast<double>(step), steps = static_cast<double>(decaySteps), from = initial;
                     if (args.warmup_target) {
                       double warmup = static_cast<double>(args.warmup_steps);
                       if (t < warmup)
                         return initial + (*args.warmup_target - initial) * (t / warmup);
                       t -= warmup;
                       from = *args.warmup_target;
                     }
                     return from * ((1.0 - args.alpha) * halfCosine(std::min(t, steps) / steps) + args.alpha);
                   }) {
  if (args.warmup_steps < 0)
    throw Error(ErrorKind::value_error,
                fmt::format("Argument `warmup_steps` must be >= 0. Received: warmup_steps={}", args.warmup_steps));
}

CosineDecayRestarts::CosineDecayRestarts(double initial, int64_t firstDecaySteps, const CosineDecayRestartsArgs &args)
    : LearningRate("CosineDecayRestarts",
                   configOf(initial, "first_decay_steps", firstDecaySteps, std::nullopt, args, restartsFields),
                   [=](int64_t step) {
                     double share = periods(step, firstDecaySteps, false), round = std::floor(share);
                     if (args.t_mul == 1.0) {
                       share -= round;
                     } else {
                       round = std::floor(std::log(1.0 - share * (1.0 - args.t_mul)) / std::log(args.t_mul));
                       double length = std::pow(args.t_mul, round);
                       share = (share - (1.0 - length) / (1.0 - args.t_mul)) / length;
                     }
                     return initial *
                            ((1.0 - args.alpha) * std::pow(args.m_mul, round) * halfCosine(share) + args.alpha);
                   }) {}

PolynomialDecay::PolynomialDecay(double initial, int64_t decaySteps, const PolynomialDecayArgs &args)
    : LearningRate(
          "PolynomialDecay", configOf(initial, "decay_steps", decaySteps, std::nullopt, args, polynomialFields),
          [=](int64_t step) {
            double t = static_cast<double>(step), steps = static_cast<double>(decaySteps);
            if (args.cycle)
              steps *= std::max(1.0, std::ceil(t / steps));
            double share = std::min(t, steps) / steps;
            return (initial - args.end_learning_rate) * std::pow(1.0 - share, args.power) + args.end_learning_rate;
          }) {}

static Config piecewiseConfig(const std::vector<int64_t> &boundaries, const std::vector<double> &values,
                              const PiecewiseConstantDecayArgs &args) {
  std::string received =
      fmt::format("Received: boundaries=[{}] of length {}, and values=[{}] of length {}.", fmt::join(boundaries, ", "),
                  boundaries.size(), fmt::join(values, ", "), values.size());
  if (boundaries.size() + 1 != values.size())
    throw Error(ErrorKind::value_error,
                "The length of boundaries should be 1 less than the length of values. " + received);
  if (!std::is_sorted(boundaries.begin(), boundaries.end(), std::less_equal<int64_t>()))
    throw Error(ErrorKind::value_error, "The boundaries must be strictly ascending. " + received);
  nlohmann::ordered_json lists{{"boundaries", boundaries}, {"values", values}};
  Config config = ConfigAccess::make(std::move(lists));
  detail::writeFields(config, args, piecewiseFields);
  return config;
}

PiecewiseConstantDecay::PiecewiseConstantDecay(const std::vector<int64_t> &boundaries,
                                               const std::vector<double> &values,
                                               const PiecewiseConstantDecayArgs &args)
    : LearningRate("PiecewiseConstantDecay", piecewiseConfig(boundaries, values, args), [=](int64_t step) {
        auto position = std::lower_bound(boundaries.begin(), boundaries.end(), step);
        return values[static_cast<size_t>(position - boundaries.begin())];
      }) {}

namespace {
using detail::FieldReader;

struct Begin {
  double rate = 0.0;
  int64_t steps = 0;
};
Begin beginOf(FieldReader &reader, const char *stepsKey = "decay_steps") {
  return {reader.get<double>("initial_learning_rate"), reader.get<int64_t>(stepsKey)};
}
template <class T, class Args, class... Fields>
LearningRate decayOf(FieldReader &reader, const std::tuple<Fields...> &fields) {
  auto [rate, steps] = beginOf(reader);
  double decayRate = reader.get<double>("decay_rate");
  return T(rate, steps, decayRate, reader.all<Args>(fields));
}
template <class T, class Args, class... Fields>
LearningRate courseOf(FieldReader &reader, const std::tuple<Fields...> &fields, const char *stepsKey) {
  auto [rate, steps] = beginOf(reader, stepsKey);
  return T(rate, steps, reader.all<Args>(fields));
}
LearningRate piecewiseOf(FieldReader &reader) {
  auto boundaries = reader.get<std::vector<int64_t>>("boundaries");
  auto values = reader.get<std::vector<double>>("values");
  return PiecewiseConstantDecay(boundaries, values, reader.all<PiecewiseConstantDecayArgs>(piecewiseFields));
}

struct Known {
  const char *className;
  LearningRate (*make)(FieldReader &);
};
constexpr Known catalogue[] = {
    {"ExponentialDecay",
     [](FieldReader &r) { return decayOf<ExponentialDecay, ExponentialDecayArgs>(r, exponentialFields); }},
    {"InverseTimeDecay",
     [](FieldReader &r) { return decayOf<InverseTimeDecay, InverseTimeDecayArgs>(r, inverseTimeFields); }},
    {"CosineDecay",
     [](FieldReader &r) { return courseOf<CosineDecay, CosineDecayArgs>(r, cosineFields, "decay_steps"); }},
    {"CosineDecayRestarts",
     [](FieldReader &r) {
       return courseOf<CosineDecayRestarts, CosineDecayRestartsArgs>(r, restartsFields, "first_decay_steps");
     }},
    {"PolynomialDecay",
     [](FieldReader &r) { return courseOf<PolynomialDecay, PolynomialDecayArgs>(r, polynomialFields, "decay_steps"); }},
    {"PiecewiseConstantDecay", piecewiseOf},
};
} // namespace

LearningRate deserialize(const Config &config) {
  std::string className = config.get_string("class_name"), known;
  for (const Known &entry : catalogue) {
    if (className == entry.className) {
      FieldReader reader(config.get_object("config"));
      LearningRate schedule = entry.make(reader);
      reader.requireNothingLeft(className);
      return schedule;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.className);
  }
  throw Error(ErrorKind::value_error,
              fmt::format("Could not interpret learning-rate schedule: {}. Known: {}", className, known));
}

} // namespace schedules
} // namespace halftone
