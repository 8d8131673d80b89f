// Integer and bit instructions compared with C++ over special values.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/tests/KernelRun.h"
#include <bit>
#include <catch2/catch.hpp>
#include <limits>

using namespace halftone::emulator;

namespace {

template <typename T> std::vector<T> special() {
  using L = std::numeric_limits<T>;
  return {0,
          1,
          2,
          3,
          7,
          31,
          32,
          63,
          static_cast<T>(L::max() / 3),
          L::max(),
          static_cast<T>(L::max() - 1),
          L::min(),
          static_cast<T>(L::min() + 1),
          static_cast<T>(-1),
          static_cast<T>(-7)};
}

template <typename T> std::vector<std::tuple<T, T>> pairs() {
  std::vector<std::tuple<T, T>> rows;
  for (T a : special<T>())
    for (T b : special<T>())
      rows.emplace_back(a, b);
  return rows;
}

template <typename R, typename T, typename F> void checkBinary(const std::string &operation, F expected) {
  auto bits = [](size_t bytes) { return ".b" + std::to_string(bytes * 8); };
  auto rows = pairs<T>();
  std::vector<R> results = runRows<R>(operation, rows, bits(sizeof(R)), {bits(sizeof(T)), bits(sizeof(T))});
  for (size_t i = 0; i < rows.size(); ++i) {
    auto [a, b] = rows[i];
    INFO(operation << " " << +a << ", " << +b);
    CHECK(results[i] == expected(a, b));
  }
}

template <typename R, typename T, typename F> void checkUnary(const std::string &operation, F expected) {
  std::vector<std::tuple<T>> rows;
  for (T a : special<T>())
    rows.emplace_back(a);
  std::vector<R> results =
      runRows<R>(operation, rows, ".b" + std::to_string(sizeof(R) * 8), {".b" + std::to_string(sizeof(T) * 8)});
  for (size_t i = 0; i < rows.size(); ++i) {
    INFO(operation << " " << +std::get<0>(rows[i]));
    CHECK(results[i] == expected(std::get<0>(rows[i])));
  }
}

template <typename T> void checkArithmetic(const std::string &type) {
  using U = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  constexpr bool hasSign = std::is_signed_v<T>;
  checkBinary<T, T>("add." + type, [](T a, T b) { return T(U(a) + U(b)); });
  checkBinary<T, T>("sub." + type, [](T a, T b) { return T(U(a) - U(b)); });
  checkBinary<T, T>("mul.lo." + type, [](T a, T b) { return T(Wide(a) * b); });
  checkBinary<T, T>("mul.hi." + type, [](T a, T b) { return T(Wide(a) * b >> (8 * sizeof(T))); });
  checkBinary<T, T>("min." + type, [](T a, T b) { return a < b ? a : b; });
  checkBinary<T, T>("max." + type, [](T a, T b) { return a < b ? b : a; });
  checkBinary<T, T>("div." + type, [](T a, T b) {
    return b == 0 ? T(-1) : hasSign && b == T(-1) ? T(U(0) - U(a)) : T(a / b);
  });
  checkBinary<T, T>("rem." + type, [](T a, T b) { return b == 0 ? a : hasSign && b == T(-1) ? T(0) : T(a % b); });
}

} // namespace

TEST_CASE("Integer arithmetic wraps as C++'s unsigned numbers do, at all widths") {
  checkArithmetic<int16_t>("s16");
  checkArithmetic<uint16_t>("u16");
  checkArithmetic<int32_t>("s32");
  checkArithmetic<uint32_t>("u32");
  checkArithmetic<int64_t>("s64");
  checkArithmetic<uint64_t>("u64");
  checkUnary<int32_t, int32_t>("neg.s32", [](int32_t a) { return int32_t(0u - uint32_t(a)); });
  checkUnary<int64_t, int64_t>("abs.s64", [](int64_t a) { return a < 0 ? int64_t(0ull - uint64_t(a)) : a; });
}

TEST_CASE("Wide products have twice the bits of their factors") {
  checkBinary<int64_t, int32_t>("mul.wide.s32", [](int32_t a, int32_t b) { return int64_t(a) * b; });
  checkBinary<uint64_t, uint32_t>("mul.wide.u32", [](uint32_t a, uint32_t b) { return uint64_t(a) * b; });
  checkBinary<int32_t, int16_t>("mul.wide.s16", [](int16_t a, int16_t b) { return int32_t(a) * b; });
  checkBinary<uint32_t, uint16_t>("mul.wide.u16", [](uint16_t a, uint16_t b) { return uint32_t(a) * b; });
  std::vector<std::tuple<int32_t, int32_t, int64_t>> rows;
  for (int32_t a : special<int32_t>())
    for (int64_t c : special<int64_t>())
      rows.emplace_back(a, -a, c);
  auto results = runRows<int64_t>("mad.wide.s32", rows, ".b64", {".b32", ".b32", ".b64"});
  for (size_t i = 0; i < rows.size(); ++i) {
    auto [a, b, c] = rows[i];
    CHECK(results[i] == int64_t(uint64_t(int64_t(a) * b) + uint64_t(c)));
  }
}

