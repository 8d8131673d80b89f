// The bytes of tensors, for the rooms that read and write them by dtype at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include <cstddef>

namespace halftone {

/// Host tensors only. These functions check nothing: the caller makes sure that the tensor is defined and that indices
/// and sizes are right.
struct TensorAccess {
  static const std::byte *data(const Tensor &tensor);
  /// Writes are seen by every handle that shares the storage.
  static std::byte *mutableData(const Tensor &tensor);
  static int64_t bytes(const Tensor &tensor);
  static const Shape &shape(const Tensor &tensor);

  /// A new tensor, aligned to 64 bytes, contents undefined. Throws as Tensor::zeros.
  static Tensor allocate(DType dtype, Shape shape);
  /// A tensor over memory that `owner` keeps alive. The memory must hold `shape` of `dtype` and be aligned to its
  /// elements.
  static Tensor wrap(std::shared_ptr<void> owner, std::byte *data, DType dtype, Shape shape);

  /// The tensors of `list`. `names` has a name for each of them, or is empty.
  static Tensors named(std::vector<Tensor> list, std::vector<std::string> names);
};

} // namespace halftone
