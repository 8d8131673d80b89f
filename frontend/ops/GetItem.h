// x[key] with a key as Keras's files have it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Value.h"
#include <nlohmann/json.hpp>

namespace halftone::detail {

/// `key` is one item or a list of items, as in NumPy: an integer, a slice, an ellipsis, or null for a new axis. `x` is a
/// Value of a trace. value_error for an index outside of its axis or too many items, not_implemented_error for others.
Value getItem(const Value &x, const nlohmann::ordered_json &key);

} // namespace halftone::detail
