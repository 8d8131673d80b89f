// The CPU device.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/CpuDevice.h"
#include "runtime/base/Environment.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/OpenFile.h"
#include "runtime/devices/HostMemory.h"
#include "runtime/devices/HostQueue.h"
#include "runtime/devices/WorkerPool.h"
#include <algorithm>
#include <atomic>
#include <charconv>
#include <fmt/format.h>
#include <mutex>
#include <sched.h>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

namespace halftone {
namespace {

constexpr int maxThreads = 1024;
constexpr double minSharedCost = 3000; // ns; for cheaper launches, waking workers costs more than it saves

class CpuQueue final : public HostQueue {
public:
  CpuQueue(std::shared_ptr<WorkerPool> pool, DeviceMemory scratch, std::shared_ptr<std::atomic<int64_t>> launches)
      : pool_(std::move(pool)), scratch_(std::move(scratch)), allLaunches_(std::move(launches)) {}
  ~CpuQueue() override { releaseWorkers(); }

  Status finish() override {
    releaseWorkers();
    triedWorkers_ = false;
    allLaunches_->fetch_add(std::exchange(launches_, 0), std::memory_order_relaxed);
    return {};
  }

protected:
  void run(std::span<const Launch> parts) override {
    ++launches_;
    int64_t grid = 0;
    double cost = 0;
    for (const Launch &part : parts) {
      grid += part.grid;
      cost += part.cost;
    }
    if (grid > 1 && cost >= minSharedCost && takeWorkers())
      return pool_->run(parts, scratch_.get());
    for (const Launch &part : parts) {
      forgetScratch(scratch_.get());
      if (part.grid > 0)
        part.code.function()(part.buffers.data(), part.extents.data(), 0, part.grid, scratch_.get());
    }
  }

private:
  std::shared_ptr<WorkerPool> pool_;
  DeviceMemory scratch_;
  std::shared_ptr<std::atomic<int64_t>> allLaunches_; // of the device
  int64_t launches_ = 0;                              // since begin()
  bool hasWorkers_ = false, triedWorkers_ = false;    // triedWorkers_: at most one try between begin() and finish()

  bool takeWorkers() {
    if (!triedWorkers_) {
      triedWorkers_ = true;
      hasWorkers_ = pool_->acquire();
    }
    return hasWorkers_;
  }
  void releaseWorkers() {
    if (hasWorkers_)
      pool_->release();
    hasWorkers_ = false;
  }
};

Status checkThreadCount(int64_t threads) {
  if (threads >= 1 && threads <= maxThreads)
    return {};
  return {ErrorKind::value_error, fmt::format("expected 1 to {} threads, got {}", maxThreads, threads)};
}

} // namespace

StatusOr<std::shared_ptr<CpuDevice>> CpuDevice::create(int threads) {
  std::shared_ptr<CpuDevice> device(new CpuDevice());
  HALFTONE_RETURN_IF_ERROR(device->setThreads(threads));
  return device;
}

CpuDevice::CpuDevice() : pool_(std::make_shared<WorkerPool>()) {}
CpuDevice::~CpuDevice() = default;

static std::atomic<KernelLoader> loadKernels{nullptr};

void setCpuKernelLoader(KernelLoader loader) { loadKernels = loader; }

StatusOr<std::shared_ptr<const KernelLibrary>> CpuDevice::load(const std::map<std::string, KernelCode> &kernels) {
  if (const KernelLoader loader = loadKernels)
    return loader(kernels);
  return Status(ErrorKind::internal_error, "the CPU device was created without a kernel loader");
}

StatusOr<std::unique_ptr<DeviceQueue>> CpuDevice::makeQueue(int64_t scratchBytes) {
  StatusOr<DeviceMemory> scratch = allocateHostMemory(scratchBytes);
  HALFTONE_RETURN_IF_ERROR(scratch.status());
  HALFTONE_RETURN_IF_ERROR(pool_->reserveScratch(scratchBytes));
  return std::unique_ptr<DeviceQueue>(std::make_unique<CpuQueue>(pool_, *std::move(scratch), launches_));
}

int CpuDevice::threads() const { return pool_->threads(); }

Status CpuDevice::setThreads(int threads) {
  HALFTONE_RETURN_IF_ERROR(checkThreadCount(threads));
  return pool_->setThreads(threads);
}

std::string cpuDescription() {
  std::string model = "CPU", line;
  const StatusOr<std::string> text = readFile("/proc/cpuinfo");
  std::istringstream info(text ? *text : "");
  while (std::getline(info, line))
    if (line.rfind("model name", 0) == 0 && line.find(": ") != line.npos) {
      model = line.substr(line.find(": ") + 2);
      break;
    }
  return fmt::format("{}, {} threads", model, std::max(1u, std::thread::hardware_concurrency()));
}

StatusOr<int> defaultThreadCount() {
  if (const std::string text = environmentValue("HALFTONE_NUM_THREADS"); !text.empty()) {
    const std::string_view all = text;
    int threads = 0;
    auto [end, error] = std::from_chars(all.begin(), all.end(), threads);
    if (error != std::errc() || end != all.end() || !checkThreadCount(threads).isOk())
      return environmentError(ErrorKind::value_error, "HALFTONE_NUM_THREADS",
                              fmt::format("a number from 1 to {}", maxThreads));
    return threads;
  }
  cpu_set_t cores;
  CPU_ZERO(&cores);
  const int count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
  return std::clamp(count, 1, maxThreads);
}

StatusOr<std::shared_ptr<CpuDevice>> sharedCpuDevice() {
  static std::mutex mutex;
  static auto &device = *new std::shared_ptr<CpuDevice>;
  const ForkSafeLock lock(mutex);
  if (device)
    return device;
  StatusOr<int> threads = defaultThreadCount();
  HALFTONE_RETURN_IF_ERROR(threads.status());
  StatusOr<std::shared_ptr<CpuDevice>> created = CpuDevice::create(*threads);
  HALFTONE_RETURN_IF_ERROR(created.status());
  return device = *created;
}

} // namespace halftone
