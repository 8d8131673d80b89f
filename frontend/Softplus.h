// log(1 + e^x) in two parts, for losses that add something between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Value.h"

namespace halftone::detail {

/// softplus(x) = linear + curved: max(x, 0) and log(1 + e^-|x|). Derivatives of any order of the sum are right, at 0
/// too: both parts take the same side of it.
struct SoftplusParts {
  Value linear, curved;
};
SoftplusParts softplusParts(const Value &x);

} // namespace halftone::detail
