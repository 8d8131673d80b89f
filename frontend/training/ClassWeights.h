// Converts class_weight to one weight per sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Model.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace halftone::detail {

using ClassWeights = std::vector<std::pair<int64_t, double>>;

/// `batch` with sample weights by the class of each sample, under the names of its targets; without class weights
/// `batch` itself. If there are several targets, only integer targets get weights. value_error if the batch has its own
/// sample weights or no target with classes, and for a duplicate class.
Batch weighedByClass(const Layer &model, Batch batch, const ClassWeights &classWeight);

} // namespace halftone::detail
