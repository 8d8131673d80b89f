// Losses: by name, as objects, or as functions of (y_true, y_pred).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include "Policy.h"

namespace halftone {
namespace detail {
struct LossImpl;
}
struct LossArgs {
  Choice<Reduction> reduction = Reduction::sum_over_batch_size;
  std::string name{};
  PolicyArg dtype{}; // empty: floatx, not the global policy; for a policy its compute dtype
};
/// A loss. Targets and predictions are cast to the loss's dtype, and their ranks are matched as in Keras ((n,) with (n,
/// 1)). The formula gives one loss per sample, which `reduction` reduces: sum_over_batch_size is sum(weight * loss) /
/// number of entries. value_error with both shapes if they do not match.
class HALFTONE_API Loss {
public:
  Loss() noexcept; // no loss
  Loss(const Loss &);
  Loss(Loss &&) noexcept;
  Loss &operator=(const Loss &) &;
  Loss &operator=(Loss &&) & noexcept;
  ~Loss();
  Loss(const char *name); // "mse", "mean_squared_error", "MeanSquaredError"; value_error that lists the known names
  Loss(const std::string &name);
  template <std::invocable<const Value &, const Value &> F>
    requires(!std::derived_from<F, Loss> && // not for Loss objects, which keep their name, dtype and reduction
             std::convertible_to<std::invoke_result_t<F &, const Value &, const Value &>, Value>)
  Loss(F f, const LossArgs &args = {}) : Loss(Function(std::move(f)), args) {}
  bool defined() const { return impl_ != nullptr; }
  Value operator()(const Value &y_true, const Value &y_pred, const Value &sample_weight = {}) const;
  Tensor operator()(const Tensor &y_true, const Tensor &y_pred, const Tensor &sample_weight = {}) const; // compiled
  std::string name() const;
  DType dtype() const;
  Config get_config() const; // {"name", "reduction"} and the loss's own fields; no dtype, as in Keras
  using Function = std::function<Value(const Value &, const Value &)>;
  Loss(Function f, const LossArgs &args = {});
  /// A function of losses:: is saved by its name.
  Loss(Value (*f)(const Value &, const Value &), const LossArgs &args = {});
  explicit Loss(std::shared_ptr<const detail::LossImpl> impl);
  const std::shared_ptr<const detail::LossImpl> &impl() const { return impl_; }

private:
  std::shared_ptr<const detail::LossImpl> impl_;
};
/// Registers a loss, like register_activation(). Files hold only the name, so a loss is saved under it only with the
/// reduction and dtype of `loss`. value_error for an undefined loss.
HALFTONE_API void register_loss(const std::string &registered_name, const Loss &loss);
namespace losses {
struct CrossentropyArgs {
  bool from_logits = false;
  double label_smoothing = 0.0;
  int64_t axis = -1;
  Choice<Reduction> reduction = Reduction::sum_over_batch_size;
  std::string name{};
  PolicyArg dtype{};
};
struct SparseCrossentropyArgs {
  bool from_logits = false;
  std::optional<int64_t> ignore_class{};
  Choice<Reduction> reduction = Reduction::sum_over_batch_size;
  int64_t axis = -1;
  std::string name{};
  PolicyArg dtype{};
};
struct BinaryFocalArgs {
  bool apply_class_balancing = false; // weights class 1 by alpha and class 0 by 1 - alpha
  double alpha = 0.25;
  double gamma = 2.0; // larger values reduce the weight of well-predicted rows
  bool from_logits = false;
  double label_smoothing = 0.0;
  int64_t axis = -1;
  Choice<Reduction> reduction = Reduction::sum_over_batch_size;
  std::string name{};
  PolicyArg dtype{};
};
struct CategoricalFocalArgs {
  Numbers alpha = 0.25; // one for all classes, or one per class
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0.0;
  int64_t axis = -1;
  Choice<Reduction> reduction = Reduction::sum_over_batch_size;
  std::string name{};
  PolicyArg dtype{};
};
struct DiceArgs {
  Choice<Reduction> reduction = Reduction::sum_over_batch_size;
  std::string name{};
  std::optional<Axes> axis{}; // default: all axes
  PolicyArg dtype{};
};
struct TverskyArgs {
  double alpha = 0.5, beta = 0.5; // the weights of false negatives and false positives
  Choice<Reduction> reduction = Reduction::sum_over_batch_size;
  std::string name{};
  std::optional<Axes> axis{};
  PolicyArg dtype{};
};
struct CircleArgs {
  double gamma = 80.0, margin = 0.4;
  bool remove_diagonal = true; // excludes the pair of a sample with itself
  Choice<Reduction> reduction = Reduction::sum_over_batch_size;
  std::string name{};
  PolicyArg dtype{};
};
class HALFTONE_API MeanSquaredError : public Loss {
public:
  MeanSquaredError(const LossArgs &args = {});
};
class HALFTONE_API MeanAbsoluteError : public Loss {
public:
  MeanAbsoluteError(const LossArgs &args = {});
};
class HALFTONE_API MeanAbsolutePercentageError : public Loss {
public:
  MeanAbsolutePercentageError(const LossArgs &args = {});
};
class HALFTONE_API MeanSquaredLogarithmicError : public Loss {
public:
  MeanSquaredLogarithmicError(const LossArgs &args = {});
};
/// Quadratic for errors up to `delta`, linear beyond.
class HALFTONE_API Huber : public Loss {
public:
  Huber(double delta = 1.0, const LossArgs &args = {});
};
class HALFTONE_API LogCosh : public Loss {
public:
  LogCosh(const LossArgs &args = {});
};
class HALFTONE_API Poisson : public Loss {
public:
  Poisson(const LossArgs &args = {});
};
/// Targets are -1 and 1; if all targets are 0 or 1, 0 is converted to -1. The same holds for SquaredHinge.
class HALFTONE_API Hinge : public Loss {
public:
  Hinge(const LossArgs &args = {});
};
class HALFTONE_API SquaredHinge : public Loss {
public:
  SquaredHinge(const LossArgs &args = {});
};
/// Targets are one-hot.
class HALFTONE_API CategoricalHinge : public Loss {
public:
  CategoricalHinge(const LossArgs &args = {});
};
class HALFTONE_API KLDivergence : public Loss {
public:
  KLDivergence(const LossArgs &args = {});
};
/// The negative cosine of the angle between target and prediction; 0 if either is all zeros.
class HALFTONE_API CosineSimilarity : public Loss {
public:
  CosineSimilarity(int64_t axis = -1, const LossArgs &args = {});
};
class HALFTONE_API BinaryCrossentropy : public Loss {
public:
  BinaryCrossentropy(const CrossentropyArgs &args = {});
};
class HALFTONE_API CategoricalCrossentropy : public Loss {
public:
  CategoricalCrossentropy(const CrossentropyArgs &args = {});
};
/// Targets are class indices; integers are not cast. A label outside of [0, classes) other than `ignore_class` is a
/// value_error if the call has data (fit, evaluate, Tensors). Inside a jit function the loss and the gradient of its
/// row are NaN.
class HALFTONE_API SparseCategoricalCrossentropy : public Loss {
public:
  SparseCategoricalCrossentropy(const SparseCrossentropyArgs &args = {});
};
/// The crossentropy of probabilities (of logits with from_logits), times (1 - p)^gamma, where p is the probability of
/// the target. The categorical loss weights each class by alpha, the binary loss only with `apply_class_balancing`.
class HALFTONE_API BinaryFocalCrossentropy : public Loss {
public:
  BinaryFocalCrossentropy(const BinaryFocalArgs &args = {});
};
class HALFTONE_API CategoricalFocalCrossentropy : public Loss {
public:
  CategoricalFocalCrossentropy(const CategoricalFocalArgs &args = {});
};
/// (1 - p^q) / q, where p is the probability of the target class, for class indices (batch,) and probabilities (batch,
/// classes). Labels as for SparseCategoricalCrossentropy. value_error unless 0 < q < 1.
class HALFTONE_API CategoricalGeneralizedCrossEntropy : public Loss {
public:
  CategoricalGeneralizedCrossEntropy(double q = 0.5, const LossArgs &args = {});
};
/// 1 - 2 * sum(t p) / (sum(t) + sum(p) + config::epsilon()), with sums over `axis`.
class HALFTONE_API Dice : public Loss {
public:
  Dice(const DiceArgs &args = {});
};
/// 1 - s / (s + alpha * sum(t (1 - p)) + beta * sum(p (1 - t)) + config::epsilon()) with s = sum(t p) and sums over
/// `axis`.
class HALFTONE_API Tversky : public Loss {
public:
  Tversky(const TverskyArgs &args = {});
};
/// Metric learning on normalized predictions (batch, features) with class indices (batch,): rows of one class attract
/// each other, rows of different classes repel. A mean excludes rows whose loss is 0.
class HALFTONE_API Circle : public Loss {
public:
  Circle(const CircleArgs &args = {});
};
// The formulas as functions, without a reduction: one loss per sample, in the float dtype of the predictions. Arguments
// as in Keras.
HALFTONE_API Value mean_squared_error(const Value &y_true, const Value &y_pred);
HALFTONE_API Value mean_absolute_error(const Value &y_true, const Value &y_pred);
HALFTONE_API Value mean_absolute_percentage_error(const Value &y_true, const Value &y_pred);
HALFTONE_API Value mean_squared_logarithmic_error(const Value &y_true, const Value &y_pred);
HALFTONE_API Value huber(const Value &y_true, const Value &y_pred, double delta = 1.0);
HALFTONE_API Value log_cosh(const Value &y_true, const Value &y_pred);
HALFTONE_API Value poisson(const Value &y_true, const Value &y_pred);
HALFTONE_API Value hinge(const Value &y_true, const Value &y_pred);
HALFTONE_API Value squared_hinge(const Value &y_true, const Value &y_pred);
HALFTONE_API Value categorical_hinge(const Value &y_true, const Value &y_pred);
HALFTONE_API Value kl_divergence(const Value &y_true, const Value &y_pred);
HALFTONE_API Value cosine_similarity(const Value &y_true, const Value &y_pred, int64_t axis = -1);
HALFTONE_API Value binary_crossentropy(const Value &y_true, const Value &y_pred, bool from_logits = false,
                                       double label_smoothing = 0.0, int64_t axis = -1);
HALFTONE_API Value categorical_crossentropy(const Value &y_true, const Value &y_pred, bool from_logits = false,
                                            double label_smoothing = 0.0, int64_t axis = -1);
HALFTONE_API Value sparse_categorical_crossentropy(const Value &y_true, const Value &y_pred, bool from_logits = false,
                                                   std::optional<int64_t> ignore_class = {}, int64_t axis = -1);
HALFTONE_API Value dice(const Value &y_true, const Value &y_pred, const Axes &axis = {});
HALFTONE_API Value tversky(const Value &y_true, const Value &y_pred, double alpha = 0.5, double beta = 0.5,
                           const Axes &axis = {});
/// {"module", "class_name", "config", "registered_name"}, as Keras saves a loss. value_error for an unregistered
/// function. deserialize() throws value_error for an unknown class or argument.
HALFTONE_API Config serialize(const Loss &loss);
HALFTONE_API Loss deserialize(const Config &config);
} // namespace losses
} // namespace halftone
