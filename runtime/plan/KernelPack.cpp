// Writes kernel packs, checks their indices, and reads their entries.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/KernelPack.h"
#include "runtime/base/CacheFolder.h"
#include "runtime/base/Environment.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/PrintableText.h"
#include "runtime/base/Sha256.h"
#include "runtime/base/SizedText.h"
#include "runtime/base/WriteFile.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace halftone {
namespace {

constexpr std::string_view packMagic = "halftone pack 1\n";
constexpr size_t digestSize = 64;

/// The reason why the file may hold code of users whom this user does not trust; "" if there is none.
std::string_view ownershipFault(const struct stat &status) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return "it belongs to another user";
  return status.st_mode & (S_IWGRP | S_IWOTH) ? "it can be written by other users" : "";
}

Status damaged(std::string_view what) { return {ErrorKind::value_error, fmt::format("not a kernel pack: {}", what)}; }

bool readWhole(const OpenFile &file, int64_t offset, std::string &bytes) {
  return readAt(file, offset, bytes) == std::ssize(bytes);
}

/// Removes the permissions with which KernelPack::open() rejects a file.
Status forbidWriting(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code fault;
  if (fs::is_regular_file(path, fault) && !fault)
    fs::permissions(path, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove, fault);
  return fault ? Status(ErrorKind::io_error,
                        fmt::format("cannot change the permissions of {}: {}", path, fault.message()))
               : Status();
}

} // namespace

std::string writeKernelCode(const KernelCode &kernel) {
  std::string body;
  for (const std::string *part :
       {&kernel.symbol, &kernel.kind, &kernel.target, &kernel.description, &kernel.code, &kernel.method})
    putString(body, *part);
  for (int64_t size : {kernel.launch.threads, kernel.launch.sharedBytes})
    putSize(body, uint64_t(size));
  putSize(body, kernel.uses.size());
  for (const std::string &core : kernel.uses)
    putString(body, core);
  return body;
}

std::optional<KernelCode> readKernelCode(std::string_view body) {
  KernelCode kernel;
  uint64_t threads = 0, sharedBytes = 0, uses = 0;
  if (!takeString(body, kernel.symbol) || !takeString(body, kernel.kind) || !takeString(body, kernel.target) ||
      !takeString(body, kernel.description) || !takeString(body, kernel.code) || !takeString(body, kernel.method) ||
      !takeSize(body, threads) || !takeSize(body, sharedBytes) || !takeSize(body, uses))
    return std::nullopt;
  for (std::string core; uses > 0; --uses) {
    if (!takeString(body, core))
      return std::nullopt;
    kernel.uses.push_back(core);
  }
  if (!body.empty())
    return std::nullopt;
  kernel.launch = {int64_t(threads), int64_t(sharedBytes)};
  return kernel;
}

StatusOr<std::shared_ptr<const KernelPack>> KernelPack::open(const std::string &path, const std::string &codeId) {
  StatusOr<OpenFile> file = openFile(path);
  HALFTONE_RETURN_IF_ERROR(file.status());
  const auto refused = [&](std::string_view reason) {
    return Status(ErrorKind::io_error, fmt::format("cannot read {}: {}", path, reason));
  };
  struct stat status;
  if (::fstat(file->number(), &status) != 0)
    return refused(std::strerror(errno));
  if (const std::string_view fault = ownershipFault(status); !fault.empty())
    return refused(fault);
  if (status.st_size > detail::maxKernelPackBytes)
    return refused(fmt::format("it has more than {} bytes", detail::maxKernelPackBytes));
  const std::shared_ptr<KernelPack> pack(new KernelPack(std::move(*file)));
  if (const Status read = pack->readHeader(codeId, status.st_size); !read)
    return Status(read.kind(), fmt::format("{}: {}", path, read.message()));
  return std::shared_ptr<const KernelPack>(pack);
}

Status KernelPack::readHeader(const std::string &codeId, int64_t size) {
  std::string header(packMagic.size() + digestSize + 8, '\0');
  if (!readWhole(file_, 0, header) || !header.starts_with(packMagic))
    return damaged(fmt::format("it does not begin with \"{}\"", packMagic.substr(0, packMagic.size() - 1)));
  std::string_view in = std::string_view(header).substr(packMagic.size() + digestSize);
  uint64_t indexSize = 0;
  takeSize(in, indexSize);
  const int64_t rest = size - std::ssize(header);
  if (rest < 0 || indexSize > uint64_t(std::min(rest, detail::maxKernelIndexBytes)))
    return damaged(fmt::format("an index of {} bytes in a file of {}", indexSize, size));
  std::string index(indexSize, '\0');
  if (!readWhole(file_, std::ssize(header), index) || header.compare(packMagic.size(), digestSize, sha256(index)) != 0)
    return damaged("the checksum of the index differs; the file is damaged or cut short");
  return readIndex(index, codeId, {std::ssize(header) + std::ssize(index), size_t(rest - std::ssize(index))});
}

