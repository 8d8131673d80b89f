// class_weight as one weight per sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Model.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace halftone::detail {

using ClassWeights = std::vector<std::pair<int64_t, double>>;

/// y as a list in the order of the model's outputs.
std::vector<Tensor> targetsInOrder(const Layer &model, const Tensors &y);

/// `batch` with weights by the class of each sample; as it is when there are no class weights. Of several outputs those
/// with integer targets are weighed. value_error when the batch has weights of its own.
Batch weighedByClass(const Layer &model, Batch batch, const ClassWeights &classWeight);

} // namespace halftone::detail
