// Between tensors and the types that plans speak of.
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

/// Aligned to bufferAlignment, contents undefined. type_error for a dtype that no tensor holds; device_error, with the
/// size, when memory runs out.
StatusOr<Tensor> makeTensor(const TensorType &type);

} // namespace halftone
