// What the device leaves open: orders, which are as written for seed 0 and otherwise random, and initial registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace halftone::emulator {

/// A number that depends on all bits of `value` (the final steps of SplitMix64).
inline uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

class Random {
public:
  explicit Random(uint64_t seed) : seed_(seed), state_(mixed(seed)) {}

  uint64_t seed() const { return seed_; }
  bool isOrdered() const { return seed_ == 0; }
  uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15); }
  /// A number below `count`, which is at least 1; always 0 for seed 0.
  uint64_t below(uint64_t count) { return isOrdered() ? 0 : next() % count; }

  /// Fills `bytes` bytes with numbers from a table, from an offset that is drawn for each call, also for seed 0.
  void fill(std::byte *to, size_t bytes) {
    while (bytes) {
      const size_t place = mixed(seed_ ^ ++fills_) % (tableWords / 2);
      const size_t count = std::min(bytes, (tableWords - place) * sizeof(uint64_t));
      std::memcpy(to, table().data() + place, count);
      to += count;
      bytes -= count;
    }
  }

private:
  static constexpr size_t tableWords = 16384;

  static const std::vector<uint64_t> &table() {
    static auto &words = *new std::vector<uint64_t>([] {
      std::vector<uint64_t> made(tableWords);
      for (size_t i = 0; i < made.size(); ++i)
        made[i] = mixed(i * 0x9e3779b97f4a7c15 + 1);
      return made;
    }());
    return words;
  }

  uint64_t seed_;
  uint64_t state_;
  uint64_t fills_ = 0;
};

} // namespace halftone::emulator
