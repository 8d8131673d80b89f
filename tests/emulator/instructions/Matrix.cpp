// ldmatrix and mma.sync: a warp loads and multiplies small matrices together.
// SPDX-License-Identifier: Apache-2.0
//
// Lane l is at row l / 4 ("group") and column l % 4 ("quad"). A register of a lane has 32 / bits adjacent elements of
// one row of A or one column of B. Registers 0 and 1 of A are rows group and group + 8; registers 2 and 3 are the same
// rows, further along K.
#include "tests/emulator/Block.h"
#include "tests/emulator/Numbers.h"
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <array>
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

constexpr int mmaRows = 16, mmaColumns = 8, mmaMaxDepth = 32;

/// Lanes 8q to 8q + 7 provide the addresses of the rows of matrix q, 8 elements of 16 bits each.
template <bool transposed> void loadMatrices(Warp &warp, const Instruction &instruction, LaneMask) {
  for (int matrix = 0; matrix < instruction.count; ++matrix) {
    std::array<std::array<uint16_t, 8>, 8> rows;
    for (int row = 0; row < 8; ++row) {
      int lane = matrix * 8 + row;
      uint64_t address =
          warp.addressOf(instruction.operands[4], instruction.addressBits, instruction.displacement, lane);
      warp.load(lane, Space::Shared, {address, 16}, rows[row].data());
    }
    uint32_t *result = warp.lanes<uint32_t>(instruction.operands[matrix]);
    for (int lane = 0; lane < warpSize; ++lane) {
      int group = lane / 4, pair = lane % 4 * 2;
      uint32_t low = transposed ? rows[pair][group] : rows[group][pair];
      uint32_t high = transposed ? rows[pair + 1][group] : rows[group][pair + 1];
      result[lane] = high << 16 | low;
    }
  }
}

template <typename Element> constexpr int perRegister = 4 / sizeof(Element);
/// Elements of A and B as the sums use them: floats or integers.
template <typename Element> using Factor = std::conditional_t<std::is_integral_v<Element>, int32_t, float>;

template <typename Element> Factor<Element> factorOf(uint32_t word, int place) {
  uint32_t raw = word >> (place * sizeof(Element) * 8);
  if constexpr (std::is_integral_v<Element>)
    return static_cast<Element>(raw);
  else
    return toFloat(
        std::bit_cast<Element>(static_cast<std::conditional_t<sizeof(Element) == 2, uint16_t, uint32_t>>(raw)));
}

/// a[k][row] and b[k][column].
template <typename Factor> struct Operands {
  alignas(64) Factor a[mmaMaxDepth][mmaRows];
  alignas(64) Factor b[mmaMaxDepth][mmaColumns];
};

template <typename A, typename B> void gather(Warp &warp, const Instruction &instruction, Operands<Factor<A>> &to) {
  constexpr int neighbours = perRegister<A>;
  const int registersOfB = instruction.count;
  for (int i = 0; i < 2 * registersOfB; ++i) {
    const uint32_t *words = warp.lanes<uint32_t>(instruction.operands[4 + i]);
    for (int lane = 0; lane < warpSize; ++lane)
      for (int place = 0; place < neighbours; ++place)
        to.a[(i / 2 * 4 + lane % 4) * neighbours + place][lane / 4 + i % 2 * 8] = factorOf<A>(words[lane], place);
  }
  for (int i = 0; i < registersOfB; ++i) {
    const uint32_t *words = warp.lanes<uint32_t>(instruction.operands[8 + i]);
    for (int lane = 0; lane < warpSize; ++lane)
      for (int place = 0; place < neighbours; ++place)
        to.b[(i * 4 + lane % 4) * neighbours + place][lane / 4] = factorOf<B>(words[lane], place);
  }
}

/// sums[row][column] += a[k][row] * b[k][column] for all k. Products are exact (except below the range of f32). Sums
/// are f32, each rounded to nearest. The seed draws the first k and whether k ascends or descends.
template <typename Factor>
void multiply(const Operands<Factor> &operands, int depth, Random &random, Factor (&sums)[mmaRows][mmaColumns]) {
  using Sum = std::conditional_t<std::is_integral_v<Factor>, uint32_t, float>;
  uint64_t seed = mixed(random.seed());
  int first = random.isOrdered() ? 0 : seed % depth, step = random.isOrdered() || seed >> 32 & 1 ? 1 : depth - 1;
  for (int i = 0, k = first; i < depth; ++i, k = (k + step) % depth)
    for (int row = 0; row < mmaRows; ++row)
      for (int column = 0; column < mmaColumns; ++column)
        sums[row][column] =
            static_cast<Factor>(static_cast<Sum>(sums[row][column]) +
                                static_cast<Sum>(operands.a[k][row]) * static_cast<Sum>(operands.b[k][column]));
}

