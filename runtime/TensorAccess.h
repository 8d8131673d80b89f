// The bytes of tensors, for the rooms that read and write them by dtype at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include <cstddef>
#include <cstdint>

namespace halftone {

class DeviceRuntime;

/// These functions check no more than they say: the caller makes sure that the tensor is defined and that indices and
/// sizes are right.
struct TensorAccess {
  /// On the host; device_error for a tensor that lives elsewhere.
  static const std::byte *data(const Tensor &tensor);
  /// Writes are seen by every handle that shares the storage.
  static std::byte *mutableData(const Tensor &tensor);
  /// The tensor, or a copy of it on the host: downloaded, which waits.
  static Tensor onHost(const Tensor &tensor);
  /// Where it lives: null for the host, and then an address of the host.
  static const std::shared_ptr<DeviceRuntime> &device(const Tensor &tensor);
  static std::byte *address(const Tensor &tensor);
  /// Says which submission of its device makes the value; whether that has run, so that reading does not wait for it.
  static void setSubmission(const Tensor &tensor, uint64_t submission);
  static bool isReady(const Tensor &tensor);
  static int64_t bytes(const Tensor &tensor);
  static const Shape &shape(const Tensor &tensor);

  /// A new tensor, aligned to 64 bytes, contents undefined. Throws as Tensor::zeros.
  static Tensor allocate(DType dtype, Shape shape);
  /// A tensor over memory that `owner` keeps alive, of a device unless that is null. The memory must hold `shape` of
  /// `dtype` and be aligned to its elements.
  static Tensor wrap(std::shared_ptr<void> owner, std::byte *data, DType dtype, Shape shape,
                     std::shared_ptr<DeviceRuntime> device = {});
  /// The tensor in the memory of that device, null for the host: itself when it is there.
  static Tensor on(const std::shared_ptr<DeviceRuntime> &device, const Tensor &tensor);

  /// The tensors of `list`. `names` has a name for each of them, or is empty.
  static Tensors named(std::vector<Tensor> list, std::vector<std::string> names);
};

} // namespace halftone
