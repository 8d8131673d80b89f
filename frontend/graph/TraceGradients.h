// Which traced values are the gradients of variables that a gradient replaces.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Value.h"
#include <vector>

namespace halftone::detail {

/// For each of `values`, whether it is a gradient, as gradients() of the current trace gave it, of a variable whose updates
/// replace its value (UpdateKind::overwrite). Such a gradient is the variable's next value, which no loss scale has multiplied.
std::vector<bool> areReplacements(const std::vector<Value> &values);

} // namespace halftone::detail
