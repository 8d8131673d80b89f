// The built-in steps and loss of a model, written out as hooks of a struct, for comparisons with the built-in ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Model.h"
#include <vector>

namespace halftone::test {

template <class Net> struct BuiltInTrainStep : Net {
  void train_step(const StepContext &step, const StepData &data) const {
    const Values predicted = step.call(data.x);
    step.minimize(step.compute_loss(data, predicted));
    step.update_metrics(data, predicted);
  }
};
/// Calls the two parts of minimize() separately.
template <class Net> struct BuiltInTrainStepByParts : Net {
  void train_step(const StepContext &step, const StepData &data) const {
    const Values predicted = step.call(data.x);
    step.apply(step.gradients(step.compute_loss(data, predicted)));
    step.update_metrics(data, predicted);
  }
};
template <class Net> struct BuiltInTestStep : Net {
  void test_step(const StepContext &step, const StepData &data) const {
    const Values predicted = step.call(data.x);
    (void)step.compute_loss(data, predicted);
    step.update_metrics(data, predicted);
  }
};
template <class Net> struct BuiltInLoss : Net {
  Value compute_loss(const StepContext &step, const StepData &data, const Values &predicted) const {
    return step.compute_loss(data, predicted);
  }
};

} // namespace halftone::test
