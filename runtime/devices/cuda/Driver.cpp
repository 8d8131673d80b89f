// Loads the CUDA driver, and reports why it cannot be used.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Driver.h"
#include "runtime/base/Environment.h"
#include "runtime/base/OpenFile.h"
#include "runtime/devices/cuda/DriverErrors.h"
#include "runtime/devices/cuda/FunctionFinder.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <mutex>
#include <sstream>
#include <string_view>

namespace halftone::cuda {
namespace {

constexpr int minVersion = 12000; // reads PTX 8.0
constexpr const char *usualFile = "libcuda.so.1";

Status unusable(std::string reason) { return {ErrorKind::device_error, std::move(reason)}; }

std::string versionText(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Status tooOld(int version) {
  return unusable(fmt::format("driver too old: {}{}(CUDA {}), expected 525 or newer (CUDA {})", Driver::release(),
                              Driver::release().empty() ? "" : " ", versionText(version), versionText(minVersion)));
}

Status notOpened(const std::string &file, std::string_view reason) {
  if (file != usualFile)
    return unusable(fmt::format("cannot open the CUDA driver {}: {}", file, reason));
  if (reason.find("cannot open shared object file") == reason.npos)
    return unusable(fmt::format("cannot open {}: {}", file, reason));
  return unusable(fmt::format("{} was not found; is the NVIDIA driver installed?", file));
}

} // namespace

StatusOr<std::shared_ptr<const Driver>> Driver::shared() {
  static std::mutex mutex;
  static std::shared_ptr<const Driver> &driver = *new std::shared_ptr<const Driver>;
  const ForkSafeLock lock(mutex);
  if (driver)
    return driver;
  const std::string named = environmentValue("HALFTONE_CUDA_DRIVER");
  StatusOr<std::shared_ptr<const Driver>> opened = open(named.empty() ? usualFile : named);
  if (!opened.isOk() && !named.empty())
    return environmentError(opened.status().kind(), "HALFTONE_CUDA_DRIVER",
                            "the file of a CUDA driver: " + opened.status().message());
  HALFTONE_RETURN_IF_ERROR(opened.status());
  return driver = *std::move(opened);
}

StatusOr<std::shared_ptr<const Driver>> Driver::open(const std::string &file) {
  const StatusOr<void *> opened = openLibrary(file, RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    return notOpened(file, opened.status().message());
  void *const library = *opened;
  std::shared_ptr<Driver> driver(new Driver());
  Functions &calls = driver->calls_;
  FunctionFinder find{library};
  find(calls.init, "cuInit");
  find(calls.driverGetVersion, "cuDriverGetVersion");
  if (!find.missing.empty())
    return unusable(fmt::format("{} is not a CUDA driver: it has no function {}", file, find.missing));
  const Result known = calls.driverGetVersion(&driver->version_);
  if (known == Result::success && driver->version_ < minVersion)
    return tooOld(driver->version_);
  HALFTONE_RETURN_IF_ERROR(driver->findFunctions(library, file));
  const Result started = known == Result::success ? calls.init(0) : known;
  if (started == Result::stub_library)
    return unusable(fmt::format("{} is a stub library for linking; is the NVIDIA driver installed?", file));
  const Result counted = started == Result::success ? calls.deviceGetCount(&driver->count_) : started;
  if (counted == Result::no_device || (counted == Result::success && driver->count_ == 0))
    return unusable(fmt::format("the driver {} finds no GPU", file));
  if (counted != Result::success)
    return unusable(fmt::format("the driver {} {}: {}", file,
                                started == Result::success ? "cannot count its GPUs" : "does not start",
                                driver->text(counted)));
  return std::shared_ptr<const Driver>(std::move(driver));
}

Status Driver::findFunctions(void *library, const std::string &file) {
  FunctionFinder find{library};
#define HALFTONE_DRIVER_CALL(member, symbol) find(calls_.member, #symbol);
#include "runtime/devices/cuda/DriverCalls.def"
  if (find.missing.empty())
    return {};
  return unusable(fmt::format("the driver {} has no function {}, expected a driver 525 or newer", file, find.missing));
}

StatusOr<Driver::Gpu> Driver::gpu(int index) const {
  if (forkCount() != forks_)
    return unusable("the driver was opened before fork(), and a child process cannot use it");
  if (index < 0 || index >= count_)
    return unusable(
        fmt::format("there {} {} GPU{}, numbered from 0", count_ == 1 ? "is" : "are", count_, count_ == 1 ? "" : "s"));
  Gpu found;
  char name[256] = "";
  size_t bytes = 0;
  int major = 0, minor = 0, shared = 0, pools = 0;
  Result result = calls_.deviceGet(&found.device, index);
  auto then = [&](Result next) { result = result == Result::success ? next : result; };
  auto attribute = [&](int &value, DeviceAttribute named) {
    then(calls_.deviceGetAttribute(&value, named, found.device));
  };
  then(calls_.deviceGetName(name, sizeof name, found.device));
  then(calls_.deviceTotalMem(&bytes, found.device));
  attribute(major, DeviceAttribute::capability_major);
  attribute(minor, DeviceAttribute::capability_minor);
  attribute(shared, DeviceAttribute::max_shared_bytes);
  attribute(pools, DeviceAttribute::memory_pools_supported);
  if (result != Result::success)
    return unusable("the driver does not describe the GPU: " + text(result));
  found.name = name;
  found.capability = 10 * major + minor;
  found.bytes = static_cast<int64_t>(bytes);
  found.maxSharedBytes = shared;
  if (found.capability < minCapability)
    return unusable(fmt::format("{} has compute capability {}.{}, expected {}.{} or newer", found.name, major, minor,
                                minCapability / 10, minCapability % 10));
  if (pools == 0)
    return unusable(fmt::format("{} has no memory pools (CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED is 0), in which "
                                "Halftone allocates; a virtual GPU has them if its host enables unified memory, a "
                                "whole GPU and a MIG instance have them",
                                found.name));
  return found;
}

std::string Driver::release() {
  const StatusOr<std::string> text = readFile("/proc/driver/nvidia/version");
  std::istringstream file(text ? *text : "");
  std::string word;
  while (file >> word)
    if (word.find('.') != word.npos && word.find_first_not_of("0123456789.") == word.npos)
      return word;
  return "";
}

std::string Driver::version() const { return versionText(version_); }

std::string Driver::text(Result result) const {
  const char *name = nullptr, *text = nullptr;
  const bool isKnown = calls_.getErrorName(result, &name) == Result::success &&
                       calls_.getErrorString(result, &text) == Result::success && name && text;
  const std::string description = isKnown ? fmt::format("{} ({})", text, name)
                                          : fmt::format("error {} of the CUDA driver", static_cast<int>(result));
  const std::string_view advice = adviceOn(result);
  return advice.empty() ? description : fmt::format("{}; {}", description, advice);
}

} // namespace halftone::cuda
