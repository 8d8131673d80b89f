// Steps of models whose user struct has train_step(), test_step() or compute_loss().
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/training/Trainer.h"
#include "halftone/Training.h"
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

/// Returns true if the struct of a model has one of these methods. Its targets and weights are then fed as given, and
/// compile()'s losses and metrics are matched to the outputs that the step passes to them.
bool hasHooks(const LayerImpl &layer);

/// Records the step of the train or test program: its hook, or otherwise the model's call, the loss and the metrics,
/// and for training the update. Returns the loss, if there is one, and the logged metrics. Requires requireRecord().
std::vector<CompiledFunction::Named> recordStep(LayerImpl &layer, CompiledModel &compiled, bool isTraining,
                                                const std::vector<Value> &feeds, const FeedLayout &layout);
/// Like recordStep(), without updates. Returns the losses that the step minimizes, its reports and its loss.
std::vector<CompiledFunction::Named> recordLosses(LayerImpl &layer, CompiledModel &compiled, bool isTraining,
                                                  const std::vector<Value> &feeds, const FeedLayout &layout);
/// Determines by a trace what the steps of the program log, unless it is known. The types are those of the feeds.
/// value_error for a step that cannot be recorded.
std::shared_ptr<const StepRecord> requireRecord(const Layer &model, CompiledModel &compiled, bool isTraining,
                                                const std::vector<TensorType> &types, const FeedLayout &layout);

/// The logs of the steps of both programs by name, as far as they are known.
std::shared_ptr<const LoggedMetrics> loggedSteps(const CompiledModel &compiled);

} // namespace halftone::detail
