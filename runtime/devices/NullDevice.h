// A device that records launches instead of computing them, for tests of plans and as a template for new devices.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/HostDevice.h"
#include <mutex>
#include <string>
#include <vector>

namespace halftone {

/// Memory, copies, fills and conditions work as on other devices. Launches are recorded and do not write their results.
class NullDevice final : public HostDevice {
public:
  struct Record {
    std::string kernel;
    int64_t grid = 0;
    std::vector<void *> buffers;
    std::vector<int64_t> extents;
    int64_t scratchBytes = 0;
    bool joined = false; // a part of a launch other than the first
  };
  std::string name() const override { return "null"; }
  std::string description() const override { return "records launches"; }
  /// Returns a library in which find() succeeds for every key; its code is never called.
  StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels) override;
  StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) override;
  /// The launches whose condition held, one record per part in order, since the device was created or since the last
  /// call.
  std::vector<Record> takeRecords();
  void countLaunches(int64_t more) { *launches_ += more; }
  void record(const Launch &launch, bool joined);

private:
  std::mutex mutex_;
  std::vector<Record> records_;
};

} // namespace halftone
