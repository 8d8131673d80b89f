// Between tensors and the types that plans speak of.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include "runtime/base/Status.h"
#include "runtime/plan/Signature.h"

namespace halftone {

/// The tensor must be defined.
TensorType typeOf(const Tensor &tensor);

/// Aligned to bufferAlignment, contents undefined. type_error for a dtype that tensors do not hold; device_error, with
/// the size, when memory runs out.
StatusOr<Tensor> makeTensor(const TensorType &type);

} // namespace halftone
