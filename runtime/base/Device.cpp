// The names of devices, and the thread's default one.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Device.h"
#include "runtime/base/Status.h"
#include <charconv>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <thread>

using namespace halftone;

Device Device::cpu() { return Device(Kind::cpu, 0); }

Device Device::cuda(int index) {
  std::string reason = "this build of Halftone runs on the CPU only";
  if (void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL))
    dlclose(driver);
  else
    reason = "libcuda.so.1 was not found; is the NVIDIA driver installed?";
  throw Error(ErrorKind::device_error, fmt::format("cuda:{} is not available: {}", index, reason));
}

/// The index in "", ":0", ":12"; nothing for other text.
static std::optional<int> parseIndex(std::string_view text) {
  if (text.empty())
    return 0;
  int index = -1;
  const char *end = text.data() + text.size();
  if (text[0] != ':' || text.size() < 2 || text[1] == '-')
    return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data() + 1, end, index);
  return error == std::errc() && stop == end ? std::optional<int>(index) : std::nullopt;
}

std::optional<Device> Device::find(std::string_view spec) {
  if (spec.substr(0, 3) == "cpu" && parseIndex(spec.substr(3)) == 0)
    return cpu();
  return std::nullopt;
}

std::vector<Device> Device::list() { return {cpu()}; }

std::string Device::str() const { return kind_ == Kind::cpu ? "cpu" : fmt::format("cuda:{}", index_); }

std::string Device::description() const {
  std::string model = "CPU", line;
  std::ifstream info("/proc/cpuinfo");
  while (std::getline(info, line))
    if (line.rfind("model name", 0) == 0 && line.find(": ") != line.npos) {
      model = line.substr(line.find(": ") + 2);
      break;
    }
  return fmt::format("{}, {} threads", model, std::max(1u, std::thread::hardware_concurrency()));
}

static thread_local std::optional<Device> current;

Device halftone::default_device() {
  if (!current) {
    const char *text = std::getenv("HALFTONE_DEVICE");
    const std::string_view spec = text && *text ? text : "cpu";
    current = Device::find(spec);
    if (!current && spec.substr(0, 4) == "cuda")
      if (const std::optional<int> index = parseIndex(spec.substr(4)))
        current = Device::cuda(*index); // throws with the reason
    if (!current)
      throw Error(ErrorKind::value_error,
                  fmt::format("HALFTONE_DEVICE is '{}'; expected cpu, cuda or cuda:<index>", spec));
  }
  return *current;
}

void halftone::set_default_device(Device device) { current = device; }

DeviceScope::DeviceScope(Device device) : saved_(default_device()) { set_default_device(device); }
DeviceScope::~DeviceScope() { set_default_device(saved_); }
