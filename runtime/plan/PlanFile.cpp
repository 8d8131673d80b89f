// Reads and writes plan files. Writer and reader share one list of fields, so they cannot disagree.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/PlanFile.h"
#include "runtime/base/Crc32.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/OpenFile.h"
#include "runtime/base/WriteFile.h"
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <type_traits>

namespace halftone {
namespace {

constexpr std::string_view magic = "HTPLAN\r\n";
constexpr size_t headerBytes = 16; // magic, version, checksum

/// `T` is `X` or `const X`.
template <class T, class X>
concept Is = std::same_as<std::remove_const_t<T>, X>;

template <class A, Is<TensorType> T> void fields(A &a, T &x) { a(x.dtype, x.shape); }
template <class A, Is<Parameter> T> void fields(A &a, T &x) { a(x.name, x.type); }
template <class A, Is<Signature> T> void fields(A &a, T &x) { a(x.feeds, x.fetches); }
template <class A, Is<VariableSlot> T> void fields(A &a, T &x) { a(x.symbol, x.path, x.type, x.read, x.written); }
template <class A, Is<LaunchShape> T> void fields(A &a, T &x) { a(x.threads, x.sharedBytes); }
template <class A, Is<KernelCode> T> void fields(A &a, T &x) {
  a(x.symbol, x.kind, x.target, x.description, x.code, x.method, x.launch);
  if (a.version >= 10)
    a(x.uses);
}
template <class A, Is<Site> T> void fields(A &a, T &x) { a(x.text); }
template <class A, Is<LedgerRow> T> void fields(A &a, T &x) {
  a(x.path, x.value, x.from, x.to, x.storage, x.fused, x.bytes, x.rule, x.location);
}
template <class A, Is<Stride> T> void fields(A &a, T &x) { a(x.bytes, x.period, x.phase); }
template <class A, Is<Slot> T> void fields(A &a, T &x) {
  a(x.kind, x.type, x.index);
  if (a.version >= 9)
    a(x.offset, x.strides);
}
template <class A, Is<Predicate> T> void fields(A &a, T &x) { a(x.slot, x.negated); }
template <class A, Is<LaunchStep> T> void fields(A &a, T &x) {
  a(x.kernel, x.grid, x.buffers, x.operandCount, x.extents, x.scratchBytes, x.predicate, x.joined, x.site, x.cost);
}
template <class A, Is<CopyStep> T> void fields(A &a, T &x) { a(x.from, x.to, x.predicate); }
template <class A, Is<CollectiveStep> T> void fields(A &a, T &x) { a(x.kind, x.from, x.to, x.offsets, x.rank); }
template <class A, Is<WaitStep> T> void fields(A &, T &) {}
template <class A, Is<RepeatStep> T> void fields(A &a, T &x) { a(x.count, x.steps, x.running); }
template <class A, Is<ShadowSlot> T> void fields(A &a, T &x) {
  a(x.symbol, x.function, x.type, x.variable, x.source, x.written, x.refresh);
}
template <class A, Is<Plan> T> void fields(A &a, T &x) { a(x.slots, x.steps, x.arenaBytes, x.largestLiveBytes); }
template <class A, Is<Executable> T> void fields(A &a, T &x) {
  a(x.name, x.buildId, x.signature, x.variables, x.shadows, x.constants, x.kernels, x.sites, x.ledger, x.plan);
}

uint64_t littleEndian(uint64_t v) {
  if constexpr (std::endian::native == std::endian::big)
    v = __builtin_bswap64(v);
  return v;
}

void putU32(std::string &out, uint32_t v) {
  for (int i = 0; i < 4; ++i)
    out += static_cast<char>(v >> (8 * i));
}

uint32_t getU32(std::string_view bytes) {
  uint32_t v = 0;
  for (int i = 0; i < 4; ++i)
    v |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  return v;
}

uint32_t checksum(std::string_view bytes) { return crc32Of(std::as_bytes(std::span(bytes))); }

class Writer {
public:
  static constexpr uint32_t version = planFileVersion;
  std::string out;
  template <class... T> void operator()(const T &...values) { (put(values), ...); }

private:
  void word(uint64_t v) {
    v = littleEndian(v);
    out.append(reinterpret_cast<const char *>(&v), sizeof v);
  }
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T v) {
    if constexpr (std::is_floating_point_v<T>)
      word(std::bit_cast<uint64_t>(v));
    else
      word(static_cast<uint64_t>(static_cast<int64_t>(v)));
  }
  void put(const std::string &v) {
    word(v.size());
    out += v;
  }
  template <class T> void put(const std::vector<T> &v) {
    word(v.size());
    for (const T &x : v)
      put(x);
  }
  template <class T> void put(const std::map<std::string, T> &v) {
    word(v.size());
    for (auto &[key, x] : v)
      (*this)(key, x);
  }
  template <class T> void put(const std::optional<T> &v) {
    put(v.has_value());
    if (v)
      put(*v);
  }
  void put(const Step &v) {
    word(v.index());
    std::visit([&](auto &step) { put(step); }, v);
  }
  template <class T>
    requires std::is_class_v<T>
  void put(const T &v) {
    fields(*this, v);
  }
};

/// After the first error every further read is a no-op.
class Reader {
public:
  Reader(std::string_view bytes, size_t offset, uint32_t version) : version(version), bytes(bytes), at(offset) {}
  const uint32_t version; // of the file
  template <class... T> void operator()(T &...values) { (get(values), ...); }
  Status finish() {
    if (problem.empty() && at != bytes.size())
      fail("bytes after the end");
    return problem.empty() ? Status() : Status(ErrorKind::value_error, problem);
  }

private:
  std::string_view bytes;
  size_t at;
  std::string problem;

