// How processes begin a run together, and how they check that they are in step.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ProcessRun.h"
#include "frontend/training/BatchStep.h"

namespace halftone::detail {

/// The facts of a source in which processes must agree: rows, shapes, dtypes, the size of batches.
void addFacts(const std::string &what, const BatchSource &source, std::vector<Fact> &facts);

/// Compares the library, the model, its policies and `facts` with those of the other processes, and gives the model's
/// variables, those of its optimizer, the seeds and the count of finished epochs the values of rank 0. Does nothing in a
/// process alone. value_error, in all processes, if they do not agree. `compiled` may be null.
void beginTogether(const Layer &model, const CompiledModel *compiled, std::vector<Fact> facts);

/// Compares the kind of the device likewise. Call it before a plan is bound: then the processes' GPUs join.
void requireSameDevices(const CompiledModel &compiled);

/// Compares all weights with those of rank 0. runtime_error, in all processes, that names the first rank and the first
/// variable that differ.
void requireSameWeights(const Layer &model, ProcessGroup &group);

} // namespace halftone::detail
