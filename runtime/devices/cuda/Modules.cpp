// Compiles kernels with the driver, and shares them.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Modules.h"
#include "runtime/base/Environment.h"
#include "runtime/base/Threads.h"
#include "runtime/devices/cuda/BuiltinPtx.h"
#include "runtime/devices/cuda/DriverErrors.h"
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halftone::cuda {

/// The loaded kernels, keyed by everything on which a loaded kernel depends.
struct ModuleCache {
  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<LoadedKernel>> kernels;
};

namespace {

constexpr size_t maxThreads = 4; // for compilation
constexpr int64_t maxBlockThreads = 1024;
constexpr int64_t defaultSharedBytes = 48 << 10;

Status bad(const std::string &kernel, const std::string &message) {
  return {ErrorKind::value_error, fmt::format("kernel {}: {}", kernel, message)};
}

std::string textOf(const KernelCode &kernel) {
  return fmt::format("{}\n{}\n{}\n{}", kernel.symbol, kernel.launch.threads, kernel.launch.sharedBytes, kernel.code);
}

class CudaLibrary final : public KernelLibrary {
public:
  std::map<std::string, std::shared_ptr<const LoadedKernel>> kernels;
  StatusOr<KernelHandle> find(const std::string &key) const override {
    auto found = kernels.find(key);
    if (found == kernels.end())
      return Status(ErrorKind::key_error, fmt::format("no code for kernel {}", key));
    return KernelHandle(const_cast<LoadedKernel *>(found->second.get()));
  }
};

/// Checks that code for `target` ("nvptx|sm_80|ptx80") runs on a GPU of that compute capability.
Status checkTarget(const std::string &key, std::string_view target, int capability) {
  constexpr std::string_view start = "nvptx|sm_";
  if (!target.starts_with("nvptx|"))
    return bad(key, fmt::format("compiled for '{}', expected code for an NVIDIA GPU ('nvptx|...')", target));
  std::string_view rest = target.starts_with(start) ? target.substr(start.size()) : "";
  int made = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), made);
  if (error != std::errc())
    return bad(key, fmt::format("compiled for '{}', expected 'nvptx|sm_<compute capability>|...'", target));
  const bool isOfOneCapability = end != rest.data() + rest.size() && *end == 'a'; // "sm_90a": instructions of 9.0 only
  if (isOfOneCapability ? made == capability : made <= capability)
    return {};
  return bad(key, fmt::format("compiled for {}, but the GPU has compute capability {}.{}",
                              target.substr(6, target.find('|', 6) - 6), capability / 10, capability % 10));
}

Status checkShape(const std::string &key, const LaunchShape &shape) {
  if (shape.threads < 1 || shape.threads > maxBlockThreads)
    return bad(key, fmt::format("{} threads in a block, expected 1 to {}", shape.threads, maxBlockThreads));
  if (shape.sharedBytes < 0)
    return bad(key, fmt::format("{} bytes of shared memory", shape.sharedBytes));
  return {};
}

/// The error log of the driver's compiler.
class ErrorLog {
  std::array<char, 8192> text_{};

public:
  JitOption options[2] = {JitOption::error_log, JitOption::error_log_bytes};
  void *values[2] = {text_.data(), std::bit_cast<void *>(text_.size() - 1)};
  Status status(Gpu &gpu, Result result, const std::string &key, std::string_view ptx) const {
    if (reachOf(result) != Reach::code)
      return gpu.check(result, fmt::format("loading kernel {}", key));
    if (result == Result::unsupported_ptx_version)
      return bad(key, fmt::format("the driver cannot compile it: {}: the code is {}; the driver is for CUDA {}",
                                  gpu.driver().text(result), neededBy(ptx), gpu.driver().version()));
    std::string_view log = text_.data();
    while (log.ends_with('\n'))
      log.remove_suffix(1);
    return bad(key, fmt::format("the driver cannot compile it: {}{}{}", gpu.driver().text(result),
                                log.empty() ? "" : ": ", log));
  }
};

