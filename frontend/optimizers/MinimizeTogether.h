// One update of variables by all processes that share a batch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Optimizers.h"
#include <vector>

namespace halftone::detail {

/// Records Optimizer::minimize() of the loss that meanOverProcesses() gives.
void minimizeTogether(const Optimizer &optimizer, const Value &loss, const std::vector<Variable> &variables);

} // namespace halftone::detail
