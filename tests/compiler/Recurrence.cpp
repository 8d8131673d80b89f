// Compares compiled recurrence kernels with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCompiler.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "runtime/base/Half.h"
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/args.h>
#include <fmt/format.h>
#include <limits>

using namespace halftone::compiler;
using namespace halftone::testing;

namespace {

/// The extents of a recurrence: steps, rows, units, features.
struct Extents {
  int64_t steps = 5, rows = 8, units = 16, features = 4;
  bool reverse = false;
};

/// Substitutes the extents, the multiples of the units and the dtype into `text`.
std::string filled(const std::string &text, const Extents &extents, const std::string &dtype = "f32") {
  fmt::dynamic_format_arg_store<fmt::format_context> words;
  const auto add = [&](const char *name, const auto &value) { words.push_back(fmt::arg(name, value)); };
  add("T", extents.steps);
  add("R", extents.rows);
  add("U", extents.units);
  add("U2", 2 * extents.units);
  add("U3", 3 * extents.units);
  add("U4", 4 * extents.units);
  add("F", extents.features);
  add("type", dtype);
  add("length", fmt::format("length = {} : i64{}", extents.steps, extents.reverse ? ", reverse" : ""));
  add("by", "lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>");
  return fmt::vformat(text, words);
}

/// The forward pass of an LSTM whose inputs are projected before the loop. It stores the gates.
std::string lstm(const Extents &extents, const std::string &dtype = "f32") {
  return filled(R"(
halftone.kernel recurrence @k (tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U4}x{type}>, tensor<{U}x{U4}x{type}>, tensor<{U4}x{type}>)
    -> (tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>) {{
^bb0(%h0: tensor<{R}x{U}x{type}>, %c0: tensor<{R}x{U}x{type}>, %z: tensor<{T}x{R}x{U4}x{type}>, %r: tensor<{U}x{U4}x{type}>, %b: tensor<{U4}x{type}>):
  %0:4 = halftone.scan (%h0, %c0) over (%z) {{{length}}} : (tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U4}x{type}>)
      -> (tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>) {{
  ^bb0(%i: tensor<i32>, %h: tensor<{R}x{U}x{type}>, %c: tensor<{R}x{U}x{type}>, %x: tensor<{R}x{U4}x{type}>):
    %1 = halftone.contract %h, %r {{{by}}} : (tensor<{R}x{U}x{type}>, tensor<{U}x{U4}x{type}>) -> tensor<{R}x{U4}x{type}>
    %2 = halftone.add %1, %x : tensor<{R}x{U4}x{type}>
    %3 = halftone.broadcast %b {{axes = array<i64: 1>}} : tensor<{U4}x{type}> to tensor<{R}x{U4}x{type}>
    %4 = halftone.add %2, %3 : tensor<{R}x{U4}x{type}>
    %5 = halftone.slice %4 {{start = array<i64: 0, 0>}} : tensor<{R}x{U4}x{type}> to tensor<{R}x{U}x{type}>
    %6 = halftone.slice %4 {{start = array<i64: 0, {U}>}} : tensor<{R}x{U4}x{type}> to tensor<{R}x{U}x{type}>
    %7 = halftone.slice %4 {{start = array<i64: 0, {U2}>}} : tensor<{R}x{U4}x{type}> to tensor<{R}x{U}x{type}>
    %8 = halftone.slice %4 {{start = array<i64: 0, {U3}>}} : tensor<{R}x{U4}x{type}> to tensor<{R}x{U}x{type}>
    %9 = halftone.logistic %5 : tensor<{R}x{U}x{type}>
    %10 = halftone.logistic %6 : tensor<{R}x{U}x{type}>
    %11 = halftone.tanh %7 : tensor<{R}x{U}x{type}>
    %12 = halftone.logistic %8 : tensor<{R}x{U}x{type}>
    %13 = halftone.mul %10, %c : tensor<{R}x{U}x{type}>
    %14 = halftone.mul %9, %11 : tensor<{R}x{U}x{type}>
    %15 = halftone.add %13, %14 : tensor<{R}x{U}x{type}>
    %16 = halftone.tanh %15 : tensor<{R}x{U}x{type}>
    %17 = halftone.mul %12, %16 : tensor<{R}x{U}x{type}>
    halftone.yield %17, %15, %17, %10 : tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>
  }}
  halftone.yield %0#0, %0#1, %0#2, %0#3 : tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>
}})",
                extents, dtype);
}