Status loadModule(LoadedKernel &loaded, const std::string &key, const std::string &ptx) {
  ErrorLog log;
  const Result result = loaded.gpu->calls().moduleLoadDataEx(&loaded.module, ptx.c_str(), 2, log.options, log.values);
  return result == Result::success ? Status() : log.status(*loaded.gpu, result, key, ptx);
}

Status findEntry(LoadedKernel &loaded, const std::string &key, const std::string &symbol) {
  const Result result = loaded.gpu->calls().moduleGetFunction(&loaded.function, loaded.module, symbol.c_str());
  if (result == Result::not_found)
    return bad(key, fmt::format("the code has no entry '{}'", symbol));
  return loaded.gpu->check(result, fmt::format("finding kernel {}", key));
}

/// Requests the shared memory of a launch. A block gets more than 48 KiB, including its static shared memory, only on
/// request.
Status requestSharedBytes(LoadedKernel &loaded, const std::string &key) {
  const Functions &calls = loaded.gpu->calls();
  int fixed = 0;
  HALFTONE_RETURN_IF_ERROR(
      loaded.gpu->check(calls.funcGetAttribute(&fixed, FunctionAttribute::static_shared_bytes, loaded.function),
                        fmt::format("describing kernel {}", key)));
  const int64_t limit = loaded.gpu->facts().maxSharedBytes - fixed, requested = loaded.shape.sharedBytes;
  if (requested > limit)
    return bad(key, fmt::format("a block requests {} bytes of dynamic shared memory in addition to {} static bytes; "
                                "the GPU has {} in total",
                                requested, fixed, loaded.gpu->facts().maxSharedBytes));
  if (requested + fixed <= defaultSharedBytes)
    return {};
  return loaded.gpu->check(
      calls.funcSetAttribute(loaded.function, FunctionAttribute::max_dynamic_shared_bytes, static_cast<int>(requested)),
      fmt::format("setting the shared memory of kernel {}", key));
}

/// The line of a kernel in the file that HALFTONE_CUDA_KERNELS names.
StatusOr<std::string> recordOf(LoadedKernel &loaded, const std::string &key, const KernelCode &code) {
  int registers = 0, local = 0;
  for (auto [value, attribute] :
       {std::pair(&registers, FunctionAttribute::registers), std::pair(&local, FunctionAttribute::local_bytes)})
    HALFTONE_RETURN_IF_ERROR(loaded.gpu->check(loaded.gpu->calls().funcGetAttribute(value, attribute, loaded.function),
                                               "describing kernel " + key));
  return fmt::format("{}\t{}\t{}\t{}\t{}\n", registers, local, code.symbol, code.kind, code.method);
}

} // namespace

LoadedKernel::~LoadedKernel() {
  if (const std::shared_ptr<ModuleCache> all = cache.lock()) {
    const ForkSafeLock lock(all->mutex);
    if (auto entry = all->kernels.find(text); entry != all->kernels.end() && entry->second.expired())
      all->kernels.erase(entry);
  }
  if (!module)
    return;
  const StatusOr<GpuLock> lock = gpu->lock();
  if (!lock.isOk())
    return;
  (void)gpu->wait(); // the kernel may still run
  (void)gpu->calls().moduleUnload(module);
}

namespace {

/// A kernel that is not loaded yet.
struct Job {
  const std::string *key;
  const KernelCode *code;
  std::string text;
  StatusOr<std::shared_ptr<LoadedKernel>> loaded{nullptr};
  std::string record{}; // of recordOf(), if requested
};

/// Loads a kernel. Acquires no ForkGate, since a thread that holds one waits for this function.
StatusOr<std::shared_ptr<LoadedKernel>> load(const std::shared_ptr<Gpu> &gpu, Job &job, bool isRecorded) {
  HALFTONE_RETURN_IF_ERROR(checkTarget(*job.key, job.code->target, gpu->facts().capability));
  HALFTONE_RETURN_IF_ERROR(checkShape(*job.key, job.code->launch));
  auto loaded = std::make_shared<LoadedKernel>();
  loaded->gpu = gpu;
  loaded->shape = job.code->launch;
  const StatusOr<ContextScope> context = gpu->current(); // without the lock: the driver compiles for several threads
  HALFTONE_RETURN_IF_ERROR(context.status());
  HALFTONE_RETURN_IF_ERROR(loadModule(*loaded, *job.key, job.code->code));
  HALFTONE_RETURN_IF_ERROR(findEntry(*loaded, *job.key, job.code->symbol));
  HALFTONE_RETURN_IF_ERROR(requestSharedBytes(*loaded, *job.key));
  if (isRecorded) {
    StatusOr<std::string> record = recordOf(*loaded, *job.key, *job.code);
    HALFTONE_RETURN_IF_ERROR(record.status());
    job.record = *std::move(record);
  }
  return loaded;
}

/// Loads all kernels. A single job runs in the calling thread, which may hold the GPU's lock.
void loadAll(const std::shared_ptr<Gpu> &gpu, std::vector<Job> &jobs, bool areRecorded) {
  const auto loadOne = [&](size_t i) { jobs[i].loaded = load(gpu, jobs[i], areRecorded); };
  if (jobs.size() == 1)
    loadOne(0);
  else
    runInThreads(jobs.size(), maxThreads, loadOne);
}

} // namespace

