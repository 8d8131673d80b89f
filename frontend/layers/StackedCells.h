// Cells one above the other: how their states lie in one list.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/Cells.h"
#include "runtime/base/ConfigAccess.h"

namespace halftone::detail {

/// The place among the states of `cell` of the one that stands for the output of the step before: the first of the last cell.
size_t placeOfOutput(const Layer &cell);
/// The states as Keras nests them, of places from `first` on: {"input": 1} for each, and for stacked cells a list of the states of
/// each cell.
nlohmann::ordered_json nestedStates(const Layer &cell, size_t first);
/// The arguments of a call of a cell on an input and its states, as Keras has them.
Config cellArguments(const Layer &cell);

} // namespace halftone::detail
