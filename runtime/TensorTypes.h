// Conversions between tensors and the types of plans.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include "runtime/base/Status.h"
#include "runtime/plan/Signature.h"
#include <span>
#include <vector>

namespace halftone {

/// The tensor must be defined.
TensorType typeOf(const Tensor &tensor);
std::vector<TensorType> typesOf(std::span<const Tensor> tensors);
bool isOfType(const Tensor &tensor, const TensorType &type);

/// A new tensor, aligned to bufferAlignment, with undefined contents. type_error for a dtype that tensors do not hold;
/// device_error, with the size in bytes, if out of memory.
StatusOr<Tensor> makeTensor(const TensorType &type);

} // namespace halftone
