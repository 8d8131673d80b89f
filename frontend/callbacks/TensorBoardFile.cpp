// Writes event files: protobuf messages in records with masked checksums.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/callbacks/TensorBoardFile.h"
#include "halftone/Error.h"
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace halftone::detail {

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
      made[byte] = byte;
      for (int bit = 0; bit < 8; ++bit)
        made[byte] = (made[byte] >> 1) ^ (made[byte] & 1 ? 0x82f63b78u : 0);
    }
    return made;
  }();
  uint32_t sum = ~0u;
  for (const char byte : bytes)
    sum = (sum >> 8) ^ table[(sum ^ static_cast<uint8_t>(byte)) & 0xff];
  return ~sum;
}

namespace {

/// Little-endian bytes of an integer.
template <class T> std::string fixed(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i)
    bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// Protobuf fields: a key of field number and wire type, then the value.
std::string integerField(uint32_t number, int64_t value) {
  return varint(number << 3) + varint(static_cast<uint64_t>(value));
}
std::string doubleField(uint32_t number, double value) {
  return varint(number << 3 | 1) + fixed(std::bit_cast<uint64_t>(value));
}
std::string floatField(uint32_t number, float value) {
  return varint(number << 3 | 5) + fixed(std::bit_cast<uint32_t>(value));
}
std::string bytesField(uint32_t number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

/// TFRecord's masked checksum, which remains reliable for data that contains checksums.
uint32_t masked(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; }

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace

TensorBoardFile::TensorBoardFile(const std::string &folder) {
  makeFolder(folder).orThrow();
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == 0)
    host = {'h', 'o', 's', 't'};
  static std::atomic<int64_t> files = 0;
  const std::string name = fmt::format("events.out.tfevents.{}.{}.{}.{}.v2", static_cast<int64_t>(secondsNow()),
                                       host.data(), ::getpid(), files++);
  file_ = GrowingFile::open((std::filesystem::path(folder) / name).string(), true).valueOrThrow();
  isOpen_ = true;
  addEvent(bytesField(3, "brain.Event:2"));
  write();
}

void TensorBoardFile::addEvent(std::string_view fields) {
  const std::string event = doubleField(1, secondsNow()) + std::string(fields);
  const std::string length = fixed(uint64_t(event.size()));
  records_ += length + fixed(masked(length)) + event + fixed(masked(event));
}

void TensorBoardFile::addScalar(std::string_view tag, int64_t step, double value) {
  const std::string scalar = bytesField(1, tag) + floatField(2, static_cast<float>(value));
  addEvent(integerField(2, step) + bytesField(5, bytesField(1, scalar)));
}

void TensorBoardFile::write() { file_.append(std::exchange(records_, {})).orThrow(); }

} // namespace halftone::detail
