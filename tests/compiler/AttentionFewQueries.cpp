// Attention of one to four queries: extents that end inside a vector or a tile, masks, and operands of each dtype.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>

using namespace halftone;
using halftone::dialect::TensorData;
using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;

namespace {

/// Queries (2, t, 2 groups, h), keys (2, s, groups, h), values (2, s, groups, e).
struct Extents {
  int64_t t, s, h, e, groups = 1;
  const char *dtype = "f32";
  bool causal = false, masked = false, hasBias = false, drops = false;
  bool maskOfQueries = false; // one mask for all keys

  std::string title() const {
    return fmt::format("{} x {}, {} and {}, {} groups, {}{}{}{}{}", t, s, h, e, groups, dtype, causal ? ", causal" : "",
                       masked ? ", mask" : "", hasBias ? ", bias" : "", drops ? ", dropout" : "");
  }
};

std::string textOf(const Extents &of) {
  const auto tensor = [&](int64_t rows, int64_t heads, int64_t features) {
    return fmt::format("tensor<2x{}x{}x{}x{}>", rows, heads, features, of.dtype);
  };
  const int64_t heads = 2 * of.groups;
  const std::string q = tensor(of.t, heads, of.h), k = tensor(of.s, of.groups, of.h), v = tensor(of.s, of.groups, of.e);
  std::string types = fmt::format("{}, {}, {}", q, k, v), arguments = fmt::format("%q: {}, %k: {}, %v: {}", q, k, v),
              names = "%q, %k, %v";
  const auto add = [&](const std::string &name, const std::string &type) {
    types += ", " + type;
    arguments += fmt::format(", %{}: {}", name, type);
    names += fmt::format(" {0} %{0}", name);
  };
  if (of.hasBias)
    add("bias", fmt::format("tensor<1x{}x{}x{}x{}>", heads, of.t, of.s, of.dtype));
  if (of.masked)
    add("mask", of.maskOfQueries ? fmt::format("tensor<2x1x{}x1xi1>", of.t) : fmt::format("tensor<2x1x1x{}xi1>", of.s));
  if (of.drops)
    add("key", "tensor<2xui32>");
  return fmt::format(
      "halftone.kernel attention @k ({0}) -> ({1}) {{\n^bb0({2}):\n  %out, %lse = halftone.attention {3} "
      "{{{4}{5}scale = 0.25 : f64}} : ({0}) -> ({1})\n  halftone.yield %out, %lse : {1}\n}}\n",
      types, fmt::format("{}, tensor<2x{}x{}xf32>", tensor(of.t, heads, of.e), heads, of.t), arguments, names,
      of.causal ? "causal, " : "", of.drops ? "rate = 0.25 : f64, " : "");
}

const Extents all[] = {{1, 64, 64, 64},
                       {1, 300, 64, 64, 3},
                       {2, 65, 1, 1},
                       {3, 97, 15, 17, 2},
                       {4, 130, 17, 33},
                       {1, 1000, 128, 16},
                       {4, 64, 5, 3, 1, "f32", true},
                       {1, 193, 32, 32, 2, "f32", true},
                       {2, 200, 8, 24, 1, "f32", false, false, true},
                       {3, 100, 16, 16, 1, "f32", false, false, false, true},
                       {1, 130, 24, 40, 2, "f16"},
                       {2, 99, 33, 16, 1, "bf16", true},
                       {1, 256, 64, 64, 2, "bf16"}};

/// The keys that each example sees.
bool sees(int mask, int64_t example, int64_t key, int64_t keys) {
  switch (mask) {
  case 0:
    return key < 10 + 20 * example;
  case 1:
    return key == keys - 1 - example;
  case 2:
    return example == 0 && key % 3 == 0; // the other example sees no key
  default:
    return true;
  }
}

void setMask(TensorData &data, int mask, int64_t keys) {
  for (int64_t example = 0; example < 2; ++example)
    for (int64_t key = 0; key < keys; ++key)
      data.integers[size_t(example * keys + key)] = sees(mask, example, key, keys);
  if (!data.upper.empty())
    data.upper = data.integers;
}

} // namespace