int rowOf(int lane, int place) { return lane / 4 + place / 2 * 8; }
int columnOf(int lane, int place) { return lane % 4 * 2 + place % 2; }

/// operands: result 0-3, A 4-7, B 8-9, addend 10-13. count: registers of B.
template <typename A, typename B> void multiplyMatrices(Warp &warp, const Instruction &instruction, LaneMask) {
  using F = Factor<A>;
  Operands<F> operands;
  gather<A, B>(warp, instruction, operands);
  F sums[mmaRows][mmaColumns];
  for (int place = 0; place < 4; ++place) {
    const F *addend = warp.lanes<F>(instruction.operands[10 + place]);
    for (int lane = 0; lane < warpSize; ++lane)
      sums[rowOf(lane, place)][columnOf(lane, place)] = addend[lane];
  }
  multiply(operands, instruction.count * 4 * perRegister<A>, warp.block().random(), sums);
  for (int place = 0; place < 4; ++place) {
    F *result = warp.lanes<F>(instruction.operands[place]);
    for (int lane = 0; lane < warpSize; ++lane) {
      F sum = sums[rowOf(lane, place)][columnOf(lane, place)];
      if constexpr (std::is_same_v<F, float>)
        sum = canonical(sum);
      result[lane] = sum;
    }
  }
}

Execute chooseBytes(bool aSigned, bool bSigned) {
  if (aSigned)
    return bSigned ? multiplyMatrices<int8_t, int8_t> : multiplyMatrices<int8_t, uint8_t>;
  return bSigned ? multiplyMatrices<uint8_t, int8_t> : multiplyMatrices<uint8_t, uint8_t>;
}

/// The kernel of a product, and the bit width of its elements.
Execute chooseProduct(const Decoding &decoding, Type a, Type b) {
  if (a.isInteger() && b.isInteger() && a.bits == 8 && b.bits == 8)
    return chooseBytes(a.isSigned(), b.isSigned());
  if (a == b && a == Type{Type::Kind::Float, 16})
    return multiplyMatrices<Half, Half>;
  if (a == b && a.kind == Type::Kind::BFloat && a.elements == 1)
    return multiplyMatrices<BFloat, BFloat>;
  if (a == b && a.kind == Type::Kind::TFloat)
    return multiplyMatrices<TFloat, TFloat>;
  decoding.fail("expected operands of f16, bf16, tf32, s8 or u8");
}

} // namespace

void decodeLdmatrix(Decoding &decoding) {
  decoding.take("sync");
  decoding.take("aligned");
  if (!decoding.take("m8n8") || (!decoding.take("shared") && !decoding.take("shared::cta")) ||
      decoding.takeType() != Type{Type::Kind::Bits, 16})
    decoding.fail("expected .m8n8, .shared and .b16");
  Instruction &made = decoding.instruction;
  made.count = 1 << decoding.takeOneOf({"x1", "x2", "x4"});
  made.use = MemoryUse::LoadMatrix;
  made.accessBytes = 16;
  made.execute = decoding.take("trans") ? loadMatrices<true> : loadMatrices<false>;
  made.flow = Flow::Together;
  decoding.expectOperands(2);
  decoding.writeVector(0, 0, made.count, 32);
  Row address = decoding.readAddress(1, made.displacement);
  made.operands[4] = address.offset;
  made.addressBits = address.bits;
}

void decodeMma(Decoding &decoding) {
  decoding.take("sync");
  decoding.take("aligned");
  int shape = decoding.takeOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  if (!decoding.take("row") || !decoding.take("col"))
    decoding.fail("expected .row.col");
  Type result = decoding.takeType(), a = decoding.takeType(), b = decoding.takeType(), addend = decoding.takeType();
  decoding.expectOperands(4);
  Instruction &made = decoding.instruction;
  made.execute = chooseProduct(decoding, a, b);
  made.flow = Flow::Together;
  Type sum = a.isInteger() ? Type{Type::Kind::Signed, 32} : Type{Type::Kind::Float, 32};
  if (result != sum || addend != sum)
    decoding.fail("expected sums of f32, or s32 for whole numbers");
  int depth = 4 << shape, depthOfRegister = 4 * 32 / a.bits;
  made.count = depth / depthOfRegister;
  if (made.count != 1 && made.count != 2)
    decoding.fail(fmt::format("{} elements along K for {} bits; expected {} or {}", depth, a.bits, depthOfRegister,
                              2 * depthOfRegister));
  decoding.writeVector(0, 0, 4, 32);
  decoding.readVector(1, 4, 2 * made.count, 32);
  decoding.readVector(2, 8, made.count, 32);
  decoding.readVector(3, 10, 4, 32);
}

} // namespace halftone::emulator
