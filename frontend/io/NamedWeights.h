// Finds weights in a file that uses other names and axis orders.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/SavedVariables.h"
#include "halftone/Model.h"
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

/// The value of each variable, undefined if the file has no matching one, and the problems as text.
using FileValues = std::pair<std::vector<Tensor>, std::vector<std::string>>;

/// The values of `variables`, looked up in the file through `names` (variable name to tensor) and transposed to the
/// variables' axis order. Tensors that no entry names are not a problem.
FileValues valuesByNames(const Safetensors &contents, const std::vector<SavedVariable> &variables,
                         const std::vector<std::pair<std::string, SavedTensor>> &names);

} // namespace halftone::detail
