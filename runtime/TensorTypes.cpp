// Between tensors and plan types.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/TensorTypes.h"
#include "runtime/TensorAccess.h"
#include <new>

namespace halftone {

TensorType typeOf(const Tensor &tensor) { return {tensor.dtype(), TensorAccess::shape(tensor).dims()}; }

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
