// A pass over data that trains nothing, and its end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/training/BatchStep.h"
#include "frontend/training/CallbackList.h"

namespace halftone::detail {

/// The metrics of a pass over `batches`. value_error if there are none.
Logs runTest(const Run &run, const BatchSource &batches, EpochReader reader, CallbackList &callbacks);

/// value_error if the epoch had no batch.
void requireBatches(const EpochReader::Epoch &epoch);
/// A warning if the data ended before the epoch did; `what` is the word for the interrupted pass.
void warnWhenOut(const EpochReader::Epoch &epoch, const EpochReader &reader, const char *what);
/// value_error: a dataset brings its own sample weights.
[[noreturn]] void refuseWeights(const Model &model);

} // namespace halftone::detail
