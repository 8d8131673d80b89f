// An evaluation pass over data, and its end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/training/BatchStep.h"
#include "frontend/training/CallbackList.h"

namespace halftone::detail {

/// Runs a pass over `batches` and returns its metrics. value_error if there are no batches.
Logs runTest(const Run &run, const BatchSource &batches, EpochReader reader, CallbackList &callbacks);

/// value_error if the epoch had no batch.
void requireBatches(const EpochReader::Epoch &epoch);
/// Warns if the data ended before the epoch did; `what` names the interrupted pass.
void warnWhenOut(const EpochReader::Epoch &epoch, const EpochReader &reader, const char *what);
/// Throws value_error: a dataset provides its own sample weights.
[[noreturn]] void refuseWeights(const Model &model);

} // namespace halftone::detail
