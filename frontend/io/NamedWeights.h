// Finds the values of weights in a file that names and arranges them in another way.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/SavedVariables.h"
#include "halftone/Model.h"
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

/// The value of each variable, undefined where the file has none that fits; and the problems, as texts.
using FileValues = std::pair<std::vector<Tensor>, std::vector<std::string>>;

/// The values that `names`, by the variables' names, find in the file, with their axes in the variables' order. Tensors that no
/// entry names are no problem.
FileValues valuesByNames(const Safetensors &contents, const std::vector<SavedVariable> &variables,
                         const std::vector<std::pair<std::string, SavedTensor>> &names);

} // namespace halftone::detail
