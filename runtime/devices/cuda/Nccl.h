// NCCL, NVIDIA's library of collectives between GPUs, loaded at run time: its functions and its error texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include "runtime/devices/cuda/NcclTypes.h"
#include <memory>
#include <string>

namespace halftone::cuda {

/// A loaded library. It is never closed, since its threads run until the process ends.
class Nccl {
public:
  /// The process's library: $HALFTONE_NCCL, or libnccl.so.2. The first successful call opens it for good. runtime_error
  /// with the reason if there is none, if it is too old, or if it is another library.
  static StatusOr<std::shared_ptr<const Nccl>> shared();
  /// Opens the library in the file of that name. Errors as shared().
  static StatusOr<std::shared_ptr<const Nccl>> open(const std::string &file);

  const nccl::Functions &calls() const { return calls_; }
  /// "2.21.5".
  std::string version() const;
  /// Returns success, or runtime_error "NCCL: <doing>: <its text>: <its last error>". `comm` may be null.
  Status check(nccl::Result result, std::string_view action, nccl::Comm comm) const;

private:
  Nccl() = default;
  nccl::Functions calls_{};
  int version_ = 0;
};

} // namespace halftone::cuda
