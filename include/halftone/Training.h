// The arguments of the optional hooks train_step(), test_step() and compute_loss() of a user's model.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Value.h"
#include <string>
#include <vector>

namespace halftone {
class Model;
class Optimizer;
class Metric;
/// A symbolic batch: x in the order of the model's inputs; y and sample_weight in the order in which fit() got them,
/// or, if they are named, in that of the outputs. y and sample_weight may be empty; one weight may serve all targets.
struct StepData {
  Values x{};
  Values y{};
  Values sample_weight{};
};
/// Access to the parts of the built-in step while a hook is traced into the program of the step. It is valid only while
/// the hook runs. Layers that the hook calls inherit its `training`, and become layers of the model. The logs hold the
/// values of report(), the metrics of compile() if they are updated, and as "loss" the last loss of minimize() or
/// gradients(), or else that of compute_loss(). All steps of one program must log the same names: value_error
/// otherwise. In a run of several processes losses and reported values are means over the rows of this process; the
/// library combines them into means over all rows.
class HALFTONE_API StepContext {
public:
  bool training() const;
  Values call(const Values &x) const; // the model on x, with this step's `training`
  /// The weighted sum of the losses of compile(), plus the losses of layers and regularizers so far. value_error if
  /// there are none, and if the number of targets, weights or predictions does not match the lists of compile().
  Value compute_loss(const StepData &data, const Values &y_pred) const;
  /// Applies the optimizer of compile(): scales the loss, differentiates it, and updates the model's trainable
  /// variables. In a run of several processes only minimize() and apply() may update; minimize() of another optimizer
  /// is a not_implemented_error there. value_error for a loss that is not a scalar, and while the model is evaluated;
  /// type_error for a loss that is not a float.
  void minimize(const Value &loss) const;
  /// The two halves of minimize(): gradients() differentiates the loss with respect to the model's trainable variables,
  /// unscales the gradients and combines those of all processes; apply() updates the variables.
  std::vector<Value> gradients(const Value &loss) const;
  void apply(const std::vector<Value> &gradients) const;
  void update_metrics(const StepData &data, const Values &y_pred) const; // those of compile()
  /// Adds a scalar to the logs, which average it over the rows of an epoch, as they do the loss. value_error for a
  /// value that is not a scalar, and for a name that another log has; "loss" is available in train_step() and
  /// test_step().
  void report(const std::string &name, const Value &scalar) const;
  Model model() const;
  Optimizer optimizer() const;
  struct Rep;
  explicit StepContext(Rep &rep) : rep_(rep) {}

private:
  Rep &rep_;
};
} // namespace halftone