/// `entries` is the range of the file after the index.
Status KernelPack::readIndex(std::string_view index, const std::string &codeId, Range entries) {
  std::string id, key;
  uint64_t count = 0, end = 0;
  if (!takeString(index, id) || !takeSize(index, count))
    return damaged("its index is cut short");
  if (id != codeId)
    return {ErrorKind::value_error,
            fmt::format("a kernel pack of the code generation {}; this library has {}", printable(id), codeId)};
  for (; count > 0; --count) {
    uint64_t offset = 0, size = 0;
    if (!takeString(index, key) || !takeSize(index, offset) || !takeSize(index, size))
      return damaged("its index is cut short");
    if (!entries_.empty() && key <= entries_.rbegin()->first)
      return damaged("the keys of its index are not in ascending order");
    if (offset != end || size > entries.size - end || size > uint64_t(detail::maxCacheEntryBytes))
      return damaged("its index has an entry that does not follow the previous one in the file");
    entries_.emplace_hint(entries_.end(), key, Range{entries.offset + int64_t(offset), size_t(size)});
    end += size;
  }
  if (!index.empty() || end != entries.size)
    return damaged("there are bytes that belong to no entry");
  return {};
}

std::optional<KernelCode> KernelPack::find(const std::string &key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end())
    return std::nullopt;
  std::string entry(found->second.size, '\0');
  if (!readWhole(file_, found->second.offset, entry))
    return std::nullopt;
  const std::optional<std::string> body = bodyOfCacheEntry(kernelEntryMagic, key, entry);
  return body ? readKernelCode(*body) : std::nullopt;
}

StatusOr<int64_t> saveKernelPack(const std::string &path, const std::string &codeId,
                                 const std::map<std::string, KernelCode> &kernels) {
  std::vector<std::string> entries;
  std::string index;
  putString(index, codeId);
  putSize(index, kernels.size());
  int64_t bytes = 0, largest = 0;
  for (const auto &[key, kernel] : kernels) {
    entries.push_back(cacheEntry(kernelEntryMagic, key, writeKernelCode(kernel)));
    const int64_t size = std::ssize(entries.back());
    putString(index, key);
    putSize(index, uint64_t(bytes));
    putSize(index, uint64_t(size));
    bytes += size;
    largest = std::max(largest, size);
  }
  std::string header = std::string(packMagic) + sha256(index);
  putString(header, index);
  bytes += std::ssize(header);
  if (bytes > detail::maxKernelPackBytes || std::ssize(index) > detail::maxKernelIndexBytes ||
      largest > detail::maxCacheEntryBytes)
    return Status(ErrorKind::value_error,
                  fmt::format("cannot write {}: {} kernels with {} bytes; a pack has at most {}", path, kernels.size(),
                              bytes, detail::maxKernelPackBytes));
  std::vector<std::string_view> parts{header};
  parts.insert(parts.end(), entries.begin(), entries.end());
  HALFTONE_RETURN_IF_ERROR(replaceFile(path, parts));
  HALFTONE_RETURN_IF_ERROR(forbidWriting(path));
  return bytes;
}

KernelPacks::KernelPacks(std::string codeId, const char *variable) : codeId_(std::move(codeId)) {
  std::vector<std::string> faults;
  const std::string value = environmentValue(variable);
  for (size_t begin = 0; begin < value.size();) {
    const size_t end = std::min(value.find(':', begin), value.size());
    if (end > begin)
      if (const Status status = add(value.substr(begin, end - begin)); !status)
        faults.push_back(status.message());
    begin = end + 1;
  }
  if (!faults.empty())
    warning_ =
        environmentError(ErrorKind::value_error, variable,
                         fmt::format("kernel packs of this version, separated by ':'; {}", fmt::join(faults, "; ")))
            .message();
}

Status KernelPacks::add(const std::string &path) {
  StatusOr<std::shared_ptr<const KernelPack>> pack = KernelPack::open(path, codeId_);
  HALFTONE_RETURN_IF_ERROR(pack.status());
  const ForkSafeLock lock(mutex_);
  const auto old = std::ranges::find(packs_, path, &Named::path);
  if (old != packs_.end())
    old->pack = std::move(*pack);
  else
    packs_.push_back({path, std::move(*pack)});
  return {};
}

std::optional<KernelCode> KernelPacks::find(const std::string &key) const {
  std::vector<Named> packs;
  {
    const ForkSafeLock lock(mutex_);
    packs = packs_;
  }
  for (const Named &named : packs)
    if (std::optional<KernelCode> kernel = named.pack->find(key))
      return kernel;
  return std::nullopt;
}

} // namespace halftone
