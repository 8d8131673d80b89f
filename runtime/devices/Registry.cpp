// The devices of the process, and the thread's default one.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/Registry.h"
#include "runtime/base/ForkGate.h"
#include "runtime/devices/CpuDevice.h"
#include <charconv>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <map>
#include <mutex>

using namespace halftone;

namespace {

/// The devices that addDevice() added, by their index after "cuda:".
struct Added {
  std::mutex mutex;
  std::map<int, std::shared_ptr<DeviceRuntime>> devices;
};
Added &added() {
  static Added &added = *new Added; // never destroyed: threads may ask at exit
  return added;
}
std::shared_ptr<DeviceRuntime> addedAt(int index) {
  const ForkSafeLock lock(added().mutex);
  auto found = added().devices.find(index);
  return found == added().devices.end() ? nullptr : found->second;
}

/// The index in "", ":0", ":12"; nullopt for other text.
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

Device Device::cuda(int index) {
  if (addedAt(index))
    return Device(Kind::cuda, index);
  std::string reason = "this build of Halftone runs on the CPU only";
  if (void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL))
    dlclose(driver);
  else
    reason = "libcuda.so.1 was not found; is the NVIDIA driver installed?";
  throw Error(ErrorKind::device_error, fmt::format("cuda:{} is not available: {}", index, reason));
}

std::optional<Device> Device::find(std::string_view spec) {
  if (spec.substr(0, 3) == "cpu" && parseIndex(spec.substr(3)) == 0)
    return cpu();
  if (const std::optional<int> index = cudaIndex(spec); index && addedAt(*index))
    return Device(Kind::cuda, *index);
  return std::nullopt;
}

std::vector<Device> Device::list() {
  std::vector<Device> devices{cpu()};
  const ForkSafeLock lock(added().mutex);
  for (const auto &[index, runtime] : added().devices)
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
    const char *text = std::getenv("HALFTONE_DEVICE");
    const std::string_view spec = text && *text ? text : "cpu";
    current = Device::find(spec);
    if (const std::optional<int> index = cudaIndex(spec); !current && index)
      current = Device::cuda(*index); // throws the reason
    if (!current)
      throw Error(ErrorKind::value_error,
                  fmt::format("HALFTONE_DEVICE is '{}'; expected cpu, cuda or cuda:<index>", spec));
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
  return Status(ErrorKind::device_error, fmt::format("device {} is not there any more", device.str()));
}

Status halftone::addDevice(std::shared_ptr<DeviceRuntime> runtime) {
  const std::string name = runtime->name();
  const std::optional<int> index = cudaIndex(name);
  if (!index)
    return {ErrorKind::value_error, fmt::format("expected a device called cuda:<index>, got '{}'", name)};
  const ForkSafeLock lock(added().mutex);
  if (!added().devices.try_emplace(*index, std::move(runtime)).second)
    return {ErrorKind::value_error, fmt::format("there is a device {} already", name)};
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
