// The devices that hold tensors and run plans.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Version.h"
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {
class HALFTONE_API Device {
public:
  enum class Kind : uint8_t { cpu, cuda };
  static Device cpu();
  static Device cuda(int64_t index = 0);                    // device_error with the driver's reason if there is none
  static std::optional<Device> find(std::string_view spec); // "cpu", "cuda", "cuda:1"; nullopt if there is none
  static std::vector<Device> list();
  Kind kind() const { return kind_; }
  int index() const { return index_; }
  std::string str() const;         // "cuda:0"
  std::string description() const; // "NVIDIA H200, sm_90, 139 GiB"
  friend bool operator==(const Device &, const Device &) = default;

private:
  Device(Kind kind, int index) : kind_(kind), index_(index) {}
  Kind kind_ = Kind::cpu;
  int index_ = 0;
};
HALFTONE_API Device default_device(); // per thread; initially HALFTONE_DEVICE, or else the CPU
HALFTONE_API void set_default_device(Device device);
class HALFTONE_API DeviceScope {
public:
  [[nodiscard]] explicit DeviceScope(Device device);
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;

private:
  Device saved_;
};
HALFTONE_API std::ostream &operator<<(std::ostream &os, const Device &device); // str()
} // namespace halftone
