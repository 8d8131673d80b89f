// Optimizers and learning-rate schedules. The learning rate is positional, as in Keras; the rest is one struct.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"

namespace halftone {
class HALFTONE_API LearningRate {
public:
  LearningRate(const LearningRate &);
  LearningRate(LearningRate &&) noexcept;
  LearningRate &operator=(const LearningRate &) &;
  LearningRate &operator=(LearningRate &&) &noexcept;
  ~LearningRate();
  LearningRate(double value);
  template <std::invocable<int64_t> F>
  LearningRate(F schedule) : LearningRate(std::function<double(int64_t)>(std::move(schedule))) {}
  LearningRate(std::function<double(int64_t)> schedule);
  double at(int64_t step) const;

protected:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};
namespace schedules {
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
} // namespace schedules

class HALFTONE_API Optimizer {
public:
  Optimizer(const Optimizer &);
  Optimizer(Optimizer &&) noexcept;
  Optimizer &operator=(const Optimizer &) &;
  Optimizer &operator=(Optimizer &&) &noexcept;
  ~Optimizer();
  Optimizer(const char *name); // "adam", "sgd", ...
  Optimizer(const std::string &name);
  [[nodiscard]] Value scale_loss(const Value &loss) const; // identity unless this scales losses
  void apply(const std::vector<Value> &gradients, const std::vector<Variable> &variables) const; // recorded
  void minimize(const Value &loss, const std::vector<Variable> &variables) const; // scale, differentiate, apply
  double learning_rate() const;
  void set_learning_rate(double learning_rate) const; // type_error when it has a schedule, as in Keras
  int64_t iterations() const;
  std::vector<Variable> variables() const;
  std::string name() const;
  Config get_config() const;

protected:
  struct Rep;
  explicit Optimizer(std::shared_ptr<Rep> rep);
  std::shared_ptr<Rep> rep_;
};
namespace optimizers {
struct SGDArgs {
  double momentum = 0.0;
  bool nesterov = false;
  std::optional<double> weight_decay{};
  std::optional<double> clipnorm{};
  std::optional<double> clipvalue{};
  std::optional<double> global_clipnorm{};
  std::optional<double> loss_scale_factor{};
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
  std::optional<double> loss_scale_factor{};
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
  std::optional<double> loss_scale_factor{};
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

struct LossScaleArgs {
  double initial_scale = 32768.0;
  int64_t dynamic_growth_steps = 2000;
  std::string name = "loss_scale_optimizer";
  // Beyond Keras, whose scale may fall to 0 and grow to inf; docs/policies.md lists the difference.
  double min_scale = 1.0;
  double max_scale = 16777216.0;
};
struct LossScaleState {
  double scale;
  int64_t good_steps, skipped_steps;
  std::string last_fault; /* layer path, "" if none */
};
class HALFTONE_API LossScaleOptimizer : public Optimizer {
public:
  explicit LossScaleOptimizer(const Optimizer &inner_optimizer, const LossScaleArgs &args = {});
  Optimizer inner_optimizer() const;
  LossScaleState state() const; // as of the last finished step; does not wait for the device
};
} // namespace optimizers
} // namespace halftone
