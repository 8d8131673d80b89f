// Loads NCCL, and reports why it cannot be used.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Nccl.h"
#include "runtime/base/Environment.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/OpenFile.h"
#include "runtime/devices/cuda/FunctionFinder.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <mutex>
#include <string_view>

namespace halftone::cuda {
namespace {

constexpr int minVersion = 21300; // has ncclGetLastError; bfloat16 since 2.10
constexpr const char *usualFile = "libnccl.so.2";

Status unusable(std::string reason) { return {ErrorKind::runtime_error, std::move(reason)}; }

/// NCCL writes 2.8.4 as 2804, and 2.9.1 and later ones as 20901.
std::string versionText(int version) {
  const int hundreds = version / 100;
  return version < 10000 ? fmt::format("{}.{}.{}", hundreds / 10, hundreds % 10, version % 100)
                         : fmt::format("{}.{}.{}", hundreds / 100, hundreds % 100, version % 100);
}

/// The name of the first missing function; "" if all are present.
std::string findFunctions(void *library, nccl::Functions &f) {
  FunctionFinder find{library};
  find(f.getErrorString, "ncclGetErrorString");
  find(f.getLastError, "ncclGetLastError");
  find(f.getUniqueId, "ncclGetUniqueId");
  find(f.commInitRank, "ncclCommInitRank");
  find(f.commDestroy, "ncclCommDestroy");
  find(f.commGetAsyncError, "ncclCommGetAsyncError");
  find(f.groupStart, "ncclGroupStart");
  find(f.groupEnd, "ncclGroupEnd");
  find(f.allReduce, "ncclAllReduce");
  find(f.reduce, "ncclReduce");
  find(f.broadcast, "ncclBroadcast");
  return find.missing;
}

} // namespace

StatusOr<std::shared_ptr<const Nccl>> Nccl::shared() {
  static std::mutex mutex;
  static std::shared_ptr<const Nccl> &library = *new std::shared_ptr<const Nccl>;
  const ForkSafeLock lock(mutex);
  if (library)
    return library;
  const std::string named = environmentValue("HALFTONE_NCCL");
  StatusOr<std::shared_ptr<const Nccl>> opened = open(named.empty() ? usualFile : named);
  if (!opened.isOk() && !named.empty())
    return environmentError(opened.status().kind(), "HALFTONE_NCCL", "the file of NCCL: " + opened.status().message());
  HALFTONE_RETURN_IF_ERROR(opened.status());
  return library = *std::move(opened);
}

StatusOr<std::shared_ptr<const Nccl>> Nccl::open(const std::string &file) {
  const StatusOr<void *> loaded = openLibrary(file, RTLD_NOW | RTLD_LOCAL);
  if (!loaded)
    return unusable(fmt::format("cannot open NCCL, which runs collectives on GPUs: {}; is it installed, or named in "
                                "HALFTONE_NCCL?",
                                loaded.status().message()));
  void *const library = *loaded;
  std::shared_ptr<Nccl> opened(new Nccl());
  nccl::Functions &calls = opened->calls_;
  FunctionFinder find{library};
  find(calls.getVersion, "ncclGetVersion");
  if (!find.missing.empty())
    return unusable(fmt::format("{} is not NCCL: it has no function {}", file, find.missing));
  if (const nccl::Result known = calls.getVersion(&opened->version_); known != nccl::Result::success)
    return unusable(fmt::format("NCCL in {} does not report its version: error {}", file, static_cast<int>(known)));
  if (opened->version_ < minVersion)
    return unusable(fmt::format("NCCL in {} is too old: {}, expected {} or newer", file, opened->version(),
                                versionText(minVersion)));
  if (const std::string missing = findFunctions(library, calls); !missing.empty())
    return unusable(fmt::format("NCCL {} in {} has no function {}", opened->version(), file, missing));
  return std::shared_ptr<const Nccl>(std::move(opened));
}

std::string Nccl::version() const { return versionText(version_); }

Status Nccl::check(nccl::Result result, std::string_view action, nccl::Comm comm) const {
  if (result == nccl::Result::success)
    return {};
  const char *text = calls_.getErrorString(result), *last = calls_.getLastError(comm);
  return {ErrorKind::runtime_error, fmt::format("NCCL: {}: {}{}{}", action, text ? text : "an error",
                                                last && *last ? ": " : "", last ? last : "")};
}

} // namespace halftone::cuda
