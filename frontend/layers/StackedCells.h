// Stacked cells: the layout of their states in one list.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/Cells.h"
#include "runtime/base/ConfigAccess.h"

namespace halftone::detail {

/// The index, among the states of `cell`, of the state that holds the previous output: the first state of the last
/// cell.
size_t indexOfOutput(const Layer &cell);
/// The states in Keras's nesting, with indices from `first` on: {"input": 1} for each, and for stacked cells a list per
/// cell.
nlohmann::ordered_json nestedStates(const Layer &cell, size_t first);
/// The arguments of a call of a cell on an input and its states, in Keras's form.
Config cellArguments(const Layer &cell);

} // namespace halftone::detail
