// What the optional train_step(), test_step() and compute_loss() of a user's model get.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Value.h"
#include <string>
#include <vector>

namespace halftone {
class Model;
class Optimizer;
class Metric;
/// A batch, as symbols: x in the order of the model's inputs; y and sample_weight in the order in which fit() got them, or, if they
/// had names, in that of the outputs. Both may be empty; one weight may serve all targets.
struct StepData {
  Values x{};
  Values y{};
  Values sample_weight{};
};
/// The parts of the built-in step, traced into the one program of the step; it is valid while the hook runs. Layers that are called
/// while it is traced have its `training`, and become layers of the model. The logs have what report() got, compile()'s metrics if
/// they were updated, and as "loss" the last loss of minimize() or gradients(), else that of compute_loss(). All steps of one
/// program log the same names: value_error for one that does not. In a run of several processes losses and reported values are
/// means over the rows of this process, of which the library makes those of all rows.
class HALFTONE_API StepContext {
public:
  bool training() const;
  Values call(const Values &x) const; // the model on x, with this step's `training`
  /// compile()'s losses with their weights, and the losses of layers and regularizers so far. value_error if there are none, and
  /// for counts of targets, weights and predictions that do not fit compile()'s lists.
  Value compute_loss(const StepData &data, const Values &y_pred) const;
  /// compile()'s optimizer: scales the loss, differentiates, updates the model's trainable variables. In a run of several
  /// processes only this and apply() update; another optimizer's minimize() is not_implemented_error there. value_error for a
  /// loss that is no scalar, and while the model is evaluated; type_error for one that is no float.
  void minimize(const Value &loss) const;
  /// The two parts of minimize(): the gradients by the model's trainable variables, unscaled and of all processes; and the
  /// update by them.
  std::vector<Value> gradients(const Value &loss) const;
  void apply(const std::vector<Value> &gradients) const;
  void update_metrics(const StepData &data, const Values &y_pred) const; // compile()'s
  /// A scalar for the logs, which average it over the rows of an epoch, as the loss. value_error for one that is no scalar, and
  /// for a name that another value of the logs has; "loss" is free in train_step() and test_step().
  void report(const std::string &name, const Value &scalar) const;
  Model model() const;
  Optimizer optimizer() const;
  struct Rep;
  explicit StepContext(Rep &rep) : rep_(rep) {}

private:
  Rep &rep_;
};
} // namespace halftone