/// The backward recurrence: gradients are a concat, a factor and a stack. The second weights are read along their
/// depth.
std::string slopes(const Extents &extents, const std::string &dtype = "f32") {
  return filled(R"(
halftone.kernel recurrence @k (tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>, tensor<{U}x{U2}x{type}>)
    -> (tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U2}x{type}>) {{
^bb0(%h0: tensor<{R}x{U}x{type}>, %c0: tensor<{R}x{U}x{type}>, %g: tensor<{T}x{R}x{U}x{type}>, %f: tensor<{T}x{R}x{U}x{type}>, %r: tensor<{U}x{U2}x{type}>):
  %0:3 = halftone.scan (%h0, %c0) over (%g, %f) {{{length}}} : (tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>)
      -> (tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U2}x{type}>) {{
  ^bb0(%i: tensor<i32>, %h: tensor<{R}x{U}x{type}>, %c: tensor<{R}x{U}x{type}>, %y: tensor<{R}x{U}x{type}>, %k: tensor<{R}x{U}x{type}>):
    %1 = halftone.add %h, %y : tensor<{R}x{U}x{type}>
    %2 = halftone.mul %1, %k : tensor<{R}x{U}x{type}>
    %3 = halftone.add %2, %c : tensor<{R}x{U}x{type}>
    %4 = halftone.tanh %3 : tensor<{R}x{U}x{type}>
    %5 = halftone.mul %4, %k : tensor<{R}x{U}x{type}>
    %6 = halftone.concat %5, %4 {{axis = 1 : i64}} : tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}> to tensor<{R}x{U2}x{type}>
    %7 = halftone.contract %6, %r {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}} : (tensor<{R}x{U2}x{type}>, tensor<{U}x{U2}x{type}>) -> tensor<{R}x{U}x{type}>
    %8 = halftone.mul %4, %c : tensor<{R}x{U}x{type}>
    halftone.yield %7, %8, %6 : tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{R}x{U2}x{type}>
  }}
  halftone.yield %0#0, %0#1, %0#2 : tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U2}x{type}>
}})",
                extents, dtype);
}

