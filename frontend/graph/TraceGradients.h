// Identifies traced gradients that replace the value of their variable.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Value.h"
#include <vector>

namespace halftone::detail {

/// For each of `values`, whether gradients() of the current trace returned it as the gradient of a variable whose
/// updates replace its value (UpdateKind::overwrite). Such a gradient is the variable's next value, and no loss scale
/// has multiplied it.
std::vector<bool> areReplacements(const std::vector<Value> &values);

} // namespace halftone::detail
