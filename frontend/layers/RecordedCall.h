// Calls of layers with the arguments that a file records.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <vector>

namespace halftone::detail {

/// Calls `layer` with the arguments of a CallForm (frontend/graph/Graph.h). not_implemented_error naming an argument that the
/// layer's call does not have here; value_error for arguments that are no call.
std::vector<Value> callAsRecorded(const Layer &layer, const std::vector<Value> &inputs, const Config &arguments);

} // namespace halftone::detail
