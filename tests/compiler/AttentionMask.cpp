// Attention kernels skip tiles of keys that no query sees, and nothing else.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/AttentionConstants.h"
#include "dialect/Dialect.h"
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>
#include <functional>

using namespace halftone;
using halftone::dialect::TensorData;
using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;
using halftone::testing::targetsOfGroups;

namespace {

/// One attention, (1, t, 2, 8) by (1, s, 1, 8). The extent of its mask along the queries is t or 1.
struct Extents {
  int64_t t, s;
  bool alongQueries = false, causal = false, drops = false, hasBias = false;
  const char *dtype = "f32";

  int64_t maskRows() const { return alongQueries ? t : 1; }
  std::string title() const {
    return fmt::format("{} x {} {} mask of {} rows{}{}{}", t, s, dtype, maskRows(), causal ? ", causal" : "",
                       drops ? ", dropout" : "", hasBias ? ", bias" : "");
  }
};

std::string textOf(const Extents &of, bool isGradient) {
  const auto tensor = [&](int64_t rows, int64_t heads) {
    return fmt::format("tensor<1x{}x{}x8x{}>", rows, heads, of.dtype);
  };
  const std::string q = tensor(of.t, 2), k = tensor(of.s, 1), rows = fmt::format("tensor<1x2x{}xf32>", of.t);
  std::string types = fmt::format("{}, {}, {}", q, k, k), arguments = fmt::format("%q: {}, %k: {}, %v: {}", q, k, k),
              names = "%q, %k, %v";
  const auto add = [&](const std::string &word, const std::string &name, const std::string &type) {
    types += ", " + type;
    arguments += fmt::format(", %{}: {}", name, type);
    names += fmt::format("{} %{}", word, name);
  };
  if (of.hasBias)
    add(" bias", "bias", fmt::format("tensor<1x1x{}x{}x{}>", of.t, of.s, of.dtype));
  add(" mask", "mask", fmt::format("tensor<1x1x{}x{}xi1>", of.maskRows(), of.s));
  if (of.drops)
    add(" key", "key", "tensor<2xui32>");
  if (isGradient) {
    add(" lse", "lse", rows);
    add(",", "g", q);
    add(",", "delta", rows);
  }
  const std::string attributes = fmt::format("{{{}{}scale = 0.25 : f64}}", of.causal ? "causal, " : "",
                                             of.drops ? "rate = 0.25 : f64, " : ""),
                    results = isGradient ? fmt::format("{}, {}, {}", q, k, k) : fmt::format("{}, {}", q, rows);
  return fmt::format("halftone.kernel {4} @k ({0}) -> ({1}) {{\n^bb0({2}):\n  {3} = halftone.{4} {5} {6} : ({0}) "
                     "-> ({1})\n  halftone.yield {3} : {1}\n}}\n",
                     types, results, arguments, isGradient ? "%a, %b, %c" : "%a, %b",
                     isGradient ? "attention_grad" : "attention", names, attributes);
}

/// Returns true if query t sees key s.
struct Mask {
  const char *what;
  std::function<bool(int64_t t, int64_t s, const Extents &of)> sees;
  bool alongQueries = false;
};

const std::vector<Mask> masks = {
    {"the first keys", [](int64_t, int64_t s, const Extents &of) { return s < of.s / 3; }},
    {"the last key", [](int64_t, int64_t s, const Extents &of) { return s == of.s - 1; }},
    {"no key", [](int64_t, int64_t, const Extents &) { return false; }},
    {"all keys", [](int64_t, int64_t, const Extents &) { return true; }},
    {"neighbours", [](int64_t t, int64_t s, const Extents &) { return std::abs(t - s) < 7; }, true},
    {"the first keys, but one query none",
     [](int64_t t, int64_t s, const Extents &of) { return s < 9 && t != of.t / 2; }, true},
    {"keys by one query alone", [](int64_t t, int64_t, const Extents &of) { return t == of.t - 1; }, true},
};

size_t maskPlace(const Extents &of) { return of.hasBias ? 4 : 3; }

void setMask(TensorData &data, const Mask &mask, const Extents &of) {
  for (int64_t t = 0; t < of.maskRows(); ++t)
    for (int64_t s = 0; s < of.s; ++s)
      data.integers[size_t(t * of.s + s)] = mask.sees(t, s, of);
  if (!data.upper.empty())
    data.upper = data.integers;
}

/// Rows that see no key have the `lse` of an attention all of whose scores are masked.
void setLse(TensorData &lse, const Mask &mask, const Extents &of) {
  for (int64_t row = 0; row < 2 * of.t; ++row) {
    bool sees = false;
    for (int64_t t = row % of.t, s = 0; s < of.s; ++s)
      sees |= mask.sees(t, s, of) && (!of.causal || s <= t);
    if (!sees)
      lse.low[size_t(row)] = lse.high[size_t(row)] = float(dialect::maskedScore);
  }
}

const Extents all[] = {{64, 65},
                       {65, 330},
                       {1000, 63},
                       {1, 1000},
                       {193, 300, false, true},
                       {300, 131, false, false, true},
                       {97, 193, false, false, false, true},
                       {130, 250, false, false, false, false, "bf16"},
                       {130, 250, false, true, false, false, "f16"}};

/// Some targets multiply bf16 in pairs and in AMX tiles.
std::vector<std::string> targetsOf(const Extents &of) {
  std::vector<std::string> targets = runnableTargets();
  if (std::string(of.dtype) == "bf16")
    for (const std::string &target : targetsOfGroups())
      targets.push_back(target);
  return targets;
}

} // namespace

TEST_CASE("Attention and its gradient leave out no key that a query sees", "[kernels][full]") {
  for (const Extents &extents : all)
    for (const std::string &target : targetsOf(extents))
      for (const Mask &mask : masks)
        for (const bool isGradient : {false, true}) {
          constexpr ptrdiff_t share = 9; // of all combinations of extents and masks; each mask has two
          if ((&mask - masks.data() + (&extents - all) + isGradient) % share != 0)
            continue;
          Extents of = extents;
          of.alongQueries = mask.alongQueries;
          INFO(target << " " << of.title() << ", which sees " << mask.what << ", gradient " << isGradient);
          const KernelHarness kernel(textOf(of, isGradient), target, false);
          auto operands = kernel.operands(7, false);
          setMask(operands[maskPlace(of)], mask, of);
          if (isGradient)
            setLse(operands[maskPlace(of) + (of.drops ? 2 : 1)], mask, of);
          kernel.checkInside(operands);
        }
}

TEST_CASE("Values of masked keys that are infinite or NaN make NaN, also in tiles that no query sees", "[kernels]") {
  for (const char *dtype : {"f32", "bf16"})
    for (const std::string &target : targetsOf({.t = 70, .s = 400, .dtype = dtype}))
      for (const double special : {double(INFINITY), double(NAN)})
        for (const int64_t key : {3, 350}) { // the mask hides the latter
          const Extents of{.t = 70, .s = 400, .dtype = dtype};
          INFO(target << " " << dtype << " " << special << " of key " << key);
          const KernelHarness kernel(textOf(of, false), target, false);
          auto operands = kernel.operands(7, false);
          setMask(operands[3], masks[0], of);
          operands[2].low[size_t(key * 8)] = operands[2].high[size_t(key * 8)] = special;
          const TensorData out = std::move(kernel.run(operands)[0]);
          for (int64_t row = 0; row < 2 * of.t; ++row) {
            CHECK(!std::isfinite(out.low[size_t(row * 8)]));
            CHECK(std::isfinite(out.low[size_t(row * 8 + 1)]));
          }
        }
}
