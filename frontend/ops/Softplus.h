// log(1 + e^x) in two parts, for losses that insert another term between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Value.h"

namespace halftone::detail {

/// softplus(x) = linear + curved: max(x, 0) and log(1 + e^-|x|). The sum has the correct derivatives of any order, also
/// at 0, where both parts use the derivative from the same side.
struct SoftplusParts {
  Value linear, curved;
};
SoftplusParts softplusParts(const Value &x);

} // namespace halftone::detail
