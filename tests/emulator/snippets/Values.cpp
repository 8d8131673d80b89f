// Edge cases and random values for the sources of instructions.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Numbers.h"
#include "tests/emulator/Random.h"
#include "tests/emulator/snippets/Forms.h"

namespace halftone::emulator {

namespace {

constexpr size_t randomRows = 3072, rowsOfBlock = 64;

/// Zeros, ones, their neighbours, roundings to integers, midpoints of narrower formats, subnormals, limits, and NaN
/// with payloads.
std::vector<uint64_t> edgesOfF32() {
  std::vector<uint64_t> made;
  for (float value : {0.0f,
                      1.0f,
                      1.5f,
                      2.0f,
                      2.5f,
                      3.0f,
                      0.5f,
                      0.49999997f,
                      0x1.000002p0f,
                      0x1.fffffep-1f,
                      1 + 0x1p-11f,
                      1 + 3 * 0x1p-11f,
                      1 + 0x1p-8f,
                      1 + 3 * 0x1p-8f,
                      65504.0f,
                      65519.0f,
                      65520.0f,
                      0x1p-14f,
                      0x1p-24f,
                      0x1p-25f,
                      0x1.8p-25f,
                      127.5f,
                      128.5f,
                      32767.5f,
                      0x1p23f,
                      0x1.000001p23f,
                      0x1.8p22f,
                      0x1p31f,
                      0x1.fffffep30f,
                      0x1p32f,
                      0x1.fffffep31f,
                      0x1p63f,
                      0x1.fffffep62f,
                      0x1p64f,
                      0x1.fffffep63f,
                      3e9f,
                      12345.678f,
                      1.0f / 3,
                      0x1p126f,
                      0x1.8p126f,
                      0x1p127f,
                      0x1.fffffep127f,
                      0x1.fffffep64f,
                      0x1p-126f,
                      0x1.fffffep-127f,
                      0x1p-149f,
                      0x1p-133f,
                      0x1.8p-134f,
                      0x1p-75f,
                      std::numeric_limits<float>::infinity()})
    for (uint32_t sign : {0u, 0x80000000u})
      made.push_back(std::bit_cast<uint32_t>(value) ^ sign);
  // The lowest and the highest bits of the fraction decide how narrower formats represent a NaN.
  for (uint32_t nan : {0x7fc00000u, 0x7fffffffu, 0x7f800001u, 0xff800001u, 0x7f800fffu, 0x7f801000u, 0x7f801fffu,
                       0x7f802000u, 0x7fbfffffu, 0xffc12345u, 0xffffffffu})
    made.push_back(nan);
  return made;
}

std::vector<uint64_t> edgesOfF64() {
  std::vector<uint64_t> made;
  for (double value : {0.0,
                       1.0,
                       1.5,
                       2.5,
                       3.0,
                       0.5,
                       0x1.fffffffffffffp-2,
                       0x1.0000000000001p0,
                       0x1.fffffffffffffp-1,
                       1 + 0x1p-24,
                       1 + 3 * 0x1p-24,
                       1 + 0x1p-11,
                       1 + 0x1p-11 + 0x1p-50,
                       65520.0,
                       32767.5,
                       0x1p31,
                       0x1p31 - 0.5,
                       0x1p32,
                       0x1p32 - 0.5,
                       0x1p52,
                       0x1.8p51,
                       0x1p63,
                       0x1.fffffffffffffp62,
                       0x1p64,
                       0x1.fffffffffffffp63,
                       1.0 / 3,
                       0x1.fffffefp127,
                       0x1.ffffffp127,
                       0x1p-149,
                       0x1p-150,
                       0x1.8p-150,
                       0x1p-126,
                       0x1p-1022,
                       0x0.fffffffffffffp-1022,
                       0x1p-1074,
                       0x1p1023,
                       0x1.fffffffffffffp1023,
                       0x1p-537,
                       std::numeric_limits<double>::infinity()})
    for (uint64_t sign : {uint64_t(0), uint64_t(1) << 63})
      made.push_back(std::bit_cast<uint64_t>(value) ^ sign);
  for (uint64_t nan : {0x7ff8000000000000u, 0x7fffffffffffffffu, 0x7ff0000000000001u, 0xfff8123456789abcu})
    made.push_back(nan);
  return made;
}

std::vector<uint64_t> edgesOfBits(uint8_t bits) {
  const uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1, sign = uint64_t(1) << (bits - 1);
  std::vector<uint64_t> made;
  for (uint64_t value : {uint64_t(0),   uint64_t(1),   uint64_t(2),      uint64_t(3),      uint64_t(7),
                         uint64_t(31),  uint64_t(32),  uint64_t(63),     uint64_t(127),    uint64_t(128),
                         uint64_t(255), uint64_t(256), uint64_t(0x3210), uint64_t(0x8f08), uint64_t(0x7fff),
                         sign,          sign - 1,      sign + 1,         sign / 3,         mask / 10})
    for (uint64_t turned : {value, ~value, 0 - value})
      made.push_back(turned & mask);
  return made;
}

constexpr uint16_t edgesOfF16[] = {0,      0x0001, 0x03ff, 0x0400, 0x3555, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x3e00,
                                   0x4000, 0x4248, 0x6400, 0x7800, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff};
constexpr uint16_t edgesOfBF16[] = {0,      0x0001, 0x007f, 0x0080, 0x1e00, 0x3eab, 0x3f00, 0x3f7f, 0x3f80, 0x3f81,
                                    0x3fc0, 0x4000, 0x4049, 0x4b00, 0x7f00, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0, 0x7fff};

template <size_t count> std::vector<uint64_t> narrowEdges(const uint16_t (&values)[count], uint8_t bits) {
  std::vector<uint64_t> made;
  size_t place = 0;
  for (uint16_t value : values)
    for (uint16_t sign : {0, 0x8000}) {
      const uint64_t high = bits == 16 ? 0 : values[++place * 7 % count];
      made.push_back(uint64_t(value) | sign | high << 16);
    }
  return made;
}

std::vector<uint64_t> edgesOf(const Source &source) {
  if (source.range == Range::Shift)
    return {0, 1, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 255, 0xffffffff};
  if (source.range != Range::All)
    return {};
  switch (source.input) {
  case Input::Bits:
    return edgesOfBits(source.bits);
  case Input::F16:
    return narrowEdges(edgesOfF16, source.bits);
  case Input::BF16:
    return narrowEdges(edgesOfBF16, source.bits);
  case Input::F32:
    return edgesOfF32();
  case Input::F64:
    return edgesOfF64();
  }
  return {};
}

/// A float from -2 to 2, or an integral float from -8 to 8, for Range::Unit or Range::Small.
double boundedFloat(const Source &source, Random &random) {
  return source.range == Range::Small ? double(int(random.next() % 17) - 8)
                                      : double(int64_t(random.next() % 40001) - 20000) / 10000;
}

uint64_t drawBounded(const Source &source, Random &random) {
  if (source.input == Input::F32)
    return std::bit_cast<uint32_t>(static_cast<float>(boundedFloat(source, random)));
  const FloatFormat format = source.input == Input::BF16 ? bfloatFormat : halfFormat;
  const uint64_t low = roundTo(format, boundedFloat(source, random), Rounding::Nearest);
  return low | roundTo(format, boundedFloat(source, random), Rounding::Nearest) << 16;
}

/// Any bits in half of the cases; otherwise floats near 1, whose sums and products round, and integers of few digits.
uint64_t draw(const Source &source, Random &random) {
  if (source.range == Range::Unit || source.range == Range::Small)
    return drawBounded(source, random);
  const uint64_t bits = random.next(), mask = source.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << source.bits) - 1;
  if (source.range == Range::Shift)
    return bits % 71;
  const bool isPlain = random.next() & 1;
  if (source.input == Input::F32 && !isPlain)
    return (bits & 0x807fffff) | (0x7a + (bits >> 32) % 12) << 23;
  if (source.input == Input::F64 && !isPlain)
    return (bits & 0x800fffffffffffff) | (0x3fa + random.next() % 12) << 52;
  return source.input == Input::Bits && !isPlain ? (bits % 2001 - 1000) & mask : bits & mask;
}

} // namespace

