// Float arithmetic, comparisons and conversions compared with C++ over special values.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Numbers.h"
#include "tests/emulator/tests/KernelRun.h"
#include <bit>
#include <catch2/catch.hpp>
#include <limits>

using namespace halftone::emulator;

namespace {

template <typename T> std::vector<T> special() {
  using L = std::numeric_limits<T>;
  return {T(0),        T(-0.0),       T(1),           T(-1),           T(1.5),           T(-2.5),
          T(3),        T(1) / 3,      L::min(),       L::denorm_min(), -L::denorm_min(), L::max(),
          L::lowest(), L::infinity(), -L::infinity(), L::quiet_NaN(),  T(65504),         T(1e-5),
          T(12345.678)};
}

template <typename T> std::vector<std::tuple<T, T>> pairs() {
  std::vector<std::tuple<T, T>> rows;
  for (T a : special<T>())
    for (T b : special<T>())
      rows.emplace_back(a, b);
  return rows;
}

/// Returns true if the bits are equal or both are NaN.
template <typename T> bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <typename T, typename F> void checkBinary(const std::string &operation, F expected) {
  const std::string type = sizeof(T) == 4 ? ".f32" : ".f64";
  auto rows = pairs<T>();
  auto results = runRows<T>(operation + type, rows, type, {type, type});
  for (size_t i = 0; i < rows.size(); ++i) {
    auto [a, b] = rows[i];
    INFO(operation << type << " " << a << ", " << b << " gave " << results[i]);
    CHECK(same(results[i], T(expected(a, b))));
  }
}

template <typename T> void checkArithmetic() {
  checkBinary<T>("add.rn", [](T a, T b) { return a + b; });
  checkBinary<T>("sub", [](T a, T b) { return a - b; });
  checkBinary<T>("mul.rn", [](T a, T b) { return a * b; });
  checkBinary<T>("div.rn", [](T a, T b) { return a / b; });
  auto least = [](T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? a : b) : std::min(a, b); };
  auto most = [](T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? b : a) : std::max(a, b); };
  checkBinary<T>("min", least);
  checkBinary<T>("max", most);
  checkBinary<T>("copysign", [](T a, T b) { return std::copysign(b, a); });
}

float half(uint16_t bits) { return toFloat(Half{bits}); }
float bfloat(uint16_t bits) { return toFloat(BFloat{bits}); }
uint16_t toHalf(double value) { return roundTo(halfFormat, value, Rounding::Nearest); }
uint16_t toBfloat(double value) { return roundTo(bfloatFormat, value, Rounding::Nearest); }

} // namespace

TEST_CASE("f32 and f64 arithmetic rounds as C++ does, and NaN has one form") {
  checkArithmetic<float>();
  checkArithmetic<double>();
  auto nans = runRows<uint32_t>("add.f32", std::vector<std::tuple<float, float>>{{NAN, 1}, {INFINITY, -INFINITY}},
                                ".b32", {".f32", ".f32"});
  CHECK(nans == std::vector<uint32_t>{0x7fffffff, 0x7fffffff});
}

TEST_CASE("min.NaN and max.NaN spread NaN") {
  auto rows = pairs<float>();
  auto least = runRows<float>("min.NaN.f32", rows, ".f32", {".f32", ".f32"});
  for (size_t i = 0; i < rows.size(); ++i) {
    auto [a, b] = rows[i];
    CHECK(std::isnan(least[i]) == (std::isnan(a) || std::isnan(b)));
  }
}

TEST_CASE("fma rounds once") {
  std::vector<std::tuple<float, float, float>> rows{
      {1 + 0x1p-12f, 1 + 0x1p-12f, -1}, {3, 4, 5}, {0x1p100f, 0x1p100f, -INFINITY}, {INFINITY, 0, 1}};
  auto results = runRows<float>("fma.rn.f32", rows, ".f32", {".f32", ".f32", ".f32"});
  for (size_t i = 0; i < rows.size(); ++i)
    CHECK(same(results[i], std::fma(std::get<0>(rows[i]), std::get<1>(rows[i]), std::get<2>(rows[i]))));
}

TEST_CASE("Subnormals are kept, and flushed with .ftz") {
  std::vector<std::tuple<float, float>> rows{{0x1p-130f, 0x1p-130f}, {-0x1p-130f, 0}};
  CHECK(runRows<float>("add.f32", rows, ".f32", {".f32", ".f32"}) == std::vector<float>{0x1p-129f, -0x1p-130f});
  auto flushed = runRows<float>("add.ftz.f32", rows, ".f32", {".f32", ".f32"});
  CHECK(flushed == std::vector<float>{0, 0});
}

