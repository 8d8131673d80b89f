// Opens the CUDA driver, and says clearly why it cannot be used.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Driver.h"
#include "runtime/base/Environment.h"
#include "runtime/base/OpenFile.h"
#include "runtime/devices/cuda/FunctionFinder.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <mutex>
#include <sstream>
#include <string_view>

namespace halftone::cuda {
namespace {

constexpr int leastVersion = 12000; // reads PTX 8.0
constexpr const char *usualFile = "libcuda.so.1";

Status unusable(std::string reason) { return {ErrorKind::device_error, std::move(reason)}; }

std::string versionText(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Status tooOld(int version) {
  return unusable(fmt::format("driver too old: {}{}(CUDA {}), expected 525 or newer (CUDA {})", Driver::release(),
                              Driver::release().empty() ? "" : " ", versionText(version), versionText(leastVersion)));
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
    return unusable(fmt::format("{} is no CUDA driver: it has no function {}", file, find.missing));
  int version = 0;
  const Result known = calls.driverGetVersion(&version);
  if (known == Result::success && version < leastVersion)
    return tooOld(version);
  HALFTONE_RETURN_IF_ERROR(driver->findFunctions(library, file));
  const Result started = known == Result::success ? calls.init(0) : known;
  if (started == Result::stub_library)
    return unusable(fmt::format("{} is a stub, with which programs are linked; is the NVIDIA driver installed?", file));
  if (started == Result::success)
    (void)calls.deviceGetCount(&driver->count_);
  if (started == Result::no_device || (started == Result::success && driver->count_ == 0))
    return unusable(fmt::format("the driver {} finds no GPU", file));
  if (started != Result::success)
    return unusable(fmt::format("the driver {} does not start: {}", file, driver->text(started)));
  return std::shared_ptr<const Driver>(std::move(driver));
}

namespace {

void findMemoryFunctions(FunctionFinder &find, Functions &f) {
  find(f.memGetInfo, "cuMemGetInfo_v2");
  find(f.memPoolCreate, "cuMemPoolCreate");
  find(f.memPoolDestroy, "cuMemPoolDestroy");
  find(f.memPoolSetAttribute, "cuMemPoolSetAttribute");
  find(f.memPoolTrimTo, "cuMemPoolTrimTo");
  find(f.memAllocFromPoolAsync, "cuMemAllocFromPoolAsync");
  find(f.memFreeAsync, "cuMemFreeAsync");
  find(f.memHostAlloc, "cuMemHostAlloc");
  find(f.memFreeHost, "cuMemFreeHost");
  find(f.memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  find(f.memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  find(f.memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
  find(f.memsetD8Async, "cuMemsetD8Async");
}

void findGraphFunctions(FunctionFinder &find, Functions &f) {
  find(f.graphCreate, "cuGraphCreate");
  find(f.graphDestroy, "cuGraphDestroy");
  find(f.graphAddKernelNode, "cuGraphAddKernelNode_v2");
  find(f.graphAddMemcpyNode, "cuGraphAddMemcpyNode");
  find(f.graphAddMemsetNode, "cuGraphAddMemsetNode");
  find(f.graphInstantiate, "cuGraphInstantiateWithFlags");
  find(f.graphExecDestroy, "cuGraphExecDestroy");
  find(f.graphLaunch, "cuGraphLaunch");
  find(f.graphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams_v2");
  find(f.graphExecMemcpyNodeSetParams, "cuGraphExecMemcpyNodeSetParams");
  find(f.graphExecMemsetNodeSetParams, "cuGraphExecMemsetNodeSetParams");
}

} // namespace

Status Driver::findFunctions(void *library, const std::string &file) {
  FunctionFinder find{library};
  Functions &f = calls_;
  find(f.getErrorName, "cuGetErrorName");
  find(f.getErrorString, "cuGetErrorString");
  find(f.deviceGetCount, "cuDeviceGetCount");
  find(f.deviceGet, "cuDeviceGet");
  find(f.deviceGetName, "cuDeviceGetName");
  find(f.deviceTotalMem, "cuDeviceTotalMem_v2");
  find(f.deviceGetAttribute, "cuDeviceGetAttribute");
  find(f.devicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  find(f.devicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  find(f.ctxPushCurrent, "cuCtxPushCurrent_v2");
  find(f.ctxPopCurrent, "cuCtxPopCurrent_v2");
  find(f.streamCreate, "cuStreamCreate");
  find(f.streamDestroy, "cuStreamDestroy_v2");
  find(f.streamSynchronize, "cuStreamSynchronize");
  find(f.streamQuery, "cuStreamQuery");
  find(f.streamWaitEvent, "cuStreamWaitEvent");
  find(f.eventCreate, "cuEventCreate");
  find(f.eventDestroy, "cuEventDestroy_v2");
  find(f.eventRecord, "cuEventRecord");
  find(f.eventQuery, "cuEventQuery");
  find(f.eventSynchronize, "cuEventSynchronize");
  find(f.moduleLoadDataEx, "cuModuleLoadDataEx");
  find(f.moduleUnload, "cuModuleUnload");
  find(f.moduleGetFunction, "cuModuleGetFunction");
  find(f.funcGetAttribute, "cuFuncGetAttribute");
  find(f.funcSetAttribute, "cuFuncSetAttribute");
  find(f.launchKernel, "cuLaunchKernel");
  findMemoryFunctions(find, f);
  findGraphFunctions(find, f);
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
  int major = 0, minor = 0, shared = 0;
  Result result = calls_.deviceGet(&found.device, index);
  auto then = [&](Result next) { result = result == Result::success ? next : result; };
  then(calls_.deviceGetName(name, sizeof name, found.device));
  then(calls_.deviceTotalMem(&bytes, found.device));
  then(calls_.deviceGetAttribute(&major, DeviceAttribute::capability_major, found.device));
  then(calls_.deviceGetAttribute(&minor, DeviceAttribute::capability_minor, found.device));
  then(calls_.deviceGetAttribute(&shared, DeviceAttribute::most_shared_bytes, found.device));
  if (result != Result::success)
    return unusable("the driver does not describe the GPU: " + text(result));
  found.name = name;
  found.capability = 10 * major + minor;
  found.bytes = static_cast<int64_t>(bytes);
  found.mostSharedBytes = shared;
  if (found.capability < leastCapability)
    return unusable(fmt::format("{} has compute capability {}.{}, expected {}.{} or newer", found.name, major, minor,
                                leastCapability / 10, leastCapability % 10));
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

std::string Driver::text(Result result) const {
  const char *name = nullptr, *text = nullptr;
  (void)calls_.getErrorName(result, &name);
  (void)calls_.getErrorString(result, &text);
  if (!name || !text)
    return fmt::format("error {} of the CUDA driver", static_cast<int>(result));
  return fmt::format("{} ({})", text, name);
}

} // namespace halftone::cuda
