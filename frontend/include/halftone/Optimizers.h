// Optimizers and learning-rate schedules. The learning rate is positional, as in Keras; the rest is one struct.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"

namespace halftone {
namespace detail {
struct OptimizerImpl;
}
/// A constant, a schedule, or any function of the count of updates so far. In one run of a traced function all updates
/// have the rate of the count before the run. The host evaluates a user's function before each run; it evaluates a
/// schedule with a class, which depends on the count alone, for many runs ahead.
class HALFTONE_API LearningRate {
public:
  LearningRate(const LearningRate &);
  LearningRate(LearningRate &&) noexcept;
  LearningRate &operator=(const LearningRate &) &;
  LearningRate &operator=(LearningRate &&) & noexcept;
  ~LearningRate();
  LearningRate(double value);
  template <std::invocable<int64_t> F>
  LearningRate(F schedule) : LearningRate(std::function<double(int64_t)>(std::move(schedule))) {}
  LearningRate(std::function<double(int64_t)> schedule);
  double at(int64_t step) const;
  bool is_schedule() const;       // false for a constant
  std::string class_name() const; // "ExponentialDecay"; "" for constants and functions
  Config get_config() const;      // of the schedule's class; {} otherwise

protected:
  LearningRate(std::string class_name, Config config, std::function<double(int64_t)> schedule);

private:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};
namespace schedules { // value_error unless decay_steps > 0
struct ExponentialDecayArgs {
  bool staircase = false;
  std::string name = "ExponentialDecay";
};
class HALFTONE_API ExponentialDecay : public LearningRate {
public:
  ExponentialDecay(double initial_learning_rate, int64_t decay_steps, double decay_rate,
                   const ExponentialDecayArgs &args = {});
};
struct CosineDecayArgs {
  double alpha = 0.0;
  std::string name = "CosineDecay";
  std::optional<double> warmup_target{};
  int64_t warmup_steps = 0;
};
class HALFTONE_API CosineDecay : public LearningRate {
public:
  CosineDecay(double initial_learning_rate, int64_t decay_steps, const CosineDecayArgs &args = {});
};
struct PolynomialDecayArgs {
  double end_learning_rate = 0.0001;
  double power = 1.0;
  bool cycle = false; // the decay begins anew each decay_steps, then over the next multiple of decay_steps
  std::string name = "PolynomialDecay";
};
class HALFTONE_API PolynomialDecay : public LearningRate {
public:
  PolynomialDecay(double initial_learning_rate, int64_t decay_steps, const PolynomialDecayArgs &args = {});
};
struct InverseTimeDecayArgs {
  bool staircase = false;
  std::string name = "InverseTimeDecay";
};
class HALFTONE_API InverseTimeDecay : public LearningRate {
public:
  InverseTimeDecay(double initial_learning_rate, int64_t decay_steps, double decay_rate,
                   const InverseTimeDecayArgs &args = {});
};
struct CosineDecayRestartsArgs {
  double t_mul = 2.0; // the length of each cycle as a multiple of the cycle before
  double m_mul = 1.0; // the rate at its start as a multiple of that of the cycle before
  double alpha = 0.0;
  std::string name = "SGDRDecay";
};
class HALFTONE_API CosineDecayRestarts : public LearningRate {
public:
  CosineDecayRestarts(double initial_learning_rate, int64_t first_decay_steps,
                      const CosineDecayRestartsArgs &args = {});
};
struct PiecewiseConstantDecayArgs {
  std::string name = "PiecewiseConstant";
};
/// values[i] up to and including step boundaries[i], the last value after all boundaries. value_error unless there is
/// one value more than there are boundaries and the boundaries grow.
class HALFTONE_API PiecewiseConstantDecay : public LearningRate {
public:
  PiecewiseConstantDecay(const std::vector<int64_t> &boundaries, const std::vector<double> &values,
                         const PiecewiseConstantDecayArgs &args = {});
};
/// A schedule from its entry in an optimizer's config. value_error for an unknown class or argument.
HALFTONE_API LearningRate deserialize(const Config &config);
} // namespace schedules

/// A handle: copies share the state. When apply() is first recorded, it makes slot variables for the variables that it
/// gets, in their dtypes. All arithmetic is in the variable's dtype.
class HALFTONE_API Optimizer {
public:
  Optimizer(const Optimizer &);
  Optimizer(Optimizer &&) noexcept;
  Optimizer &operator=(const Optimizer &) &;
  Optimizer &operator=(Optimizer &&) & noexcept;
  ~Optimizer();
  Optimizer(const char *name); // "adam", "RMSprop", ..., in upper or lower case; value_error that lists the known names
  Optimizer(const std::string &name);
  [[nodiscard]] Value scale_loss(const Value &loss) const; // the loss itself unless the optimizer scales losses
  /// Records an update. Variables with an undefined gradient stay unchanged; an empty list does nothing. value_error
  /// when every gradient is undefined, when a variable was not in the first call, or when shapes differ.
  void apply(const std::vector<Value> &gradients, const std::vector<Variable> &variables) const;
  void minimize(const Value &loss, const std::vector<Variable> &variables,
                Where where = Where::current()) const; // scale, differentiate, apply
  /// Sets the variables that apply() knows to their moving averages; does nothing without use_ema. fit() ends with it.
  void finalize_variable_values(const std::vector<Variable> &variables) const;
  /// Excludes variables from weight_decay: those listed, and those in whose name() a regular expression of `var_names`
  /// matches some part. Replaces the variables and names of earlier calls; value_error once apply() was recorded.
  void exclude_from_weight_decay(const std::vector<Variable> &var_list,
                                 const std::vector<std::string> &var_names = {}) const;
  double learning_rate() const;                       // of the next update
  void set_learning_rate(double learning_rate) const; // type_error if the optimizer has a schedule, as in Keras
  int64_t iterations() const;
  std::vector<Variable> variables() const; // in Keras's order
  std::string name() const;
  Config get_config() const;
  explicit Optimizer(std::shared_ptr<detail::OptimizerImpl> impl);
  const std::shared_ptr<detail::OptimizerImpl> &impl() const { return impl_; }

private:
  std::shared_ptr<detail::OptimizerImpl> impl_;
};
namespace optimizers {
// At most one of clipnorm (each gradient), global_clipnorm (all gradients together) and clipvalue (each entry) may be
// given. use_ema keeps a moving average of each variable. The average replaces the variable when fit() ends and, if
// ema_overwrite_frequency is given, after each so many updates. With gradient_accumulation_steps (at least 2; 0 means
// none) apply() averages gradients and updates once in so many calls.
struct SGDArgs {
  double momentum = 0.0;
  bool nesterov = false;
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct AdamArgs {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct AdamWArgs {
  double weight_decay = 0.004;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct RMSpropArgs {
  double rho = 0.9;
  double momentum = 0.0;
  double epsilon = 1e-7;
  bool centered = false;
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct LionArgs {
  double beta_1 = 0.9;
  double beta_2 = 0.99;
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct AdagradArgs {
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct AdadeltaArgs {
  double rho = 0.95;
  double epsilon = 1e-7;
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct AdamaxArgs {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct NadamArgs {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct AdafactorArgs {
  double beta_2_decay = -0.8;
  double epsilon_1 = 1e-30;
  double epsilon_2 = 1e-3;
  double clip_threshold = 1.0;
  bool relative_step = true; // in both cases the rate is at most 1 / sqrt(step), as in Keras
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct FtrlArgs {
  double learning_rate_power = -0.5;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0.0;
  double l2_regularization_strength = 0.0;
  double l2_shrinkage_regularization_strength = 0.0;
  double beta = 0.0;
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct LambArgs {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
struct MuonArgs {
  double adam_beta_1 = 0.9;
  double adam_beta_2 = 0.999;
  std::optional<double> adam_weight_decay = 0.004; // of the variables with steps of Adam
  double epsilon = 1e-7;
  std::optional<double> weight_decay = 0.004; // of the others
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
  std::vector<std::string> exclude_layers{}; // regular expressions, each of which may match a part of a variable's path
  bool exclude_embeddings = true;            // variables with "embedding" in their paths take steps of Adam
  double muon_a = 3.4445;
  double muon_b = -4.775;
  double muon_c = 2.0315;
  double adam_lr_ratio = 1.0;
  double momentum = 0.95;
  int64_t ns_steps = 5;
  bool nesterov = true;
  std::optional<double> rms_rate = 0.2; // a step is so many times the root of the larger extent; none: 1
};
struct ScheduleFreeAdamWArgs {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  int64_t warmup_steps = 0; // the rate grows over so many updates
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency{};
  std::optional<double> loss_scale_factor{};
  std::optional<int64_t> gradient_accumulation_steps{};
  std::string name{};
};
class HALFTONE_API SGD : public Optimizer {
public:
  explicit SGD(const LearningRate &learning_rate = 0.01, const SGDArgs &args = {});
};
class HALFTONE_API Adam : public Optimizer {
public:
  explicit Adam(const LearningRate &learning_rate = 0.001, const AdamArgs &args = {});
};
class HALFTONE_API AdamW : public Optimizer {
public:
  explicit AdamW(const LearningRate &learning_rate = 0.001, const AdamWArgs &args = {});
};

class HALFTONE_API RMSprop : public Optimizer {
public:
  explicit RMSprop(const LearningRate &learning_rate = 0.001, const RMSpropArgs &args = {});
};
/// Steps of one length, along the sign of a running mean. value_error unless 0 < beta_1 <= 1.
class HALFTONE_API Lion : public Optimizer {
public:
  explicit Lion(const LearningRate &learning_rate = 0.001, const LionArgs &args = {});
};
class HALFTONE_API Adagrad : public Optimizer {
public:
  explicit Adagrad(const LearningRate &learning_rate = 0.001, const AdagradArgs &args = {});
};
class HALFTONE_API Adadelta : public Optimizer {
public:
  explicit Adadelta(const LearningRate &learning_rate = 0.001, const AdadeltaArgs &args = {});
};
class HALFTONE_API Adamax : public Optimizer {
public:
  explicit Adamax(const LearningRate &learning_rate = 0.001, const AdamaxArgs &args = {});
};
class HALFTONE_API Nadam : public Optimizer {
public:
  explicit Nadam(const LearningRate &learning_rate = 0.001, const NadamArgs &args = {});
};
/// Computes in float32 at least: its epsilon_1 is 0 in float16.
class HALFTONE_API Adafactor : public Optimizer {
public:
  explicit Adafactor(const LearningRate &learning_rate = 0.001, const AdafactorArgs &args = {});
};
/// value_error when a strength or the initial value is negative, or when the power is positive.
class HALFTONE_API Ftrl : public Optimizer {
public:
  explicit Ftrl(const LearningRate &learning_rate = 0.001, const FtrlArgs &args = {});
};
class HALFTONE_API Lamb : public Optimizer {
public:
  explicit Lamb(const LearningRate &learning_rate = 0.001, const LambArgs &args = {});
};

/// Matrices move along their momentum, made nearly orthogonal by `ns_steps` steps of a Newton-Schulz iteration with the
/// factors a, b, c. All other variables, and those that are excluded, take steps of Adam at adam_lr_ratio times the rate.
/// value_error for an expression that is none, or unless 0 <= ns_steps <= 100.
class HALFTONE_API Muon : public Optimizer {
public:
  explicit Muon(const LearningRate &learning_rate = 0.001, const MuonArgs &args = {});
};
/// Adam without a schedule: its momentum slot takes the steps, and the variable is between that and the mean of all its
/// values so far, at the share beta_1. The slot begins as a copy of the variable at the first update.
class HALFTONE_API ScheduleFreeAdamW : public Optimizer {
public:
  explicit ScheduleFreeAdamW(const LearningRate &learning_rate = 0.0025, const ScheduleFreeAdamWArgs &args = {});
};

struct LossScaleArgs {
  double initial_scale = 32768.0;
  int64_t dynamic_growth_steps = 2000;
  std::string name = "loss_scale_optimizer";
  // Halftone's addition: in Keras the scale may fall to 0 and grow to inf. A scale outside of these bounds does not
  // change.
  double min_scale = 1.0;
  double max_scale = 16777216.0;
  int64_t stall_alarm_steps = 32; // 0: never. 24 halvings lead from the largest scale to the smallest
};
struct LossScaleState {
  double scale;
  int64_t good_steps, skipped_steps;
  std::string last_fault;  // path of the first variable whose gradient was not finite in the last skipped step, or ""
  int64_t stalled_steps{}; // steps that were skipped in a row up to the last step
};
/// Multiplies the loss by a scale. apply() divides the gradients by the scale, in at least float32; if one of them is
/// not finite, it changes nothing but the scale, which halves. After dynamic_growth_steps finite steps in a row the
/// scale doubles. The device decides all of it; no step waits for the host. The inner optimizer's loss_scale_factor is
/// dropped. If stall_alarm_steps steps in a row are skipped, fit() writes one warning to the sink of set_output().
class HALFTONE_API LossScaleOptimizer : public Optimizer {
public:
  /// value_error unless scales are finite in float32, initial_scale is not 0, 0 < min_scale <= max_scale and
  /// stall_alarm_steps is not negative.
  explicit LossScaleOptimizer(const Optimizer &inner_optimizer, const LossScaleArgs &args = {});
  explicit LossScaleOptimizer(std::shared_ptr<detail::OptimizerImpl> impl); // type_error for another optimizer
  /// From the result of get_config(), or from a config of an older Keras. value_error for other keys.
  static LossScaleOptimizer from_config(const Config &config);
  Optimizer inner_optimizer() const;
  LossScaleState state() const; // after the last finished step; does not wait for the device
};
/// {"module", "class_name", "config", "registered_name"}, as Keras saves it. deserialize() reads the class name in
/// upper or lower case; value_error for an unknown class or argument.
HALFTONE_API Config serialize(const Optimizer &optimizer);
HALFTONE_API Optimizer deserialize(const Config &config);
} // namespace optimizers
} // namespace halftone