TEST_CASE("Narrow arithmetic rounds each result once") {
  std::vector<uint16_t> values{0,      0x8000, 0x3c00, 0xbc00, 0x0001, 0x03ff,
                               0x7bff, 0x7c00, 0x7e00, 0x3555, 0x4248, 0x0400};
  std::vector<std::tuple<uint16_t, uint16_t>> rows;
  for (uint16_t a : values)
    for (uint16_t b : values)
      rows.emplace_back(a, b);
  auto sums = runRows<uint16_t>("add.rn.f16", rows, ".b16", {".b16", ".b16"});
  auto products = runRows<uint16_t>("mul.bf16", rows, ".b16", {".b16", ".b16"});
  for (size_t i = 0; i < rows.size(); ++i) {
    auto [a, b] = rows[i];
    CHECK(sums[i] == toHalf(double(half(a)) + half(b)));
    CHECK(products[i] == toBfloat(double(bfloat(a)) * bfloat(b)));
  }
  // 1 + 2^-8 is the midpoint of two bf16 values; the addend, far below the last bit of the product in f64, decides.
  std::vector<std::tuple<uint16_t, uint16_t, uint16_t>> halfway{
      {0x3f80, 0x3f80, 0x3b80}, {0x3fb8, 0x4006, 0x1e00}, {0x3fb8, 0x4006, 0x9e00}};
  auto fused = runRows<uint16_t>("fma.rn.bf16", halfway, ".b16", {".b16", ".b16", ".b16"});
  for (size_t i = 0; i < halfway.size(); ++i) {
    auto [a, b, c] = halfway[i];
    CHECK(fused[i] == toBfloat(static_cast<double>(bfloat(a)) * bfloat(b) + (long double)bfloat(c)));
  }
  CHECK(fused[0] == 0x3f80);
  std::vector<std::tuple<uint32_t, uint32_t, uint32_t>> packed{{0x3c004000, 0x40003c00, 0x3c003c00}};
  CHECK(runRows<uint32_t>("fma.rn.f16x2", packed, ".b32", {".b32", ".b32", ".b32"}) ==
        std::vector<uint32_t>{0x42004200});
}

TEST_CASE("Comparisons are ordered or unordered as their names say") {
  std::vector<std::tuple<float, float>> few{{1, 2}, {2, 2}, {NAN, 1}};
  auto select = [&](const std::string &name) {
    std::string body = ".reg .pred %p<3>; .reg .f32 %a, %b; .reg .b32 %r; .reg .b64 %x;\nld.param.f32 %a, [a]; "
                       "ld.param.f32 %b, [b]; setp." +
                       name +
                       ".f32 %p1|%p2, %a, %b; selp.b32 %r, 1, 0, %p1; @%p2 or.b32 %r, %r, 2; ld.param.u64 %x, [o]; "
                       "st.global.b32 [%x], %r; ret;";
    std::vector<uint32_t> results;
    for (auto [a, b] : few) {
      KernelRun run;
      uint64_t result = run.empty(4);
      run.run(kernelPtx(".param .u64 o, .param .f32 a, .param .f32 b", body), {1, 1, 1}, {1, 1, 1}, 0, result, a, b);
      results.push_back(run.download<uint32_t>(result, 1)[0]);
    }
    return results;
  };
  // Bit 0: the comparison; bit 1: its inverse.
  CHECK(select("lt") == std::vector<uint32_t>{1, 2, 2});
  CHECK(select("ltu") == std::vector<uint32_t>{1, 2, 1});
  CHECK(select("ge") == std::vector<uint32_t>{2, 1, 2});
  CHECK(select("ne") == std::vector<uint32_t>{1, 2, 2});
  CHECK(select("neu") == std::vector<uint32_t>{1, 2, 1});
  CHECK(select("num") == std::vector<uint32_t>{1, 1, 2});
  CHECK(select("nan") == std::vector<uint32_t>{2, 2, 1});
}

