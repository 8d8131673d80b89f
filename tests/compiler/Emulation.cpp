// Emulated instructions give the bits of Intel's manual, and so do the CPU's own instructions if it has them.
// SPDX-License-Identifier: Apache-2.0
#include "CompiledFunction.h"
#include "compiler/targets/cpu/matmul/Products.h"
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <random>

using namespace halftone;
using namespace halftone::compiler;

namespace {

constexpr size_t lanes = 16, words = 32; // lanes of 32 bits; vectors of at most 128 bytes

struct Vector {
  alignas(64) std::array<uint32_t, words> word{};
};

/// y = instruction(x...) on vectors of these types. `more` holds the operands that follow the vectors.
Loaded loadInstruction(const std::string &intrinsic, const std::vector<std::string> &types, const std::string &result,
                       const std::string &more, const std::string &target) {
  std::string text =
      "func.func @kernel(%buffers: !llvm.ptr, %extents: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {\n"
      "  %all16 = arith.constant -1 : i16\n  %all8 = arith.constant -1 : i8\n  %mode = arith.constant 4 : i32\n";
  std::string operands, list;
  for (size_t i = 0; i <= types.size(); ++i) {
    text += fmt::format("  %s{0} = llvm.getelementptr %buffers[{0}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
                        "  %p{0} = llvm.load %s{0} : !llvm.ptr -> !llvm.ptr\n",
                        i);
    if (i == types.size())
      break;
    text += fmt::format("  %x{0} = llvm.load %p{0} : !llvm.ptr -> {1}\n", i, types[i]);
    operands += fmt::format("{}%x{}", i ? ", " : "", i);
    list += (i ? ", " : "") + types[i];
  }
  const size_t colon = more.find(':');
  if (!more.empty()) {
    operands += ", " + more.substr(0, colon);
    list += ", " + more.substr(colon + 1);
  }
  text += fmt::format("  %y = llvm.call_intrinsic \"{}\"({}) : ({}) -> {}\n  llvm.store %y, %p{} : {}, !llvm.ptr\n"
                      "  return\n}}\n",
                      intrinsic, operands, list, result, types.size(), result);
  return loadEmitted(text, targetNamed(target));
}

Vector run(const Loaded &code, std::vector<Vector> operands) {
  Vector result;
  std::vector<void *> buffers;
  for (Vector &operand : operands)
    buffers.push_back(operand.word.data());
  buffers.push_back(result.word.data());
  code.function(buffers.data(), nullptr, 0, 1, nullptr);
  return result;
}

/// The emulated CPU, and this one if it has all of the instructions.
std::vector<std::string> zens() {
  const std::string zen = "x86_64-unknown-linux-gnu:znver4";
  std::vector<std::string> targets{"emulated:" + zen};
  if (const CpuTarget host = targetNamed("host");
      findProduct(host, cpu::Product::vdpbf16ps) && findProduct(host, cpu::Product::vpdpbusd))
    targets.push_back("host");
  return targets;
}

float real(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }
float flushed(float value) { return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value; }
bool isSame(float a, float b) { return (std::isnan(a) && std::isnan(b)) || bitsOf(a) == bitsOf(b); }

/// Random f32 bits, every third from the extremes.
uint32_t drawn(std::mt19937 &random) {
  constexpr uint32_t extremes[] = {0,          0x80000000, 1,          0x807fffff, 0x00400000, 0x7f800000, 0xff800000,
                                   0x7fc00000, 0x7f800001, 0x3f800000, 0x00800000, 0x7f7fffff, 0x3f808000, 0x3f818000};
  return random() % 3 ? uint32_t(random()) : extremes[random() % std::size(extremes)];
}

Vector drawnVector(std::mt19937 &random) {
  Vector vector;
  for (uint32_t &word : vector.word)
    word = drawn(random);
  return vector;
}

} // namespace

TEST_CASE("Products of pairs are added one after the other, and subnormal numbers count as 0", "[targets]") {
  for (const std::string &target : zens()) {
    const Loaded code =
        loadInstruction("llvm.x86.avx512bf16.dpbf16ps.512", {"vector<16xf32>", "vector<32xbf16>", "vector<32xbf16>"},
                        "vector<16xf32>", "", target);
    std::mt19937 random(1);
    for (int times = 0; times < 2000; ++times) {
      const Vector sums = drawnVector(random), a = drawnVector(random), b = drawnVector(random);
      Vector pairs = b; // the second member of each pair, where extremes are wanted, is the high half of b
      for (uint32_t &pair : pairs.word)
        pair = (pair & 0xffff0000) | drawn(random) >> 16;
      const Vector found = run(code, {sums, a, pairs});
      for (size_t i = 0; i < lanes; ++i) {
        const auto second = [&](const Vector &v) { return flushed(real(v.word[i] & 0xffff0000)); };
        const auto first = [&](const Vector &v) { return flushed(real(v.word[i] << 16)); };
        float sum = flushed(real(sums.word[i]));
        sum = flushed(std::fma(second(a), second(pairs), sum));
        sum = flushed(std::fma(first(a), first(pairs), sum));
        INFO(target << ": " << real(sums.word[i]) << ", " << second(a) << " * " << second(pairs) << ", " << first(a)
                    << " * " << first(pairs));
        REQUIRE(isSame(real(found.word[i]), sum));
      }
    }
  }
}

