// Turns class_weight into one weight per sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Model.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace halftone::detail {

using ClassWeights = std::vector<std::pair<int64_t, double>>;

/// `batch` with sample weights by the class of each sample, under the names of its targets; without class weights `batch`
/// itself. Of several targets, those with integers get weights. value_error when the batch has sample weights of its own, and
/// for a class that is given twice.
Batch weighedByClass(const Layer &model, Batch batch, const ClassWeights &classWeight);

} // namespace halftone::detail