TEST_CASE("A comparison of packed numbers has a result for each half") {
  constexpr uint32_t one = 0x3c00, two = 0x4000, nan = 0x7e00;
  const std::string body = ".reg .pred %p<3>; .reg .b32 %a, %b, %r; .reg .b64 %x;\nld.param.b32 %a, [a]; "
                           "ld.param.b32 %b, [b]; setp.ltu.f16x2 %p1|%p2, %a, %b; selp.b32 %r, 1, 0, %p1; "
                           "@%p2 or.b32 %r, %r, 2; ld.param.u64 %x, [o]; st.global.b32 [%x], %r; ret;";
  const auto compare = [&](uint32_t a, uint32_t b) {
    KernelRun run;
    uint64_t result = run.empty(4);
    run.run(kernelPtx(".param .u64 o, .param .b32 a, .param .b32 b", body), {1, 1, 1}, {1, 1, 1}, 0, result, a, b);
    return run.download<uint32_t>(result, 1)[0];
  };
  CHECK(compare(one | two << 16, two | one << 16) == 1);
  CHECK(compare(two | one << 16, two | two << 16) == 2);
  CHECK(compare(nan | two << 16, one | one << 16) == 1);
  CHECK(compare(one | one << 16, two | nan << 16) == 3);
}

TEST_CASE("Conversions to integers clamp, and NaN becomes 0 or the lowest number") {
  std::vector<std::tuple<float>> rows{{1.5f}, {-1.5f}, {2.5f}, {3e9f}, {-3e9f}, {NAN}, {-0.7f}, {INFINITY}};
  CHECK(runRows<int32_t>("cvt.rzi.s32.f32", rows, ".b32", {".f32"}) ==
        std::vector<int32_t>{1, -1, 2, INT32_MAX, INT32_MIN, 0, 0, INT32_MAX});
  CHECK(runRows<int32_t>("cvt.rni.s32.f32", rows, ".b32", {".f32"}) ==
        std::vector<int32_t>{2, -2, 2, INT32_MAX, INT32_MIN, 0, -1, INT32_MAX});
  CHECK(runRows<uint32_t>("cvt.rzi.u32.f32", rows, ".b32", {".f32"}) ==
        std::vector<uint32_t>{1, 0, 2, 3000000000u, 0, 0, 0, UINT32_MAX});
  CHECK(runRows<int64_t>("cvt.rmi.s64.f32", rows, ".b64", {".f32"}) ==
        std::vector<int64_t>{1, -2, 2, 3000000000, -3000000000, INT64_MIN, -1, INT64_MAX});
  CHECK(runRows<float>("cvt.rpi.f32.f32", std::vector<std::tuple<float>>{{1.2f}, {-1.2f}, {2}}, ".f32", {".f32"}) ==
        std::vector<float>{2, -1, 2});
  CHECK(runRows<float>("cvt.sat.f32.f32", std::vector<std::tuple<float>>{{1.2f}, {-1.2f}, {0.5f}, {NAN}}, ".f32",
                       {".f32"}) == std::vector<float>{1, 0, 0.5f, 0});
}

TEST_CASE("Integers extend by the sign of their type, cut and saturate") {
  std::vector<std::tuple<int32_t>> rows{{-1}, {200}, {-200}, {0x12345}};
  CHECK(runRows<int64_t>("cvt.s64.s32", rows, ".b64", {".b32"}) == std::vector<int64_t>{-1, 200, -200, 0x12345});
  CHECK(runRows<int64_t>("cvt.u64.u32", rows, ".b64", {".b32"}) ==
        std::vector<int64_t>{0xffffffff, 200, 0xffffff38, 0x12345});
  CHECK(runRows<int32_t>("cvt.s8.s32", rows, ".b32", {".b32"}) == std::vector<int32_t>{-1, -56, 56, 0x45});
  CHECK(runRows<int32_t>("cvt.sat.s8.s32", rows, ".b32", {".b32"}) == std::vector<int32_t>{-1, 127, -128, 127});
  CHECK(runRows<uint16_t>("cvt.u16.u32", rows, ".b16", {".b32"}) == std::vector<uint16_t>{0xffff, 200, 0xff38, 0x2345});
  CHECK(runRows<float>("cvt.rn.f32.u64", std::vector<std::tuple<uint64_t>>{{UINT64_MAX}, {(1ull << 24) + 1}}, ".f32",
                       {".b64"}) == std::vector<float>{0x1p64f, 0x1p24f});
  CHECK(runRows<float>("cvt.rz.f32.s32", std::vector<std::tuple<int32_t>>{{(1 << 24) + 3}}, ".f32", {".b32"}) ==
        std::vector<float>{0x1.000002p24f});
}