  bool good() const { return problem.empty(); }
  void fail(std::string_view what) {
    if (good())
      problem = fmt::format("not a plan file: {} at byte {} of {}", what, at, bytes.size());
  }
  uint64_t word() {
    if (!good())
      return 0;
    if (bytes.size() - at < 8) {
      fail("it ends within a number");
      return 0;
    }
    uint64_t v;
    std::memcpy(&v, bytes.data() + at, sizeof v);
    at += sizeof v;
    return littleEndian(v);
  }
  /// Reads the length of a list. Each element takes at least one more byte, so a length beyond the number of remaining
  /// bytes is refused before any allocation.
  uint64_t length() {
    uint64_t n = word();
    if (good() && n > bytes.size() - at) {
      fail(fmt::format("a length of {} exceeds the remaining bytes", n));
      return 0;
    }
    return n;
  }
  void get(double &v) { v = std::bit_cast<double>(word()); }
  void get(int64_t &v) { v = static_cast<int64_t>(word()); }
  void get(int32_t &v) { v = static_cast<int32_t>(bounded(INT32_MIN, INT32_MAX)); }
  void get(bool &v) { v = bounded(0, 1) != 0; }
  void get(DType &v) { v = static_cast<DType>(bounded(0, static_cast<int64_t>(DType::string))); }
  void get(CollectiveKind &v) {
    v = static_cast<CollectiveKind>(bounded(0, static_cast<int64_t>(CollectiveKind::gather)));
  }
  void get(SlotKind &v) { v = static_cast<SlotKind>(bounded(0, static_cast<int64_t>(SlotKind::constant))); }
  int64_t bounded(int64_t low, int64_t high) {
    auto v = static_cast<int64_t>(word());
    if (v < low || v > high) {
      fail(fmt::format("{} is outside {} to {}", v, low, high));
      return low <= 0 ? 0 : low;
    }
    return v;
  }
  void get(std::string &v) {
    uint64_t n = length();
    v.assign(bytes.substr(at, n));
    at += n;
  }
  template <class T> void get(std::vector<T> &v) {
    v.clear();
    for (uint64_t n = length(); n > 0 && good(); --n)
      get(v.emplace_back());
  }
  template <class T> void get(std::map<std::string, T> &v) {
    v.clear();
    for (uint64_t n = length(); n > 0 && good(); --n) {
      std::string key;
      get(key);
      if (auto [entry, isNew] = v.try_emplace(std::move(key)); isNew)
        get(entry->second);
      else
        fail("a repeated key");
    }
  }
  template <class T> void get(std::optional<T> &v) {
    bool present = false;
    get(present);
    if (present)
      get(v.emplace());
  }
  void get(Step &v) {
    switch (bounded(0, version >= 9 ? 4 : 3)) {
    case 0:
      return get(v.emplace<LaunchStep>());
    case 1:
      return get(v.emplace<CopyStep>());
    case 2:
      return get(v.emplace<CollectiveStep>());
    case 3:
      return get(v.emplace<WaitStep>());
    default:
      return get(v.emplace<RepeatStep>());
    }
  }
  template <class T>
    requires std::is_class_v<T>
  void get(T &v) {
    fields(*this, v);
  }
};

} // namespace

std::string writeExecutable(const Executable &executable) {
  Writer writer;
  writer(executable);
  std::string bytes(magic);
  putU32(bytes, planFileVersion);
  putU32(bytes, checksum(writer.out));
  return bytes += writer.out;
}

StatusOr<Executable> readExecutable(std::string_view bytes) {
  auto bad = [](std::string message) {
    return Status(ErrorKind::value_error, "not a plan file: " + std::move(message));
  };
  if (bytes.size() < headerBytes || !bytes.starts_with(magic))
    return bad("it does not begin with the plan file's magic bytes");
  const uint32_t version = getU32(bytes.substr(8));
  if (version < oldestPlanFileVersion || version > planFileVersion)
    return bad(fmt::format("format version {}, this library reads versions {} to {}", version, oldestPlanFileVersion,
                           planFileVersion));
  if (getU32(bytes.substr(12)) != checksum(bytes.substr(headerBytes)))
    return bad("the checksum differs; the file is damaged or cut short");
  Executable executable;
  Reader reader(bytes, headerBytes, version);
  reader(executable);
  HALFTONE_RETURN_IF_ERROR(reader.finish());
  HALFTONE_RETURN_IF_ERROR(verify(executable));
  return executable;
}

StatusOr<Executable> loadExecutable(const std::string &path) {
  const StatusOr<std::string> bytes = readFile(path, detail::maxPlanBytes);
  HALFTONE_RETURN_IF_ERROR(bytes.status());
  StatusOr<Executable> executable = readExecutable(*bytes);
  if (!executable.isOk())
    return Status(executable.status().kind(), path + ": " + executable.status().message());
  return executable;
}

Status saveExecutable(const Executable &executable, const std::string &path) {
  const std::string bytes = writeExecutable(executable);
  if (std::ssize(bytes) > detail::maxPlanBytes)
    return Status(ErrorKind::value_error, fmt::format("cannot write {}: the plan has {} bytes; a file holds at most {}",
                                                      path, bytes.size(), detail::maxPlanBytes));
  return writeFile(path, {bytes});
}

} // namespace halftone
