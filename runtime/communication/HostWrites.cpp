// Maintains the digest of host writes.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/communication/HostWrites.h"
#include "runtime/base/ForkGate.h"
#include <cstdint>
#include <fmt/format.h>
#include <mutex>
#include <string_view>

namespace halftone {

namespace {

struct Writes {
  std::mutex mutex; // guards the fields below
  int64_t count = 0;
  uint64_t digest = 0;
  std::string last; // the path
};
/// Never destroyed, since threads may write while the process exits.
Writes &writes() {
  static Writes &only = *new Writes;
  return only;
}

/// 64-bit FNV-1a.
uint64_t mixed(uint64_t digest, std::string_view bytes) {
  for (const char byte : bytes)
    digest = (digest ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return digest;
}

} // namespace

void HostWrites::add(const std::string &path, std::span<const std::byte> bytes) {
  Writes &all = writes();
  const ForkSafeLock lock(all.mutex);
  ++all.count;
  all.digest = mixed(mixed(all.digest ^ 0xcbf29ce484222325u, path),
                     {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  all.last = path;
}

void HostWrites::forget() {
  Writes &all = writes();
  const ForkSafeLock lock(all.mutex);
  all.count = 0;
  all.digest = 0;
  all.last.clear();
}

std::string HostWrites::words() {
  Writes &all = writes();
  const ForkSafeLock lock(all.mutex);
  if (all.count == 0)
    return "";
  return fmt::format("; the host has set {} values, the last of '{}' ({:08x})", all.count, all.last,
                     static_cast<uint32_t>(all.digest >> 32 ^ all.digest));
}

} // namespace halftone