TEST_CASE("Products of four unsigned with four signed bytes wrap", "[targets]") {
  for (const std::string &target : zens()) {
    const Loaded code =
        loadInstruction("llvm.x86.avx512.vpdpbusd.512", {"vector<16xi32>", "vector<64xi8>", "vector<64xi8>"},
                        "vector<16xi32>", "", target);
    std::mt19937 random(2);
    for (int times = 0; times < 500; ++times) {
      const Vector sums = drawnVector(random), a = drawnVector(random), b = drawnVector(random);
      const Vector found = run(code, {sums, a, b});
      for (size_t i = 0; i < lanes; ++i) {
        uint32_t sum = sums.word[i];
        for (int shift = 0; shift < 32; shift += 8)
          sum += uint32_t(int(uint8_t(a.word[i] >> shift)) * int(int8_t(b.word[i] >> shift)));
        REQUIRE(found.word[i] == sum);
      }
    }
  }
}

TEST_CASE("Numbers round to the nearest bf16, and subnormal ones become 0", "[targets]") {
  for (const std::string &target : zens()) {
    const Loaded code =
        loadInstruction("llvm.x86.avx512bf16.cvtneps2bf16.512", {"vector<16xf32>"}, "vector<16xbf16>", "", target);
    std::mt19937 random(3);
    for (int times = 0; times < 2000; ++times) {
      const Vector x = drawnVector(random), found = run(code, {x});
      for (size_t i = 0; i < lanes; ++i) {
        const uint32_t bits = bitsOf(flushed(real(x.word[i])));
        const uint32_t nearest = std::isnan(real(bits)) ? bits | 0x00400000 : bits + 0x7fff + (bits >> 16 & 1);
        const uint32_t got = found.word[i / 2] << (i % 2 ? 0 : 16) & 0xffff0000;
        INFO(target << ": " << real(x.word[i]));
        REQUIRE(got == (nearest & 0xffff0000));
      }
    }
  }
}

TEST_CASE("Scaling by a power of two rounds once", "[targets]") {
  for (const std::string &target : zens()) {
    const Loaded single = loadInstruction("llvm.x86.avx512.mask.scalef.ps.512",
                                          {"vector<16xf32>", "vector<16xf32>", "vector<16xf32>"}, "vector<16xf32>",
                                          "%all16, %mode:i16, i32", target),
                 wide = loadInstruction("llvm.x86.avx512.mask.scalef.pd.512",
                                        {"vector<8xf64>", "vector<8xf64>", "vector<8xf64>"}, "vector<8xf64>",
                                        "%all8, %mode:i8, i32", target);
    std::mt19937 random(4);
    for (int times = 0; times < 2000; ++times) {
      const Vector x = drawnVector(random);
      Vector n, wideN;
      for (size_t i = 0; i < lanes; ++i)
        n.word[i] = bitsOf(float(int(random() % 6000) - 3000) / 8);
      for (size_t i = 0; i < 8; ++i) {
        const auto bits = std::bit_cast<uint64_t>(double(int(random() % 50000) - 25000) / 8);
        wideN.word[2 * i] = uint32_t(bits), wideN.word[2 * i + 1] = uint32_t(bits >> 32);
      }
      const Vector found = run(single, {x, n, x}), wideFound = run(wide, {x, wideN, x});
      for (size_t i = 0; i < lanes; ++i) {
        INFO(target << ": " << real(x.word[i]) << " by " << real(n.word[i]));
        REQUIRE(isSame(real(found.word[i]), std::ldexp(real(x.word[i]), int(std::floor(real(n.word[i]))))));
      }
      const auto of = [](const Vector &v, size_t i) {
        return std::bit_cast<double>(uint64_t(v.word[2 * i + 1]) << 32 | v.word[2 * i]);
      };
      for (size_t i = 0; i < 8; ++i) {
        const double got = of(wideFound, i), exact = std::ldexp(of(x, i), int(std::floor(of(wideN, i))));
        INFO(target << ": " << of(x, i) << " by " << of(wideN, i));
        REQUIRE(
            ((std::isnan(got) && std::isnan(exact)) || std::bit_cast<uint64_t>(got) == std::bit_cast<uint64_t>(exact)));
      }
    }
  }
}
