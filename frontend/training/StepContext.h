// Steps of models whose struct has train_step(), test_step() or compute_loss().
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/training/Trainer.h"
#include "halftone/Training.h"
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

/// Whether the struct of a model has one of the three. Then its targets and weights are fed as they are given, and compile()'s
/// losses and metrics are matched to the outputs that the step gives them.
bool hasHooks(const LayerImpl &layer);

/// Records the step of the train or test program: the hook for it, else the model's call, the loss and the metrics, and for
/// training the update. Returns the loss, if there is one, and the logged metrics. Needs requireRecord().
std::vector<CompiledFunction::Named> recordStep(LayerImpl &layer, CompiledModel &compiled, bool isTraining,
                                                const std::vector<Value> &feeds, const FeedLayout &layout);
/// The same without updates. Returns the losses that the step minimizes, what it reports and its loss.
std::vector<CompiledFunction::Named> recordLosses(LayerImpl &layer, CompiledModel &compiled, bool isTraining,
                                                  const std::vector<Value> &feeds, const FeedLayout &layout);
/// Finds by a trace what the steps of the program log, unless it is known. The types are those of the feeds. value_error for a
/// step that cannot be recorded.
std::shared_ptr<const StepRecord> requireRecord(const Layer &model, CompiledModel &compiled, bool isTraining,
                                                const std::vector<TensorType> &types, const FeedLayout &layout);

/// What the steps of both programs log, by name, as far as they are known.
std::shared_ptr<const LoggedMetrics> loggedSteps(const CompiledModel &compiled);

} // namespace halftone::detail
