// Access to the bytes of tensors, for the rooms that read and write them by dtype at run time.
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

/// These functions check only the errors that their comments name. The caller makes sure that the tensor is defined and
/// that indices and byte counts are right.
struct TensorAccess {
  /// The tensor's bytes on the host; device_error for a tensor in another device's memory, type_error for one of strings.
  static const std::byte *data(const Tensor &tensor);
  /// Every handle that shares the storage sees the writes.
  static std::byte *mutableData(const Tensor &tensor);
  /// The tensor, or a copy of it on the host; the caller waits for the download.
  static Tensor onHost(const Tensor &tensor);
  /// A copy on the host, in memory of its own; the caller waits for the download.
  static Tensor copy(const Tensor &tensor);
  /// The tensor's device, null for the host; and its address in that device's memory.
  static const std::shared_ptr<DeviceRuntime> &device(const Tensor &tensor);
  static std::byte *address(const Tensor &tensor);
  /// setSubmission() records which submission of its device makes the value. isReady() is true if that submission has
  /// run: a read then does not wait for it.
  static void setSubmission(const Tensor &tensor, uint64_t submission);
  static bool isReady(const Tensor &tensor);
  static int64_t bytes(const Tensor &tensor); // type_error for a tensor of strings
  static const Shape &shape(const Tensor &tensor);

  /// A new tensor, aligned to 64 bytes, with undefined contents. Throws as Tensor::zeros.
  static Tensor allocate(DType dtype, Shape shape);
  /// A tensor of strings; value_error if the shape has another count of elements.
  static Tensor ofStrings(std::vector<std::string> strings, Shape shape);
  /// Its elements; type_error for a tensor of another dtype.
  static std::span<const std::string> strings(const Tensor &tensor);
  /// A tensor over memory that `owner` keeps alive: memory of `device`, or of the host if that is null. The memory must
  /// hold `shape` of `dtype` and be aligned to its elements.
  static Tensor wrap(std::shared_ptr<void> owner, std::byte *data, DType dtype, Shape shape,
                     std::shared_ptr<DeviceRuntime> device = {});
  /// A tensor of `shape` over the elements of `tensor` from `first` on; the tensor must have them.
  static Tensor view(const Tensor &tensor, int64_t first, Shape shape);
  /// The tensor in the memory of `device` (null: the host): the same one if it is there already, else a copy.
  static Tensor on(const std::shared_ptr<DeviceRuntime> &device, const Tensor &tensor);

  /// The tensors of `list`. `names` has a name for each of them, or is empty.
  static Tensors named(std::vector<Tensor> list, std::vector<std::string> names);
};

} // namespace halftone