/// A GRU that resets before it multiplies: a contraction of a gate that later ops read too. Its inputs are projected in
/// the body, and masked rows keep their state. Each row counts its steps.
std::string gru(const Extents &extents, const std::string &dtype = "f32") {
  return filled(R"(
halftone.kernel recurrence @k (tensor<{R}x{U}x{type}>, tensor<{R}xi32>, tensor<{T}x{R}x{F}x{type}>, tensor<{T}x{R}xi1>, tensor<{F}x{U3}x{type}>, tensor<{U}x{U2}x{type}>, tensor<{U}x{U}x{type}>, tensor<{R}x{U}x{type}>)
    -> (tensor<{R}x{U}x{type}>, tensor<{R}xi32>, tensor<{T}x{R}x{U}x{type}>) {{
^bb0(%h0: tensor<{R}x{U}x{type}>, %n0: tensor<{R}xi32>, %xs: tensor<{T}x{R}x{F}x{type}>, %seen: tensor<{T}x{R}xi1>, %k: tensor<{F}x{U3}x{type}>, %r: tensor<{U}x{U2}x{type}>, %s: tensor<{U}x{U}x{type}>, %drop: tensor<{R}x{U}x{type}>):
  %0:3 = halftone.scan (%h0, %n0) over (%xs, %seen) {{{length}}} : (tensor<{R}x{U}x{type}>, tensor<{R}xi32>, tensor<{T}x{R}x{F}x{type}>, tensor<{T}x{R}xi1>)
      -> (tensor<{R}x{U}x{type}>, tensor<{R}xi32>, tensor<{T}x{R}x{U}x{type}>) {{
  ^bb0(%i: tensor<i32>, %h: tensor<{R}x{U}x{type}>, %n: tensor<{R}xi32>, %x: tensor<{R}x{F}x{type}>, %m: tensor<{R}xi1>):
    %1 = halftone.contract %x, %k {{{by}}} : (tensor<{R}x{F}x{type}>, tensor<{F}x{U3}x{type}>) -> tensor<{R}x{U3}x{type}>
    %2 = halftone.mul %h, %drop : tensor<{R}x{U}x{type}>
    %3 = halftone.contract %2, %r {{{by}}} : (tensor<{R}x{U}x{type}>, tensor<{U}x{U2}x{type}>) -> tensor<{R}x{U2}x{type}>
    %4 = halftone.slice %1 {{start = array<i64: 0, 0>}} : tensor<{R}x{U3}x{type}> to tensor<{R}x{U2}x{type}>
    %5 = halftone.add %4, %3 : tensor<{R}x{U2}x{type}>
    %6 = halftone.logistic %5 : tensor<{R}x{U2}x{type}>
    %7 = halftone.slice %6 {{start = array<i64: 0, 0>}} : tensor<{R}x{U2}x{type}> to tensor<{R}x{U}x{type}>
    %8 = halftone.slice %6 {{start = array<i64: 0, {U}>}} : tensor<{R}x{U2}x{type}> to tensor<{R}x{U}x{type}>
    %9 = halftone.mul %8, %h : tensor<{R}x{U}x{type}>
    %10 = halftone.contract %9, %s {{{by}}} : (tensor<{R}x{U}x{type}>, tensor<{U}x{U}x{type}>) -> tensor<{R}x{U}x{type}>
    %11 = halftone.slice %1 {{start = array<i64: 0, {U2}>}} : tensor<{R}x{U3}x{type}> to tensor<{R}x{U}x{type}>
    %12 = halftone.add %10, %11 : tensor<{R}x{U}x{type}>
    %13 = halftone.tanh %12 : tensor<{R}x{U}x{type}>
    %14 = halftone.sub %h, %13 : tensor<{R}x{U}x{type}>
    %15 = halftone.mul %7, %14 : tensor<{R}x{U}x{type}>
    %16 = halftone.add %13, %15 : tensor<{R}x{U}x{type}>
    %17 = halftone.broadcast %m {{axes = array<i64: 0>}} : tensor<{R}xi1> to tensor<{R}x{U}xi1>
    %18 = halftone.select %17, %16, %h : tensor<{R}x{U}x{type}>
    %19 = halftone.cast %m {{origin = "op"}} : tensor<{R}xi1> to tensor<{R}xi32>
    %20 = halftone.add %n, %19 : tensor<{R}xi32>
    halftone.yield %18, %20, %18 : tensor<{R}x{U}x{type}>, tensor<{R}xi32>, tensor<{R}x{U}x{type}>
  }}
  halftone.yield %0#0, %0#1, %0#2 : tensor<{R}x{U}x{type}>, tensor<{R}xi32>, tensor<{T}x{R}x{U}x{type}>
}})",
                extents, dtype);
}

