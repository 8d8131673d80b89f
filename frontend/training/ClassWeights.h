// Turns class_weight into one weight per sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Model.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace halftone::detail {

using ClassWeights = std::vector<std::pair<int64_t, double>>;

/// The tensors of y in the order of the model's outputs.
std::vector<Tensor> targetsInOrder(const Layer &model, const Tensors &y);

/// `batch` with sample weights by the class of each sample; without class weights `batch` itself. Of several outputs,
/// those with integer targets get weights. value_error when the batch has sample weights of its own.
Batch weighedByClass(const Layer &model, Batch batch, const ClassWeights &classWeight);

} // namespace halftone::detail
