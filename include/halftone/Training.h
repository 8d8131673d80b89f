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
/// A batch, as symbols: in the order of the model's inputs and outputs. y and sample_weight may be empty.
struct StepData {
  Values x{};
  Values y{};
  Values sample_weight{};
};
/// The parts of the built-in step, traced into the one program of the step. Layers that are called while it is traced have
/// its `training`.
class HALFTONE_API StepContext {
public:
  bool training() const;
  Values call(const Values &x) const; // the model on x, with this step's `training`
  /// compile()'s losses with their weights, and the losses of layers and regularizers so far.
  Value compute_loss(const StepData &data, const Values &y_pred) const;
  /// compile()'s optimizer: scales the loss, differentiates, updates the model's trainable variables. In a run of several
  /// processes only this updates; another optimizer's minimize() is not_implemented_error there.
  void minimize(const Value &loss) const;
  /// The two parts of minimize(): the gradients by the model's trainable variables, unscaled and of all processes; and the
  /// update by them.
  std::vector<Value> gradients(const Value &loss) const;
  void apply(const std::vector<Value> &gradients) const;
  void update_metrics(const StepData &data, const Values &y_pred) const; // compile()'s
  /// A scalar for the logs, which average it over the rows of an epoch, as the loss. Compiled metrics are there besides.
  void report(const std::string &name, const Value &scalar) const;
  Model model() const;
  Optimizer optimizer() const;
  struct Rep;
  explicit StepContext(Rep &rep) : rep_(rep) {}

private:
  Rep &rep_;
};
} // namespace halftone
