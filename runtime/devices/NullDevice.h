// A device that computes nothing and records what it was asked: for tests of plans, and the start of a new target.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/HostDevice.h"
#include <mutex>
#include <string>
#include <vector>

namespace halftone {

/// Memory, copies, fills and conditions are real; launches are recorded and leave their results as they were.
class NullDevice final : public HostDevice {
public:
  struct Record {
    std::string kernel;
    int64_t grid = 0;
    std::vector<void *> buffers;
    std::vector<int64_t> extents;
    int64_t scratchBytes = 0;
    bool joined = false; // a further part of the launch before
  };
  std::string name() const override { return "null"; }
  std::string description() const override { return "records launches"; }
  /// A library that has every key: nothing is called.
  StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels) override;
  StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) override;
  /// Launches whose condition held, part by part in order, since the device was made or the last call.
  std::vector<Record> takeRecords();
  void countLaunches(int64_t more) { *launches_ += more; }
  void record(const Launch &launch, bool joined);

private:
  std::mutex mutex_;
  std::vector<Record> records_;
};

} // namespace halftone
