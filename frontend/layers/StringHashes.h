// The string hashes that Keras's layers take from TensorFlow.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace halftone::detail {

/// FarmHash's Fingerprint64, which never changes. Source: https://github.com/google/farmhash, farmhashna::Hash64.
uint64_t fingerprint64(std::string_view text);

/// SipHash-2-4 under a key of two words. Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012.
uint64_t sipHash64(std::string_view text, const std::array<uint64_t, 2> &key);

/// TensorFlow's FingerprintCat64: combines the fingerprints of two texts.
uint64_t joinedFingerprint(uint64_t first, uint64_t second);

} // namespace halftone::detail
