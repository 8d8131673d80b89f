// Raw access to tensor data, for libraries that dispatch on the dtype at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halftone {

class DeviceRuntime;

/// These functions check only the errors that their comments name. The caller ensures that the tensor is defined and
/// that indices and byte counts are valid.
struct TensorAccess {
  /// The tensor's host data. device_error for a tensor in another device's memory, type_error for a string tensor.
  static const std::byte *data(const Tensor &tensor);
  /// Writes are visible through every handle that shares the storage.
  static std::byte *mutableData(const Tensor &tensor);
  /// The tensor if it is on the host, otherwise a host copy; the caller waits for the download.
  static Tensor onHost(const Tensor &tensor);
  /// A host copy in its own memory; the caller waits for the download.
  static Tensor copy(const Tensor &tensor);
  /// The tensor's device, null for the host, and its address in that device's memory.
  static const std::shared_ptr<DeviceRuntime> &device(const Tensor &tensor);
  static std::byte *address(const Tensor &tensor);
  /// setSubmission() records the device submission that produces the value. isReady() returns true if that submission
  /// has completed, so that a read does not wait for it.
  static void setSubmission(const Tensor &tensor, uint64_t submission);
  static bool isReady(const Tensor &tensor);
  static int64_t bytes(const Tensor &tensor); // type_error for a string tensor
  static const Shape &shape(const Tensor &tensor);

  /// A new tensor, aligned to 64 bytes, with undefined contents. Throws as Tensor::zeros.
  static Tensor allocate(DType dtype, Shape shape);
  /// A string tensor. value_error if the shape has another element count.
  static Tensor ofStrings(std::vector<std::string> strings, Shape shape);
  /// The elements of a string tensor; type_error for any other dtype.
  static std::span<const std::string> strings(const Tensor &tensor);
  /// A tensor over memory that `owner` keeps alive, on `device` or, if null, on the host. The memory must hold `shape`
  /// elements of `dtype` and be aligned to the element size.
  static Tensor wrap(std::shared_ptr<void> owner, std::byte *data, DType dtype, Shape shape,
                     std::shared_ptr<DeviceRuntime> device = {});
  /// A tensor of `shape` that is a view of the elements of `tensor` from `first` on, which must exist.
  static Tensor view(const Tensor &tensor, int64_t first, Shape shape);
  /// The tensor in the memory of `device` (null: the host): the same tensor if it is already there, otherwise a copy.
  static Tensor on(const std::shared_ptr<DeviceRuntime> &device, const Tensor &tensor);

  /// The tensors of `list`. `names` has one name per tensor, or is empty.
  static Tensors named(std::vector<Tensor> list, std::vector<std::string> names);
};

} // namespace halftone