TEST_CASE("Logic and counts treat registers as bits") {
  checkBinary<uint32_t, uint32_t>("and.b32", [](uint32_t a, uint32_t b) { return a & b; });
  checkBinary<uint64_t, uint64_t>("or.b64", [](uint64_t a, uint64_t b) { return a | b; });
  checkBinary<uint16_t, uint16_t>("xor.b16", [](uint16_t a, uint16_t b) { return uint16_t(a ^ b); });
  checkUnary<uint32_t, uint32_t>("not.b32", [](uint32_t a) { return ~a; });
  checkUnary<uint32_t, uint32_t>("popc.b32", [](uint32_t a) { return uint32_t(std::popcount(a)); });
  checkUnary<uint32_t, uint64_t>("popc.b64", [](uint64_t a) { return uint32_t(std::popcount(a)); });
  checkUnary<uint32_t, uint32_t>("clz.b32", [](uint32_t a) { return uint32_t(std::countl_zero(a)); });
  checkUnary<uint32_t, uint64_t>("clz.b64", [](uint64_t a) { return uint32_t(std::countl_zero(a)); });
  checkUnary<uint32_t, uint32_t>("brev.b32", [](uint32_t a) { return __builtin_bitreverse32(a); });
}

TEST_CASE("Shifts by the width or more leave zeros, or the sign") {
  std::vector<std::tuple<int32_t, uint32_t>> rows;
  for (int32_t a : special<int32_t>())
    for (uint32_t by : {0u, 1u, 5u, 31u, 32u, 33u, 0xffffffffu})
      rows.emplace_back(a, by);
  auto left = runRows<int32_t>("shl.b32", rows, ".b32", {".b32", ".b32"});
  auto right = runRows<uint32_t>("shr.u32", rows, ".b32", {".b32", ".b32"});
  auto arithmetic = runRows<int32_t>("shr.s32", rows, ".b32", {".b32", ".b32"});
  for (size_t i = 0; i < rows.size(); ++i) {
    auto [a, by] = rows[i];
    CHECK(left[i] == (by > 31 ? 0 : int32_t(uint32_t(a) << by)));
    CHECK(right[i] == (by > 31 ? 0 : uint32_t(a) >> by));
    CHECK(arithmetic[i] == a >> (by > 31 ? 31 : by));
  }
}

TEST_CASE("Funnel shifts take 32 bits out of a pair") {
  std::vector<std::tuple<uint32_t, uint32_t, uint32_t>> rows;
  for (uint32_t by : {0u, 1u, 16u, 31u, 32u, 40u})
    rows.emplace_back(0x89abcdefu, 0x01234567u, by);
  auto left = runRows<uint32_t>("shf.l.wrap.b32", rows, ".b32", {".b32", ".b32", ".b32"});
  auto right = runRows<uint32_t>("shf.r.clamp.b32", rows, ".b32", {".b32", ".b32", ".b32"});
  CHECK(left == std::vector<uint32_t>{0x01234567, 0x02468acf, 0x456789ab, 0xc4d5e6f7, 0x01234567, 0x23456789});
  CHECK(right == std::vector<uint32_t>{0x89abcdef, 0xc4d5e6f7, 0x456789ab, 0x02468acf, 0x01234567, 0x01234567});
}

TEST_CASE("Fields are extracted with their sign and inserted in place") {
  std::vector<std::tuple<int32_t, uint32_t, uint32_t>> rows{{0x12345678, 4, 8}, {-1, 0, 32},
                                                            {0x00000f00, 8, 4}, {int32_t(0x80000000), 28, 8},
                                                            {5, 0, 0},          {int32_t(0x80000000), 40, 4}};
  auto plain = runRows<uint32_t>("bfe.u32", rows, ".b32", {".b32", ".b32", ".b32"});
  auto withSign = runRows<int32_t>("bfe.s32", rows, ".b32", {".b32", ".b32", ".b32"});
  CHECK(plain == std::vector<uint32_t>{0x67, 0xffffffff, 0xf, 8, 0, 0});
  CHECK(withSign == std::vector<int32_t>{0x67, -1, -1, -8, 0, -1});
  std::vector<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> inserts{
      {0xff, 0, 4, 8}, {0, 0xffffffff, 8, 8}, {0xabcd, 0x1111, 33, 4}, {3, 0, 31, 8}};
  CHECK(runRows<uint32_t>("bfi.b32", inserts, ".b32", {".b32", ".b32", ".b32", ".b32"}) ==
        std::vector<uint32_t>{0xff0, 0xffff00ff, 0x1111, 0x80000000});
}

TEST_CASE("prmt picks bytes of a pair, or copies of their signs") {
  std::vector<std::tuple<uint32_t, uint32_t, uint32_t>> rows{{0x33221100, 0x77665544, 0x3210},
                                                             {0x33221100, 0x77665544, 0x7654},
                                                             {0x33221100, 0x77665544, 0x5410},
                                                             {0x80, 0x7f000000, 0x8f08}};
  CHECK(runRows<uint32_t>("prmt.b32", rows, ".b32", {".b32", ".b32", ".b32"}) ==
        std::vector<uint32_t>{0x33221100, 0x77665544, 0x55441100, 0xff0080ff});
}
