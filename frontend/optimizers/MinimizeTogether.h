// A joint update of variables by all processes that share a batch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Optimizers.h"
#include <vector>

namespace halftone::detail {

/// Records Optimizer::minimize() for meanOverProcesses() of the loss.
void minimizeTogether(const Optimizer &optimizer, const Value &loss, const std::vector<Variable> &variables);
/// Records the whole gradients of that mean loss, without a loss scale.
std::vector<Value> gradientsTogether(const Optimizer &optimizer, const Value &loss,
                                     const std::vector<Variable> &variables);
/// Records Optimizer::apply() of such gradients, identical in all processes.
void applyTogether(const Optimizer &optimizer, const std::vector<Value> &gradients,
                   const std::vector<Variable> &variables);
/// not_implemented_error if the trace is of a multi-process step in which this optimizer must not update.
void requireMayUpdate(const Optimizer &optimizer);

} // namespace halftone::detail
