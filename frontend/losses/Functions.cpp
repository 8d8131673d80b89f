// Losses as functions: the formulas without a reduction, and the losses that such functions denote.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/losses/LossImpl.h"
#include "frontend/ops/Operations.h"
#include <algorithm>

namespace halftone {
using namespace detail;

/// Computes the formula in the float dtype of the predictions, as in Keras.
static Value formulaOf(const Loss &loss, const Value &yTrue, const Value &yPred) {
  return applyOne(loss.impl()->name, {yTrue, yPred}, [impl = loss.impl()](const std::vector<Value> &v) {
    return lossEntries(*impl, v[0], v[1], floatOf(v[1].dtype())).values;
  });
}

namespace losses {

Value mean_squared_error(const Value &y_true, const Value &y_pred) {
  return formulaOf(MeanSquaredError(), y_true, y_pred);
}
Value mean_absolute_error(const Value &y_true, const Value &y_pred) {
  return formulaOf(MeanAbsoluteError(), y_true, y_pred);
}
Value mean_absolute_percentage_error(const Value &y_true, const Value &y_pred) {
  return formulaOf(MeanAbsolutePercentageError(), y_true, y_pred);
}
Value mean_squared_logarithmic_error(const Value &y_true, const Value &y_pred) {
  return formulaOf(MeanSquaredLogarithmicError(), y_true, y_pred);
}
Value log_cosh(const Value &y_true, const Value &y_pred) { return formulaOf(LogCosh(), y_true, y_pred); }
Value poisson(const Value &y_true, const Value &y_pred) { return formulaOf(Poisson(), y_true, y_pred); }
Value hinge(const Value &y_true, const Value &y_pred) { return formulaOf(Hinge(), y_true, y_pred); }
Value squared_hinge(const Value &y_true, const Value &y_pred) { return formulaOf(SquaredHinge(), y_true, y_pred); }
Value categorical_hinge(const Value &y_true, const Value &y_pred) {
  return formulaOf(CategoricalHinge(), y_true, y_pred);
}
Value kl_divergence(const Value &y_true, const Value &y_pred) { return formulaOf(KLDivergence(), y_true, y_pred); }
Value huber(const Value &y_true, const Value &y_pred, double delta) { return formulaOf(Huber(delta), y_true, y_pred); }
Value cosine_similarity(const Value &y_true, const Value &y_pred, int64_t axis) {
  return formulaOf(CosineSimilarity(axis), y_true, y_pred);
}
Value binary_crossentropy(const Value &y_true, const Value &y_pred, bool from_logits, double label_smoothing,
                          int64_t axis) {
  return formulaOf(BinaryCrossentropy({.from_logits = from_logits, .label_smoothing = label_smoothing, .axis = axis}),
                   y_true, y_pred);
}
Value categorical_crossentropy(const Value &y_true, const Value &y_pred, bool from_logits, double label_smoothing,
                               int64_t axis) {
  return formulaOf(
      CategoricalCrossentropy({.from_logits = from_logits, .label_smoothing = label_smoothing, .axis = axis}), y_true,
      y_pred);
}
Value sparse_categorical_crossentropy(const Value &y_true, const Value &y_pred, bool from_logits,
                                      std::optional<int64_t> ignore_class, int64_t axis) {
  return formulaOf(
      SparseCategoricalCrossentropy({.from_logits = from_logits, .ignore_class = ignore_class, .axis = axis}), y_true,
      y_pred);
}
static std::optional<Axes> axesOrAll(const Axes &axis) {
  return axis.list().empty() ? std::nullopt : std::optional(axis);
}
Value dice(const Value &y_true, const Value &y_pred, const Axes &axis) {
  return formulaOf(Dice({.axis = axesOrAll(axis)}), y_true, y_pred);
}
Value tversky(const Value &y_true, const Value &y_pred, double alpha, double beta, const Axes &axis) {
  return formulaOf(Tversky({.alpha = alpha, .beta = beta, .axis = axesOrAll(axis)}), y_true, y_pred);
}

} // namespace losses

using Plain = Value (*)(const Value &, const Value &);

/// The loss with the formula `f`; undefined for a user function.
static Loss lossOfFunction(Plain f, const LossArgs &args) {
  struct Named {
    Plain function;
    Loss (*make)(const LossArgs &);
  };
  static constexpr Named all[] = {
      {losses::mean_squared_error, [](const LossArgs &args) -> Loss { return losses::MeanSquaredError(args); }},
      {losses::mean_absolute_error, [](const LossArgs &args) -> Loss { return losses::MeanAbsoluteError(args); }},
      {losses::mean_absolute_percentage_error,
       [](const LossArgs &args) -> Loss { return losses::MeanAbsolutePercentageError(args); }},
      {losses::mean_squared_logarithmic_error,
       [](const LossArgs &args) -> Loss { return losses::MeanSquaredLogarithmicError(args); }},
      {losses::log_cosh, [](const LossArgs &args) -> Loss { return losses::LogCosh(args); }},
      {losses::poisson, [](const LossArgs &args) -> Loss { return losses::Poisson(args); }},
      {losses::hinge, [](const LossArgs &args) -> Loss { return losses::Hinge(args); }},
      {losses::squared_hinge, [](const LossArgs &args) -> Loss { return losses::SquaredHinge(args); }},
      {losses::categorical_hinge, [](const LossArgs &args) -> Loss { return losses::CategoricalHinge(args); }},
      {losses::kl_divergence, [](const LossArgs &args) -> Loss { return losses::KLDivergence(args); }},
  };
  const auto found = std::ranges::find(all, f, &Named::function);
  return found == std::end(all) ? Loss() : found->make(args);
}

Loss::Loss(Plain f, const LossArgs &args) : Loss(lossOfFunction(f, args)) {
  if (defined())
    return;
  const std::shared_ptr<LossImpl> impl = lossOfUser(f, args);
  impl->pointer = f;
  impl_ = impl;
}

} // namespace halftone
