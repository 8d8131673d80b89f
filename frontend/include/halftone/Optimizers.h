// Optimizers and learning-rate schedules. The learning rate is positional, as in Keras; the rest is one struct.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"

namespace halftone {
namespace detail {
struct OptimizerImpl;
}
/// A constant, a schedule, or any function of the count of updates so far. All updates in one run of a traced function
/// have the rate of the count before it. The host evaluates a user's function before each run, and a schedule with a class,
/// which depends on the count alone, for many runs ahead.
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
  Config get_config() const;      // of a schedule's class; {} otherwise

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
  bool cycle = false; // begins anew, from where the last round ended, each decay_steps
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
  double t_mul = 2.0; // each round is so much longer
  double m_mul = 1.0; // and begins at so much of the one before
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
/// values[i] up to and including step boundaries[i], the last one after them. value_error unless there is one value
/// more than boundaries and those grow.
class HALFTONE_API PiecewiseConstantDecay : public LearningRate {
public:
  PiecewiseConstantDecay(const std::vector<int64_t> &boundaries, const std::vector<double> &values,
                         const PiecewiseConstantDecayArgs &args = {});
};
/// A schedule from its entry in an optimizer's config. value_error for an unknown class or argument.
HALFTONE_API LearningRate deserialize(const Config &config);
} // namespace schedules

/// A handle: copies share the state. Slots are made when apply() is first recorded, for the variables given then, in
/// their dtypes; all arithmetic is in the variable's dtype.
class HALFTONE_API Optimizer {
public:
  Optimizer(const Optimizer &);
  Optimizer(Optimizer &&) noexcept;
  Optimizer &operator=(const Optimizer &) &;
  Optimizer &operator=(Optimizer &&) & noexcept;
  ~Optimizer();
  Optimizer(const char *name); // "adam", "RMSprop", ..., in any case; value_error listing those known
  Optimizer(const std::string &name);
  [[nodiscard]] Value scale_loss(const Value &loss) const; // identity unless this scales losses
  /// Recorded. An undefined gradient leaves its variable alone; no gradients at all do nothing. value_error when every
  /// gradient is undefined, for a variable unknown to the first call, or when shapes differ.
  void apply(const std::vector<Value> &gradients, const std::vector<Variable> &variables) const;
  void minimize(const Value &loss, const std::vector<Variable> &variables,
                Where where = Where::current()) const; // scale, differentiate, apply
  /// Gives the variables that apply() knows their moving averages; nothing without use_ema. fit ends with it.
  void finalize_variable_values(const std::vector<Variable> &variables) const;
  /// Variables that weight_decay leaves alone: those listed, and those whose name() some of `var_names` matches
  /// somewhere as a regular expression. Replaces the variables and names of earlier calls; value_error once apply() was
  /// recorded.
  void exclude_from_weight_decay(const std::vector<Variable> &var_list,
                                 const std::vector<std::string> &var_names = {}) const;
  double learning_rate() const;                       // for the next update
  void set_learning_rate(double learning_rate) const; // type_error when it has a schedule, as in Keras
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
// Of clipnorm (each gradient), global_clipnorm (all together) and clipvalue (each entry) only one may be given.
// use_ema keeps a moving average of each variable, which replaces it every ema_overwrite_frequency updates, if given,
// and when fit ends. With gradient_accumulation_steps (at least 2, 0 as if not given) gradients are averaged and only
// every such apply() updates.
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
  bool relative_step = true; // the rate is at most 1 / sqrt(step) in either case, as in Keras
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
/// Steps of one size, along the sign of a running mean. value_error unless 0 < beta_1 <= 1.
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
/// value_error when a strength or the initial value is negative, or the power positive.
class HALFTONE_API Ftrl : public Optimizer {
public:
  explicit Ftrl(const LearningRate &learning_rate = 0.001, const FtrlArgs &args = {});
};
class HALFTONE_API Lamb : public Optimizer {
public:
  explicit Lamb(const LearningRate &learning_rate = 0.001, const LambArgs &args = {});
};

struct LossScaleArgs {
  double initial_scale = 32768.0;
  int64_t dynamic_growth_steps = 2000;
  std::string name = "loss_scale_optimizer";
  // Beyond Keras, whose scale may fall to 0 and grow to inf. A scale outside of them stays where it is.
  double min_scale = 1.0;
  double max_scale = 16777216.0;
  int64_t stall_alarm_steps = 32; // 0: never; from the cap to the floor are 24 halvings
};
struct LossScaleState {
  double scale;
  int64_t good_steps, skipped_steps;
  std::string last_fault;  // path of the first variable whose gradient was not finite in the last step skipped, or ""
  int64_t stalled_steps{}; // skipped in a row, the last one included
};
/// Multiplies the loss by a scale; apply() divides the gradients by it (in at least float32) and, when one is not
/// finite, changes nothing but the scale, which halves. After dynamic_growth_steps finite steps in a row it doubles.
/// All of it is decided where the step runs: nothing waits for the host. The inner optimizer's loss_scale_factor is
/// dropped. When stall_alarm_steps steps in a row were skipped, fit says so once, through set_output()'s sink.
class HALFTONE_API LossScaleOptimizer : public Optimizer {
public:
  /// value_error unless scales are finite in float32, initial_scale is not 0, 0 < min_scale <= max_scale and
  /// stall_alarm_steps is not negative.
  explicit LossScaleOptimizer(const Optimizer &inner_optimizer, const LossScaleArgs &args = {});
  explicit LossScaleOptimizer(std::shared_ptr<detail::OptimizerImpl> impl); // type_error unless it is one
  /// From the result of get_config(), or from a config that an older Keras wrote. value_error for other keys.
  static LossScaleOptimizer from_config(const Config &config);
  Optimizer inner_optimizer() const;
  LossScaleState state() const; // as of the last finished step; does not wait for the device
};
/// {"module", "class_name", "config", "registered_name"}, as Keras saves it. deserialize() reads the class name in any
/// case; value_error for a class or an argument that it does not know.
HALFTONE_API Config serialize(const Optimizer &optimizer);
HALFTONE_API Optimizer deserialize(const Config &config);
} // namespace optimizers
} // namespace halftone