TEST_CASE("Narrow floats round to nearest even, to zero and away, through subnormals and overflow") {
  std::vector<std::tuple<float>> rows{{1},        {1 + 0x1p-11f}, {1 + 3 * 0x1p-11f}, {65519}, {65520},
                                      {0x1p-25f}, {0x1.8p-25f},   {-0x1p-24f},        {NAN},   {1e-3f}};
  CHECK(runRows<uint16_t>("cvt.rn.f16.f32", rows, ".b16", {".f32"}) ==
        std::vector<uint16_t>{0x3c00, 0x3c00, 0x3c02, 0x7bff, 0x7c00, 0, 1, 0x8001, 0x7fff, 0x1419});
  CHECK(runRows<uint16_t>("cvt.rz.f16.f32", rows, ".b16", {".f32"}) ==
        std::vector<uint16_t>{0x3c00, 0x3c00, 0x3c01, 0x7bff, 0x7bff, 0, 0, 0x8001, 0x7fff, 0x1418});
  std::vector<std::tuple<float>> wide{{1 + 0x1p-8f}, {1 + 3 * 0x1p-8f}, {3.4e38f}, {0x1p-133f}, {-INFINITY}};
  CHECK(runRows<uint16_t>("cvt.rn.bf16.f32", wide, ".b16", {".f32"}) ==
        std::vector<uint16_t>{0x3f80, 0x3f82, 0x7f80, 1, 0xff80});
  CHECK(runRows<uint32_t>("cvt.rna.tf32.f32", std::vector<std::tuple<float>>{{1 + 0x1p-11f}, {-1 - 0x1p-11f}}, ".b32",
                          {".f32"}) == std::vector<uint32_t>{0x3f802000, 0xbf802000});
  CHECK(runRows<uint32_t>("cvt.rn.bf16x2.f32", std::vector<std::tuple<float, float>>{{1, 2}}, ".b32",
                          {".f32", ".f32"}) == std::vector<uint32_t>{0x3f804000});
  CHECK(runRows<float>("cvt.f32.f16", std::vector<std::tuple<uint16_t>>{{0x0001}, {0x7c00}, {0xbc00}}, ".f32",
                       {".b16"}) == std::vector<float>{0x1p-24f, INFINITY, -1});
}

TEST_CASE("Conversions of NaN give what an H200 gives") {
  std::vector<std::tuple<double>> wide;
  for (uint64_t bits : {0x7ff8000000000000u, 0x7fffffffffffffffu, 0x7ff0000000000001u, 0xfff8123456789abcu})
    wide.emplace_back(std::bit_cast<double>(bits));
  CHECK(runRows<uint16_t>("cvt.rn.f16.f64", wide, ".b16", {".f64"}) ==
        std::vector<uint16_t>{0x7e00, 0x7fff, 0x7e00, 0xfe04});
  std::vector<std::tuple<uint32_t>> rows{{0x7fc00000}, {0x7f800001}, {0xff800001}, {0x7f801fff}, {0x7f802000}};
  CHECK(runRows<uint32_t>("cvt.rna.tf32.f32", rows, ".b32", {".b32"}) ==
        std::vector<uint32_t>{0x7fffe000, 0x7f800000, 0xff800000, 0x7f800000, 0x7fffe000});
}

TEST_CASE("All f16 numbers come back from f32 as they were") {
  std::vector<std::tuple<float>> rows;
  for (uint32_t bits = 0; bits < 0x7c00; bits += 7)
    rows.emplace_back(half(bits));
  auto results = runRows<uint16_t>("cvt.rn.f16.f32", rows, ".b16", {".f32"});
  for (size_t i = 0; i < rows.size(); ++i)
    CHECK(results[i] == i * 7);
}

TEST_CASE("Approximate instructions stay within their error, and the seed moves them") {
  std::vector<std::tuple<float>> rows;
  for (int i = -50; i < 50; ++i)
    rows.emplace_back(i * 0.37f);
  auto exact = runRows<float>("ex2.approx.f32", rows, ".f32", {".f32"}, 0);
  auto moved = runRows<float>("ex2.approx.f32", rows, ".f32", {".f32"}, 7);
  CHECK(moved != exact);
  CHECK(moved == runRows<float>("ex2.approx.f32", rows, ".f32", {".f32"}, 7));
  for (size_t i = 0; i < rows.size(); ++i) {
    double truth = std::exp2(double(std::get<0>(rows[i])));
    CHECK(std::fabs(moved[i] - truth) <= 0x1p-22 * truth);
    CHECK(exact[i] == float(truth));
  }
  std::vector<std::tuple<float>> limits{{0}, {-INFINITY}, {INFINITY}, {NAN}};
  auto results = runRows<float>("ex2.approx.ftz.f32", limits, ".f32", {".f32"}, 7);
  CHECK(results[0] == 1);
  CHECK(results[1] == 0);
  CHECK(results[2] == INFINITY);
  CHECK(std::isnan(results[3]));
}
