// The CPUs that code is generated for: what the emitters ask about them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace halftone::compiler {

/// A target by name: "host" (detected), "x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids", "graniterapids", or
/// any other
/// "<triple>[:<cpu>]" that LLVM was built with, which gets generic vectors.
struct CpuTarget {
  std::string name;              // as asked
  std::string triple;            // LLVM's
  std::string cpu;               // LLVM's -mcpu
  std::string features;          // LLVM's -mattr; with triple and cpu, part of every kernel's key
  int64_t vectorBytes = 16;      // preferred vector register
  bool hasFma = false;           // fused multiply-add in vectors
  bool hasF16Conversion = false; // f16 <-> f32 as instructions (F16C, AVX-512, NEON)
  bool hasRounding = false;      // floor, ceil, trunc and roundeven of vectors as instructions
  bool hasMaskedMemory = false;  // cheap masked loads and stores (AVX-512)
  bool hasStreaming = false;     // stores of whole aligned vectors that go past the caches (x86)
  bool hasScale = false;         // x * 2^floor(y) of 512-bit vectors as an instruction (AVX-512)
  bool hasAvx512Bf16 = false, hasAvx512Fp16 = false, hasVnni = false;
  bool hasAmxBf16 = false, hasAmxInt8 = false; // products of tiles
  int64_t vectorRegisters = 16;
  std::string key() const; // triple + cpu + features

  /// value_error listing the known names when `name` is none.
  static StatusOr<CpuTarget> find(std::string_view name);
};

} // namespace halftone::compiler