TEST_CASE("Attention of few queries takes one at a time, and is right at all extents", "[kernels]") {
  for (const std::string &target : runnableTargets())
    for (const Extents &of : all) {
      INFO(target << " " << of.title());
      const KernelHarness kernel(textOf(of), target, false);
      CHECK(kernel.schedule() == "#halftone_cpu.attention<few_queries = true>");
      CHECK(kernel.description().grid == 2 * 2 * of.groups * of.t);
      kernel.checkInside(kernel.operands(7, false));
    }
}

TEST_CASE("Attention of few queries leaves out no key that a query sees", "[kernels]") {
  for (const std::string &target : runnableTargets())
    for (const bool causal : {false, true})
      for (const char *dtype : {"f32", "bf16"})
        for (const int mask : {0, 1, 2, 3}) {
          const Extents of{.t = 3, .s = 330, .h = 24, .e = 20, .dtype = dtype, .causal = causal, .masked = true};
          INFO(target << " " << of.title() << " " << mask);
          const KernelHarness kernel(textOf(of), target, false);
          auto operands = kernel.operands(11, false);
          setMask(operands[3], mask, of.s);
          kernel.checkInside(operands);
        }
}

TEST_CASE("A mask of few queries hides all keys of a query, or none", "[kernels]") {
  for (const std::string &target : runnableTargets())
    for (const bool causal : {false, true}) {
      const Extents of{.t = 4, .s = 130, .h = 9, .e = 20, .causal = causal, .masked = true, .maskOfQueries = true};
      INFO(target << " " << of.title());
      const KernelHarness kernel(textOf(of), target, false);
      auto operands = kernel.operands(3, false);
      for (size_t row = 0; row < size_t(2 * of.t); ++row)
        operands[3].integers[row] = row % 3 == 0;
      if (!operands[3].upper.empty())
        operands[3].upper = operands[3].integers;
      kernel.checkInside(operands);
    }
}

TEST_CASE("Values of keys that few queries do not see make NaN if they are infinite or NaN", "[kernels]") {
  for (const std::string &target : runnableTargets())
    for (const char *dtype : {"f32", "bf16"})
      for (const double special : {double(INFINITY), double(NAN)})
        for (const int64_t key : {3, 250}) {
          const Extents of{.t = 2, .s = 300, .h = 8, .e = 20, .dtype = dtype, .masked = true};
          INFO(target << " " << dtype << " " << special << " of key " << key);
          const KernelHarness kernel(textOf(of), target, false);
          auto operands = kernel.operands(7, false);
          setMask(operands[3], 0, of.s);
          operands[2].low[size_t(key * of.e + 17)] = operands[2].high[size_t(key * of.e + 17)] = special;
          const TensorData out = std::move(kernel.run(operands)[0]);
          for (int64_t row = 0; row < 2 * of.t; ++row) { // rows of the first example
            CHECK(!std::isfinite(out.low[size_t(row * of.e + 17)]));
            CHECK(std::isfinite(out.low[size_t(row * of.e + 16)]));
          }
        }
}

TEST_CASE("A score that is NaN makes a row of few queries NaN, and no other", "[kernels]") {
  const Extents of{.t = 2, .s = 100, .h = 16, .e = 16};
  const KernelHarness kernel(textOf(of), "host", false);
  auto operands = kernel.operands(5, false);
  operands[0].low[0] = operands[0].high[0] = NAN; // the first query, head and feature
  const TensorData out = std::move(kernel.run(operands)[0]);
  for (int64_t row = 0; row < 2 * 2 * of.t; ++row)
    CHECK(std::isnan(out.low[size_t(row * of.e)]) == (row == 0));
}
