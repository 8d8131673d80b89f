// Kernels for the gradient of attention whose blocks share a key head: each block has a part of the queries.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/AttentionConstants.h"
#include "dialect/Dialect.h"
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>

using namespace halftone;
using halftone::dialect::TensorData;
using halftone::testing::KernelHarness;
using halftone::testing::runnableTargets;
using halftone::testing::targetsOfGroups;

namespace {

/// A gradient of one example, computed in `parts` parts. `heads` query heads share each of the `groups` key heads.
struct Gradient {
  int64_t parts, t, s, heads = 1, groups = 1, h = 8, e = 5;
  bool causal = false, masked = false, drops = false, hasBias = false;
  std::string asked = "abc"; // the gradients that the kernel yields: a: by q, b: by k, c: by v

  std::string title() const {
    return fmt::format("{} parts of {} x {}, {} x {} heads, {} and {} features, {}{}{}{}{}", parts, t, s, groups, heads,
                       h, e, asked, causal ? ", causal" : "", masked ? ", mask" : "", drops ? ", dropout" : "",
                       hasBias ? ", bias" : "");
  }
};

std::string textOf(const Gradient &of, const std::string &dtype) {
  const auto tensor = [&](int64_t rows, int64_t heads, int64_t features) {
    return fmt::format("1x{}x{}x{}x", rows, heads, features);
  };
  const int64_t heads = of.heads * of.groups;
  const std::string q = tensor(of.t, heads, of.h), k = tensor(of.s, of.groups, of.h), v = tensor(of.s, of.groups, of.e),
                    out = tensor(of.t, heads, of.e), rows = fmt::format("tensor<1x{}x{}xf32>", heads, of.t);
  std::string types = fmt::format("tensor<{0}{3}>, tensor<{1}{3}>, tensor<{2}{3}>", q, k, v, dtype),
              arguments = fmt::format("%q: tensor<{0}{3}>, %k: tensor<{1}{3}>, %v: tensor<{2}{3}>", q, k, v, dtype),
              names = "%q, %k, %v";
  const auto add = [&](const std::string &word, const std::string &name, const std::string &type) {
    types += ", " + type;
    arguments += fmt::format(", %{}: {}", name, type);
    names += fmt::format("{} %{}", word, name);
  };
  if (of.hasBias)
    add(" bias", "bias", fmt::format("tensor<1x{}x{}x{}x{}>", heads, of.t, of.s, dtype));
  if (of.masked)
    add(" mask", "mask", fmt::format("tensor<1x1x{}x{}xi1>", of.t, of.s));
  if (of.drops)
    add(" key", "key", "tensor<2xui32>");
  add(" lse", "lse", rows);
  add(",", "g", fmt::format("tensor<{}{}>", out, dtype));
  add(",", "delta", rows);
  const std::string attributes =
      fmt::format("{{{}{}scale = 0.25 : f64}}", of.causal ? "causal, " : "", of.drops ? "rate = 0.25 : f64, " : "");
  const std::string results[] = {fmt::format("tensor<{}{}>", q, dtype), fmt::format("tensor<{}x{}f32>", of.parts, k),
                                 fmt::format("tensor<{}x{}f32>", of.parts, v)};
  std::string yielded, yieldedTypes;
  for (const char name : of.asked) {
    const char *comma = yielded.empty() ? "" : ", ";
    yielded += fmt::format("{}%{}", comma, name);
    yieldedTypes += comma + results[name - 'a'];
  }
  return fmt::format("halftone.kernel attention_grad @k ({0}) -> ({6}) {{\n^bb0({2}):\n  %a, %b, %c = "
                     "halftone.attention_grad {3} {4} : ({0}) -> ({1})\n  halftone.yield {5} : {6}\n}}\n",
                     types, fmt::join(results, ", "), arguments, names, attributes, yielded, yieldedTypes);
}

/// A query sees neighbouring keys; every eleventh query sees none.
bool sees(int64_t t, int64_t s) { return std::abs(t - s) < 9 && t % 11 != 5; }

/// Sets the mask, and the `lse` of rows that see no key: that of an attention all of whose scores are masked.
void hide(const Gradient &of, TensorData &mask, TensorData &lse) {
  for (int64_t t = 0; t < of.t; ++t) {
    bool seesAny = false;
    for (int64_t s = 0; s < of.s; ++s) {
      mask.integers[size_t(t * of.s + s)] = sees(t, s);
      seesAny |= sees(t, s) && (!of.causal || s <= t);
    }
    for (int64_t head = 0; !seesAny && head < of.heads * of.groups; ++head)
      lse.low[size_t(head * of.t + t)] = lse.high[size_t(head * of.t + t)] = float(dialect::maskedScore);
  }
  if (!mask.upper.empty())
    mask.upper = mask.integers;
}

const Gradient all[] = {
    {.parts = 1, .t = 130, .s = 65},
    {.parts = 4, .t = 65, .s = 64},
    {.parts = 2, .t = 64, .s = 65, .heads = 2, .groups = 2, .causal = true},
    {.parts = 3, .t = 300, .s = 63, .causal = true},
    {.parts = 2, .t = 300, .s = 150, .h = 3, .e = 17, .causal = true},
    {.parts = 5, .t = 63, .s = 300, .heads = 3, .h = 5, .e = 4, .drops = true},
    {.parts = 3, .t = 100, .s = 130, .heads = 2, .masked = true},
    {.parts = 2, .t = 300, .s = 64, .groups = 2, .causal = true, .masked = true, .drops = true},
    {.parts = 3, .t = 70, .s = 130, .heads = 2, .causal = true, .hasBias = true},
    {.parts = 2, .t = 130, .s = 65, .asked = "b"},
    {.parts = 3, .t = 130, .s = 100, .groups = 2, .causal = true, .asked = "c"},
    {.parts = 4, .t = 5, .s = 1000}, // the last part has no queries
    {.parts = 1, .t = 1, .s = 1000},
    {.parts = 2, .t = 2200, .s = 33, .h = 2, .e = 1},
};

/// Checks every `share`th gradient of the list for each target, and all of them for the last target.
void checkAll(const std::string &dtype, const std::vector<std::string> &targets, ptrdiff_t share) {
  for (const std::string &target : targets)
    for (const Gradient &of : all) {
      if ((&of - all) % share != 0 && target != targets.back())
        continue;
      INFO(target << " " << dtype << " " << of.title());
      const KernelHarness kernel(textOf(of, dtype), target, false);
      auto operands = kernel.operands(7, false);
      if (of.masked)
        hide(of, operands[3], operands[of.drops ? 5 : 4]);
      kernel.checkInside(operands);
    }
}

} // namespace

TEST_CASE("The gradient of attention in parts is right at all extents", "[kernels]") {
  checkAll("f32", runnableTargets(), 2);
}

TEST_CASE("The gradient of attention in parts is right in f16", "[kernels]") { checkAll("f16", {"x86-64-v3"}, 1); }

TEST_CASE("The gradient of attention in parts is right by pairs and by tiles of bf16", "[kernels][full]") {
  checkAll("bf16", targetsOfGroups(), 2);
}

TEST_CASE("A gradient of attention in parts has a block for each part of each head, and less scratch", "[kernels]") {
  const auto described = [](int64_t parts) {
    const Gradient of{.parts = parts, .t = 4096, .s = 512, .heads = 2, .groups = 3};
    KernelHarness kernel(textOf(of, "f32"), "x86-64-v3", false);
    CHECK(kernel.description().grid == 3 * parts);
    CHECK(kernel.description().extents.back() == parts);
    return std::pair(kernel.linalgText(), kernel.description().scratchBytes);
  };
  const auto [text, bytes] = described(2);
  const auto [more, fewerBytes] = described(8);
  CHECK(text == more); // the code does not depend on the number of parts
  CHECK(fewerBytes < bytes / 2);
}
