// FarmHash's fingerprint and SipHash, on little-endian machines.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/StringHashes.h"
#include <bit>
#include <cstring>
#include <utility>

namespace halftone::detail {

namespace {

constexpr uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

static_assert(std::endian::native == std::endian::little);
template <class Word> uint64_t word(const char *at) {
  Word value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}
uint64_t word64(const char *at) { return word<uint64_t>(at); }

uint64_t mixed(uint64_t value) { return value ^ (value >> 47); }
uint64_t hash16(uint64_t u, uint64_t v, uint64_t factor) {
  const uint64_t a = mixed((u ^ v) * factor);
  return mixed((v ^ a) * factor) * factor;
}

uint64_t hashTo16(const char *s, size_t length) {
  const uint64_t factor = k2 + length * 2;
  if (length >= 8) {
    const uint64_t a = word64(s) + k2, b = word64(s + length - 8);
    return hash16(std::rotr(b, 37) * factor + a, (std::rotr(a, 25) + b) * factor, factor);
  }
  if (length >= 4)
    return hash16(length + (word<uint32_t>(s) << 3), word<uint32_t>(s + length - 4), factor);
  if (length == 0)
    return k2;
  const auto byte = [s](size_t index) { return static_cast<uint8_t>(s[index]); };
  const uint32_t y = byte(0) + (static_cast<uint32_t>(byte(length >> 1)) << 8);
  const uint32_t z = static_cast<uint32_t>(length) + (static_cast<uint32_t>(byte(length - 1)) << 2);
  return mixed(y * k2 ^ z * k0) * k2;
}

uint64_t hash17To32(const char *s, size_t length) {
  const uint64_t factor = k2 + length * 2, a = word64(s) * k1, b = word64(s + 8);
  const uint64_t c = word64(s + length - 8) * factor, d = word64(s + length - 16) * k2;
  return hash16(std::rotr(a + b, 43) + std::rotr(c, 30) + d, a + std::rotr(b + k2, 18) + c, factor);
}

uint64_t hash33To64(const char *s, size_t length) {
  const uint64_t factor = k2 + length * 2, a = word64(s) * k2, b = word64(s + 8);
  const uint64_t c = word64(s + length - 8) * factor, d = word64(s + length - 16) * k2;
  const uint64_t y = std::rotr(a + b, 43) + std::rotr(c, 30) + d;
  const uint64_t z = hash16(y, a + std::rotr(b + k2, 18) + c, factor);
  const uint64_t e = word64(s + 16) * factor, f = word64(s + 24);
  const uint64_t g = (y + word64(s + length - 32)) * factor, h = (z + word64(s + length - 24)) * factor;
  return hash16(std::rotr(e + f, 43) + std::rotr(g, 30) + h, e + std::rotr(f + a, 18) + g, factor);
}

using Pair = std::pair<uint64_t, uint64_t>;
/// Hashes 32 bytes with two seeds.
Pair weakHash(const char *s, uint64_t a, uint64_t b) {
  const uint64_t w = word64(s), x = word64(s + 8), y = word64(s + 16), z = word64(s + 24);
  a += w;
  b = std::rotr(b + a + z, 21);
  const uint64_t c = a;
  a += x + y;
  b += std::rotr(a, 44);
  return {a + z, b + c};
}

/// The hash state for a text of more than 64 bytes.
struct LongHash {
  uint64_t x = 81, y = 81 * k1 + 113, z = mixed((81 * k1 + 113) * k2 + 113) * k2;
  Pair v{}, w{};

  /// Consumes 64 bytes. The last block has its own factor, and counts parts of the state nine times.
  void take(const char *s, uint64_t factor, uint64_t times) {
    x = std::rotr(x + y + v.first + word64(s + 8), 37) * factor;
    y = std::rotr(y + v.second + word64(s + 48), 42) * factor;
    x ^= w.second * times;
    y += v.first * times + word64(s + 40);
    z = std::rotr(z + w.first, 33) * factor;
    v = weakHash(s, v.second * factor, x + w.first);
    w = weakHash(s + 32, z + w.second, y + word64(s + 16));
    std::swap(z, x);
  }
};

uint64_t hashLong(const char *s, size_t length) {
  LongHash state;
  state.x = state.x * k2 + word64(s);
  const size_t rest = (length - 1) & 63;
  const char *const end = s + (length - 1) / 64 * 64;
  for (; s != end; s += 64)
    state.take(s, k1, 1);
  const uint64_t factor = k1 + ((state.z & 0xff) << 1);
  state.w.first += rest;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.take(end + rest - 63, factor, 9);
  return hash16(hash16(state.v.first, state.w.first, factor) + mixed(state.y) * k0 + state.z,
                hash16(state.v.second, state.w.second, factor) + state.x, factor);
}

/// The four words of SipHash.
struct SipState {
  std::array<uint64_t, 4> v;
  void rounds(int count) {
    for (int round = 0; round < count; ++round) {
      v[0] += v[1];
      v[2] += v[3];
      v[1] = std::rotl(v[1], 13) ^ v[0];
      v[3] = std::rotl(v[3], 16) ^ v[2];
      v[0] = std::rotl(v[0], 32) + v[3];
      v[2] += v[1];
      v[3] = std::rotl(v[3], 21) ^ v[0];
      v[1] = std::rotl(v[1], 17) ^ v[2];
      v[2] = std::rotl(v[2], 32);
    }
  }
  void take(uint64_t message) {
    v[3] ^= message;
    rounds(2);
    v[0] ^= message;
  }
};

} // namespace

uint64_t fingerprint64(std::string_view text) {
  const char *const s = text.data();
  const size_t length = text.size();
  return length <= 16   ? hashTo16(s, length)
         : length <= 32 ? hash17To32(s, length)
         : length <= 64 ? hash33To64(s, length)
                        : hashLong(s, length);
}

uint64_t sipHash64(std::string_view text, const std::array<uint64_t, 2> &key) {
  SipState state{{0x736f6d6570736575 ^ key[0], 0x646f72616e646f6d ^ key[1], 0x6c7967656e657261 ^ key[0],
                  0x7465646279746573 ^ key[1]}};
  const size_t whole = text.size() / 8 * 8;
  for (size_t at = 0; at < whole; at += 8)
    state.take(word64(text.data() + at));
  uint64_t last = static_cast<uint64_t>(text.size()) << 56;
  for (size_t at = whole; at < text.size(); ++at)
    last |= static_cast<uint64_t>(static_cast<uint8_t>(text[at])) << 8 * (at - whole);
  state.take(last);
  state.v[2] ^= 0xff;
  state.rounds(4);
  return state.v[0] ^ state.v[1] ^ state.v[2] ^ state.v[3];
}

uint64_t joinedFingerprint(uint64_t first, uint64_t second) {
  constexpr uint64_t factor = 0xc6a4a7935bd1e995;
  uint64_t joined = (first ^ factor ^ mixed(second * factor) * factor) * factor;
  joined = mixed(joined) * factor;
  return mixed(joined);
}

} // namespace halftone::detail