Modules::Modules(std::shared_ptr<Gpu> gpu, std::optional<GrowingFile> records)
    : gpu_(std::move(gpu)), records_(std::move(records)), cache_(std::make_shared<ModuleCache>()) {}

StatusOr<std::shared_ptr<Modules>> Modules::open(std::shared_ptr<Gpu> gpu) {
  std::optional<GrowingFile> records;
  if (const std::string path = environmentValue("HALFTONE_CUDA_KERNELS"); !path.empty()) {
    StatusOr<GrowingFile> file = GrowingFile::open(path, true);
    if (!file.isOk())
      return environmentError(file.status().kind(), "HALFTONE_CUDA_KERNELS",
                              "a writable file: " + file.status().message());
    records = *std::move(file);
  }
  return std::shared_ptr<Modules>(new Modules(std::move(gpu), std::move(records)));
}

std::shared_ptr<LoadedKernel> Modules::known(const std::string &text) const {
  const auto entry = cache_->kernels.find(text);
  return entry == cache_->kernels.end() ? nullptr : entry->second.lock();
}

StatusOr<std::shared_ptr<const KernelLibrary>> Modules::load(const std::map<std::string, KernelCode> &kernels) {
  HALFTONE_RETURN_IF_ERROR(gpu_->usable());
  auto library = std::make_shared<CudaLibrary>();
  std::vector<Job> jobs;
  {
    const ForkSafeLock lock(cache_->mutex);
    for (const auto &[key, code] : kernels) {
      std::string text = textOf(code);
      if (std::shared_ptr<LoadedKernel> loaded = known(text))
        library->kernels.emplace(key, std::move(loaded));
      else
        jobs.push_back({&key, &code, std::move(text)});
    }
  }
  const ForkGate gate;
  loadAll(gpu_, jobs, records_.has_value());
  const ForkSafeLock lock(cache_->mutex);
  for (Job &job : jobs) {
    HALFTONE_RETURN_IF_ERROR(job.loaded.status());
    std::shared_ptr<LoadedKernel> loaded = known(job.text); // not null: another thread was faster
    if (!loaded) {
      if (records_)
        HALFTONE_RETURN_IF_ERROR(records_->append(job.record));
      loaded = *job.loaded;
      loaded->cache = cache_;
      cache_->kernels[job.text] = loaded;
      loaded->text = std::move(job.text);
    }
    library->kernels.emplace(*job.key, std::move(loaded));
  }
  return std::shared_ptr<const KernelLibrary>(std::move(library));
}

StatusOr<const LoadedKernel *> Modules::copyKernel() {
  const std::string key = "halftone_copy";
  if (!copying_) {
    KernelCode code;
    code.symbol = key;
    code.kind = "copy";
    code.target = "nvptx|sm_80";
    code.code = copyPtx;
    code.launch.threads = copyThreads;
    StatusOr<std::shared_ptr<const KernelLibrary>> loaded = load({{key, code}});
    HALFTONE_RETURN_IF_ERROR(loaded.status());
    copying_ = *std::move(loaded);
  }
  return static_cast<const LoadedKernel *>(copying_->find(key)->get());
}

} // namespace halftone::cuda
