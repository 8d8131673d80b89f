// The devices of the process, and the default device of each thread.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/Registry.h"
#include "runtime/base/Environment.h"
#include "runtime/base/ForkGate.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/devices/cuda/CudaDevice.h"
#include <algorithm>
#include <charconv>
#include <climits>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <ostream>
#include <set>

using namespace halftone;

namespace {

/// The devices that addDevice() added, by their index after "cuda:".
struct Added {
  std::mutex mutex;
  std::map<int, std::shared_ptr<DeviceRuntime>> devices;
};
Added &added() {
  static Added &added = *new Added;
  return added;
}
std::shared_ptr<DeviceRuntime> addedAt(int index) {
  const ForkSafeLock lock(added().mutex);
  auto found = added().devices.find(index);
  return found == added().devices.end() ? nullptr : found->second;
}

/// Returns success, or the reason why the library itself finds no usable GPU with that index.
Status checkGpu(int index) {
  const StatusOr<std::shared_ptr<const cuda::Driver>> driver = cuda::Driver::shared();
  HALFTONE_RETURN_IF_ERROR(driver.status());
  return (*driver)->gpu(index).status();
}

/// The GPU of that index, opened at the first call.
StatusOr<std::shared_ptr<DeviceRuntime>> openGpu(int index) {
  static std::mutex mutex;
  static auto &opened = *new std::map<int, std::shared_ptr<DeviceRuntime>>;
  const ForkSafeLock lock(mutex);
  if (auto found = opened.find(index); found != opened.end())
    return found->second;
  StatusOr<std::shared_ptr<const cuda::Driver>> driver = cuda::Driver::shared();
  HALFTONE_RETURN_IF_ERROR(driver.status());
  StatusOr<std::shared_ptr<cuda::CudaDevice>> device = cuda::CudaDevice::open(*std::move(driver), index);
  HALFTONE_RETURN_IF_ERROR(device.status());
  return opened[index] = *std::move(device);
}

/// Parses the index from "", ":0", ":12"; nullopt for other text.
std::optional<int> parseIndex(std::string_view text) {
  if (text.empty())
    return 0;
  int index = -1;
  const char *end = text.data() + text.size();
  if (text[0] != ':' || text.size() < 2 || text[1] == '-')
    return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data() + 1, end, index);
  return error == std::errc() && stop == end ? std::optional<int>(index) : std::nullopt;
}
std::optional<int> cudaIndex(std::string_view spec) {
  return spec.starts_with("cuda") ? parseIndex(spec.substr(4)) : std::nullopt;
}

} // namespace

Device Device::cpu() { return Device(Kind::cpu, 0); }

Device Device::cuda(int64_t index) {
  const auto ordinal = static_cast<int>(std::clamp<int64_t>(index, -1, INT_MAX));
  if (!addedAt(ordinal))
    if (const Status status = checkGpu(ordinal); !status.isOk()) {
      if (isOfEnvironment(status.message()))
        status.orThrow();
      throw Error(ErrorKind::device_error, fmt::format("cuda:{} is not available: {}", index, status.message()));
    }
  return Device(Kind::cuda, ordinal);
}

std::optional<Device> Device::find(std::string_view spec) {
  if (spec.substr(0, 3) == "cpu" && parseIndex(spec.substr(3)) == 0)
    return cpu();
  if (const std::optional<int> index = cudaIndex(spec); index && (addedAt(*index) || checkGpu(*index).isOk()))
    return Device(Kind::cuda, *index);
  return std::nullopt;
}

std::vector<Device> Device::list() {
  std::set<int> indices;
  if (const StatusOr<std::shared_ptr<const cuda::Driver>> driver = cuda::Driver::shared(); driver.isOk())
    for (int index = 0; index < (*driver)->count(); ++index)
      if ((*driver)->gpu(index).isOk())
        indices.insert(index);
  {
    const ForkSafeLock lock(added().mutex);
    for (const auto &[index, runtime] : added().devices)
      indices.insert(index);
  }
  std::vector<Device> devices{cpu()};
  for (const int index : indices)
    devices.push_back(Device(Kind::cuda, index));
  return devices;
}

std::string Device::str() const { return kind_ == Kind::cpu ? "cpu" : fmt::format("cuda:{}", index_); }

std::string Device::description() const {
  return kind_ == Kind::cpu ? cpuDescription() : deviceRuntime(*this).valueOrThrow()->description();
}

static thread_local std::optional<Device> current;

Device halftone::default_device() {
  if (!current) {
    const std::string named = environmentValue("HALFTONE_DEVICE");
    const std::string spec = named.empty() ? "cpu" : named;
    current = Device::find(spec);
    if (const std::optional<int> index = cudaIndex(spec); !current && index) {
      const Status status = checkGpu(*index);
      if (isOfEnvironment(status.message()))
        status.orThrow();
      environmentError(ErrorKind::device_error, "HALFTONE_DEVICE", "a device of this machine: " + status.message())
          .orThrow();
    }
    if (!current)
      environmentError(ErrorKind::value_error, "HALFTONE_DEVICE", "cpu, cuda or cuda:<index>").orThrow();
  }
  return *current;
}

void halftone::set_default_device(Device device) { current = device; }

DeviceScope::DeviceScope(Device device) : saved_(default_device()) { set_default_device(device); }
DeviceScope::~DeviceScope() { set_default_device(saved_); }

StatusOr<std::shared_ptr<DeviceRuntime>> halftone::deviceRuntime(Device device) {
  if (device.kind() == Device::Kind::cpu) {
    StatusOr<std::shared_ptr<CpuDevice>> cpu = sharedCpuDevice();
    HALFTONE_RETURN_IF_ERROR(cpu.status());
    return std::shared_ptr<DeviceRuntime>(*std::move(cpu));
  }
  if (std::shared_ptr<DeviceRuntime> runtime = addedAt(device.index()))
    return runtime;
  return openGpu(device.index());
}

Status halftone::addDevice(std::shared_ptr<DeviceRuntime> runtime) {
  const std::string name = runtime->name();
  const std::optional<int> index = cudaIndex(name);
  if (!index)
    return {ErrorKind::value_error, fmt::format("expected a device called cuda:<index>, got '{}'", name)};
  const ForkSafeLock lock(added().mutex);
  if (!added().devices.try_emplace(*index, std::move(runtime)).second)
    return {ErrorKind::value_error, fmt::format("device {} already exists", name)};
  return {};
}

void halftone::removeDevice(std::string_view name) {
  std::shared_ptr<DeviceRuntime> gone; // destroyed after the lock is released
  const ForkSafeLock lock(added().mutex);
  if (const std::optional<int> index = cudaIndex(name))
    if (auto found = added().devices.find(*index); found != added().devices.end()) {
      gone = std::move(found->second);
      added().devices.erase(found);
    }
}

Device halftone::deviceOf(const DeviceRuntime &runtime) {
  return runtime.isHost() ? Device::cpu() : Device::cuda(cudaIndex(runtime.name()).value_or(0));
}

std::ostream &halftone::operator<<(std::ostream &os, const Device &device) { return os << device.str(); }
