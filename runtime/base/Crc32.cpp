// Folds 64 bytes at a time by carry-less products of the CPU; zlib does the rest, and all on other CPUs.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Crc32.h"
#include <zlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halftone {

namespace {

#if defined(__x86_64__)

constexpr size_t laneBytes = 16, blockBytes = 4 * laneBytes;

__attribute__((target("pclmul,sse4.1"))) __m128i lane(const std::byte *at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i *>(at));
}

// As in Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2009).

/// `x` moved on by the distance for which `factors` are made, and `next` added.
__attribute__((target("pclmul,sse4.1"))) __m128i fold(__m128i x, __m128i factors, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(x, factors, 0x00), high = _mm_clmulepi64_si128(x, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/// The register of the checksum, inverted outside, after a multiple of 16 bytes, at least 64.
__attribute__((target("pclmul,sse4.1"))) uint32_t folded(const std::byte *at, size_t bytes, uint32_t start) {
  // Powers of x modulo the polynomial, reflected: for 512 and 128 bits, then for the reduction to 64 and 32 bits.
  const __m128i by512 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4), by128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  const __m128i by64 = _mm_set_epi64x(0, 0x0163cd6124), quotient = _mm_set_epi64x(0x01f7011641, 0x01db710641);
  const __m128i words = _mm_setr_epi32(-1, 0, -1, 0);
  __m128i x[4];
  for (size_t i = 0; i < 4; ++i)
    x[i] = lane(at + i * laneBytes);
  x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128(static_cast<int>(start)));
  for (at += blockBytes, bytes -= blockBytes; bytes >= blockBytes; at += blockBytes, bytes -= blockBytes)
    for (size_t i = 0; i < 4; ++i)
      x[i] = fold(x[i], by512, lane(at + i * laneBytes));
  __m128i rest = x[0];
  for (size_t i = 1; i < 4; ++i)
    rest = fold(rest, by128, x[i]);
  for (; bytes >= laneBytes; at += laneBytes, bytes -= laneBytes)
    rest = fold(rest, by128, lane(at));
  rest = _mm_xor_si128(_mm_srli_si128(rest, 8), _mm_clmulepi64_si128(rest, by128, 0x10));
  rest = _mm_xor_si128(_mm_srli_si128(rest, 4), _mm_clmulepi64_si128(_mm_and_si128(rest, words), by64, 0x00));
  __m128i times = _mm_clmulepi64_si128(_mm_and_si128(rest, words), quotient, 0x10); // Barrett's reduction
  times = _mm_clmulepi64_si128(_mm_and_si128(times, words), quotient, 0x00);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(rest, times), 1));
}

bool hasProducts() {
  static const bool has = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  return has;
}

#endif

} // namespace

uint32_t crc32Of(std::span<const std::byte> bytes, uint32_t before) {
#if defined(__x86_64__)
  if (bytes.size() >= blockBytes && hasProducts()) {
    const size_t whole = bytes.size() / laneBytes * laneBytes;
    before = ~folded(bytes.data(), whole, ~before);
    bytes = bytes.subspan(whole);
  }
#endif
  if (bytes.empty())
    return before;
  return static_cast<uint32_t>(crc32_z(before, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

} // namespace halftone
