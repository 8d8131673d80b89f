// Conversions between tensors and the plan's types.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/TensorTypes.h"
#include "runtime/TensorAccess.h"
#include <new>

namespace halftone {

TensorType typeOf(const Tensor &tensor) { return {tensor.dtype(), TensorAccess::shape(tensor).dims()}; }

std::vector<TensorType> typesOf(std::span<const Tensor> tensors) {
  std::vector<TensorType> types;
  types.reserve(tensors.size());
  for (const Tensor &tensor : tensors)
    types.push_back(typeOf(tensor));
  return types;
}

bool isOfType(const Tensor &tensor, const TensorType &type) {
  return tensor.dtype() == type.dtype && TensorAccess::shape(tensor).dims() == type.shape;
}

StatusOr<Tensor> makeTensor(const TensorType &type) {
  HALFTONE_RETURN_IF_ERROR(verify(type));
  try {
    return TensorAccess::allocate(type.dtype, Shape(type.shape));
  } catch (const Error &error) {
    return Status(error.kind(), error.message());
  } catch (const std::bad_alloc &) {
    return Status(ErrorKind::device_error, "out of memory: cannot allocate a tensor of type " + type.str());
  }
}

} // namespace halftone