/// Decayed sums, without a contraction. The bias of a step is the same for all rows.
std::string sums(const Extents &extents, const std::string &dtype = "f32") {
  return filled(R"(
halftone.kernel recurrence @k (tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>, tensor<{T}x{U}x{type}>, tensor<{R}x{type}>) -> (tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>) {{
^bb0(%a: tensor<{R}x{U}x{type}>, %xs: tensor<{T}x{R}x{U}x{type}>, %bs: tensor<{T}x{U}x{type}>, %w: tensor<{R}x{type}>):
  %0:2 = halftone.scan (%a) over (%xs, %bs) {{{length}}} : (tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>, tensor<{T}x{U}x{type}>) -> (tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>) {{
  ^bb0(%i: tensor<i32>, %c: tensor<{R}x{U}x{type}>, %x: tensor<{R}x{U}x{type}>, %b: tensor<{U}x{type}>):
    %half = halftone.constant dense<0.5> : tensor<{R}x{U}x{type}>
    %1 = halftone.mul %c, %half : tensor<{R}x{U}x{type}>
    %2 = halftone.broadcast %b {{axes = array<i64: 1>}} : tensor<{U}x{type}> to tensor<{R}x{U}x{type}>
    %3 = halftone.add %1, %2 : tensor<{R}x{U}x{type}>
    %4 = halftone.broadcast %w {{axes = array<i64: 0>}} : tensor<{R}x{type}> to tensor<{R}x{U}x{type}>
    %5 = halftone.mul %x, %4 : tensor<{R}x{U}x{type}>
    %6 = halftone.add %3, %5 : tensor<{R}x{U}x{type}>
    halftone.yield %6, %c : tensor<{R}x{U}x{type}>, tensor<{R}x{U}x{type}>
  }}
  halftone.yield %0#0, %0#1 : tensor<{R}x{U}x{type}>, tensor<{T}x{R}x{U}x{type}>
}})",
                extents, dtype);
}

using Program = std::string (*)(const Extents &, const std::string &);
constexpr std::pair<const char *, Program> programs[] = {
    {"lstm", lstm}, {"slopes", slopes}, {"gru", gru}, {"sums", sums}};

/// A sum without contractions has lanes along its columns alone, so with short rows it remains a loop of launches.
bool isKernel(Program program, const Extents &extents) { return program != sums || extents.units >= 8; }

void check(Program program, const Extents &extents, const std::string &target, const std::string &dtype = "f32",
           bool specials = false) {
  KernelHarness kernel(program(extents, dtype), target, /*strict=*/false);
  kernel.checkInside(kernel.operands(1, specials, 0.5));
}

const std::vector<Extents> someExtents = {{1, 1, 1, 1},          {2, 1, 16, 16},         {5, 2, 17, 3},  {4, 3, 5, 16},
                                          {3, 63, 16, 8},        {3, 64, 20, 7},         {2, 65, 33, 1}, {17, 9, 32, 8},
                                          {6, 32, 16, 16, true}, {3, 130, 12, 40, true}, {2, 7, 96, 64}};

} // namespace

TEST_CASE("A recurrence of any extents gives what the interpreter gives", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const auto &[name, program] : programs)
    for (const Extents &extents : someExtents) {
      if (!isKernel(program, extents))
        continue;
      CAPTURE(name, target, extents.steps, extents.rows, extents.units, extents.features, extents.reverse);
      check(program, extents, target);
    }
}

TEST_CASE("Carries of narrow floats round at every step", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const auto &[name, program] : programs)
    for (const char *dtype : {"f16", "bf16"})
      for (const Extents &extents : {Extents{4, 5, 17, 3}, Extents{3, 16, 32, 16}}) {
        CAPTURE(name, target, dtype, extents.units);
        check(program, extents, target, dtype);
      }
}

TEST_CASE("Infinities and NaN of one row stay in that row", "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  for (const auto &[name, program] : programs) {
    CAPTURE(name, target);
    check(program, {3, 9, 16, 8}, target, "f32", /*specials=*/true);
  }
}

TEST_CASE("Recurrences of all lengths and of both directions share code", "[kernels]") {
  for (const auto &[name, program] : programs) {
    CAPTURE(name);
    const std::string text = KernelHarness(program({2, 9, 16, 8}, "f32"), "x86-64-v3", false).linalgText();
    for (const Extents &extents : {Extents{300, 9, 16, 8}, Extents{2, 64, 16, 8}, Extents{7, 9, 16, 8, true}})
      CHECK(KernelHarness(program(extents, "f32"), "x86-64-v3", false).linalgText() == text);
  }
}

