// x[key], and the representation of keys in Keras files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Value.h"
#include "runtime/base/KeyRanges.h"
#include <nlohmann/json.hpp>

namespace halftone::detail {

/// Reads one item or a list of items: an integer, a slice, an ellipsis, or null for a new axis. not_implemented_error
/// for other items.
std::vector<Index> keyOf(const nlohmann::ordered_json &key);
/// A single index becomes an integer and any other key a list, since Keras's GetItem refuses a bare slice.
nlohmann::ordered_json jsonOf(std::span<const Index> key);

/// The elements that a key selects from a Value of a trace. While shapes are inferred, any index is in range for an
/// axis whose extent stands for None.
KeyRanges rangesOf(std::span<const Index> key, const Value &x);
/// The selected elements of a Value of a trace.
Value elementsAt(const Value &x, const std::vector<AxisRange> &axes);
/// x[key]; `x` is a Value of a trace.
Value getItem(const Value &x, std::span<const Index> key);

} // namespace halftone::detail
