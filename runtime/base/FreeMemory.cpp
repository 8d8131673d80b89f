// Reads the free memory from /proc, the limits of the process and control groups.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/FreeMemory.h"
#include "runtime/base/OpenFile.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

namespace halftone {
namespace {

constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
constexpr int64_t minBytesToCheck = int64_t(16) << 20;

/// The contents of a system file; "" if there is none.
std::string textOf(const std::string &path) {
  StatusOr<std::string> text = readFile(path);
  return text ? *std::move(text) : "";
}

/// The integer after `key` at the start of a line of the file.
std::optional<int64_t> numberAfter(const std::string &path, const std::string &key) {
  std::istringstream file(textOf(path));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key))
      return std::strtoll(line.c_str() + key.size(), nullptr, 10);
  return std::nullopt;
}
/// The integer in a file; nullopt for "max".
std::optional<int64_t> numberIn(const std::string &path) {
  std::istringstream file(textOf(path));
  int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

int64_t leftOnMachine() {
  const std::optional<int64_t> memory = numberAfter("/proc/meminfo", "MemAvailable:");
  return memory ? (*memory + numberAfter("/proc/meminfo", "SwapFree:").value_or(0)) * 1024 : unlimited;
}

int64_t leftOfLimit(int resource, const char *used) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return unlimited;
  const int64_t most = static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, unlimited));
  return most - numberAfter("/proc/self/status", used).value_or(0) * 1024;
}

/// Bytes left in version 2 control groups: the process's own group and its ancestors. Cached file contents that the
/// system can drop count as free.
int64_t leftInGroups() {
  std::istringstream file(textOf("/proc/self/cgroup"));
  std::string group;
  while (std::getline(file, group) && !group.starts_with("0::")) {
  }
  if (!group.starts_with("0::/"))
    return unlimited;
  int64_t left = unlimited;
  for (group = group.substr(3); !group.empty(); group.resize(group.rfind('/'))) {
    const std::string folder = "/sys/fs/cgroup" + group + "/";
    const std::optional<int64_t> most = numberIn(folder + "memory.max"), used = numberIn(folder + "memory.current");
    if (most && used)
      left = std::min(left, *most - *used + numberAfter(folder + "memory.stat", "inactive_file ").value_or(0));
  }
  return left;
}

} // namespace

int64_t freeMemory() {
  const int64_t left = std::min(
      {leftOnMachine(), leftOfLimit(RLIMIT_AS, "VmSize:"), leftOfLimit(RLIMIT_DATA, "VmData:"), leftInGroups()});
  return std::max<int64_t>(left, 0);
}

bool fitsMemory(int64_t bytes) { return bytes < minBytesToCheck || bytes <= freeMemory(); }

std::string memoryShortage(int64_t bytes) { return fmt::format("{} bytes requested, {} free", bytes, freeMemory()); }

} // namespace halftone