TEST_CASE("A recurrence of bf16 multiplies pairs where the CPU has them, and keeps subnormal numbers", "[kernels]") {
  const std::string pairs = targetsOfGroups().front();
  for (const auto &[name, program] : {programs[0], programs[1], programs[2]})
    for (const Extents &extents : {Extents{3, 9, 17, 5}, Extents{2, 24, 32, 16}, Extents{2, 8, 1, 1}}) {
      CAPTURE(name, extents.units);
      const KernelHarness kernel(program(extents, "bf16"), pairs, false);
      CHECK(kernel.schedule() == "#halftone_cpu.recurrence<product = vdpbf16ps>");
      auto operands = kernel.operands(7, false, 0.5);
      kernel.checkInside(operands);
      for (const size_t subnormal : {0, 4}) { // a carry; weights or a bias
        auto small = operands;
        for (double &value : small[subnormal].low)
          value = 0x1p-130;
        small[subnormal].high = small[subnormal].low;
        kernel.checkInside(small);
      }
    }
}

TEST_CASE(
    "A recurrence of numbers widened to f32 keeps products of those that are subnormal, and so small that products are",
    "[kernels]") {
  auto target = GENERATE(from_range(runnableTargets()));
  const std::string element = GENERATE("f32", "bf16");
  const double least = element == "f32" ? 0x1p-149 : 0x1p-133;
  for (const auto &[name, program] : {programs[0], programs[1], programs[2]})
    for (const Extents &extents : {Extents{3, 9, 17, 5}, Extents{2, 26, 32, 16}, Extents{2, 8, 1, 1}}) {
      const KernelHarness kernel(program(extents, element), target, false);
      const auto usual = kernel.operands(7, false, 0.5);
      for (const double scale : {0x1p-60, 0x1p-85, 0x1p-126, 0x1p-146}) {
        CAPTURE(name, target, element, extents.units, scale);
        auto operands = usual;
        for (const size_t number : {0, 1, 2})
          for (double &value : operands[number].low)
            value = element == "f32" ? static_cast<double>(static_cast<float>(value * scale))
                                     : halftone::Bfloat16::decode(halftone::Bfloat16::encode(value * scale));
        const auto checkWith = [&](double first, double last) { // elements of the first operand, a carry
          auto some = operands;
          some[0].low.front() = first;
          some[0].low.back() = last;
          for (auto &each : some)
            each.high = each.low;
          kernel.checkInside(some);
        };
        checkWith(operands[0].low.front(), operands[0].low.back());
        checkWith(0, least);
        checkWith(least, 0.75);
        checkWith(-0.0, std::nan(""));
        checkWith(least * 0x1p+1, std::numeric_limits<double>::infinity());
      }
    }
}

TEST_CASE("There is code of a recurrence for CPUs of all kinds", "[kernels]") {
  for (const char *name : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86_64-unknown-linux-gnu:znver4", "sapphirerapids",
                           "aarch64-unknown-linux-gnu:neoverse-n1"})
    for (const auto &[title, program] : programs)
      for (const char *dtype : {"f32", "bf16", "f16"}) {
        CAPTURE(name, title, dtype);
        const KernelHarness kernel(program({4, 16, 24, 12}, dtype), name, false);
        const CpuTarget cpu = CpuTarget::find(name).valueOrThrow();
        const auto code = compileKernel(kernel.linalgText(), cpu, nullptr);
        CHECK(code.status().isOk());
      }
}

TEST_CASE("Pairs in a recurrence are refused for factors that are not bf16, and on CPUs without them", "[kernels]") {
  const auto refuses = [](const char *dtype, const char *target, const std::string &schedule, const char *expected) {
    const KernelHarness kernel(lstm({4, 16, 24, 12}, dtype), target, false);
    CHECK_THAT(kernel.refusalOf(schedule), Catch::Contains(expected));
  };
  const std::string pairs = "#halftone_cpu.recurrence<product = vdpbf16ps>";
  refuses("f32", "x86_64-unknown-linux-gnu:znver4", pairs,
          "vdpbf16ps with factors of 'f32' in memory; expected bf16 in f32");
  refuses("bf16", "x86-64-v4", pairs, "vdpbf16ps is not a product that this CPU supports");
  refuses("f32", "x86-64-v4", "#halftone_cpu.attention", "expected a schedule for kernels of kind recurrence");
}