std::vector<std::vector<uint64_t>> rowsOf(const Form &form) {
  const size_t count = form.sources.size();
  std::vector<std::vector<uint64_t>> columns(count), edges(count);
  for (size_t i = 0; i < count; ++i)
    edges[i] = edgesOf(form.sources[i]);
  // All pairs of edge cases of the first two sources; the other sources cycle through theirs.
  if (!edges.empty() && !edges[0].empty()) {
    const size_t inner = count > 1 ? std::max<size_t>(edges[1].size(), 1) : 1;
    for (size_t row = 0; row < edges[0].size() * inner; ++row)
      for (size_t i = 0; i < count; ++i) {
        const size_t place = i == 0 ? row / inner : i == 1 ? row % inner : row * (2 * i + 1) + row / inner;
        columns[i].push_back(edges[i].empty() ? 0 : edges[i][place % edges[i].size()]);
      }
  }
  Random random(form.name.size() + 1);
  const bool isWhole = count == 1 && form.sources[0].bits == 16;
  for (size_t row = 0; row < (isWhole ? 65536 : randomRows); ++row)
    for (size_t i = 0; i < count; ++i)
      columns[i].push_back(isWhole ? row : draw(form.sources[i], random));
  for (std::vector<uint64_t> &column : columns)
    while (column.size() % rowsOfBlock)
      column.push_back(column[column.size() % rowsOfBlock]);
  return columns;
}

} // namespace halftone::emulator
