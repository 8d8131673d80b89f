// The order in which the emulator does things that the device leaves open: as written for seed 0, else drawn from the seed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace halftone::emulator {

/// A number that depends on all bits of `value` (SplitMix64's last steps).
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

private:
  uint64_t seed_;
  uint64_t state_;
};

} // namespace halftone::emulator
