// Writes programs with loops.
// SPDX-License-Identifier: Apache-2.0
#include "LoopPrograms.h"
#include <fmt/format.h>

namespace halftone::test {
namespace {

/// Two carries that are swapped, and a stack of one of them, over rows of `width` elements.
std::string swapping(int64_t length, int64_t width, bool reverse) {
  return fmt::format(R"(
func.func @main(%a: tensor<{1}xf32> {{halftone.name = "a"}}, %b: tensor<{1}xf32> {{halftone.name = "b"}}, %x: tensor<{0}x{1}xf32> {{halftone.name = "x"}})
    -> (tensor<{1}xf32> {{halftone.name = "p"}}, tensor<{1}xf32> {{halftone.name = "q"}}, tensor<{0}x{1}xf32> {{halftone.name = "y"}}) {{
  %p, %q, %y = halftone.scan (%a, %b) over (%x) {{length = {0} : i64{2}}}
      : (tensor<{1}xf32>, tensor<{1}xf32>, tensor<{0}x{1}xf32>) -> (tensor<{1}xf32>, tensor<{1}xf32>, tensor<{0}x{1}xf32>) {{
  ^bb0(%i: tensor<i32>, %c: tensor<{1}xf32>, %d: tensor<{1}xf32>, %s: tensor<{1}xf32>):
    %0 = halftone.add %d, %s : tensor<{1}xf32>
    %1 = halftone.mul %c, %s : tensor<{1}xf32>
    halftone.yield %d, %0, %1 : tensor<{1}xf32>, tensor<{1}xf32>, tensor<{1}xf32>
  }}
  return %p, %q, %y : tensor<{1}xf32>, tensor<{1}xf32>, tensor<{0}x{1}xf32>
}})",
                     length, width, reverse ? ", reverse" : "");
}

/// A body that yields its slices, captures and the index unchanged.
std::string passing(int64_t length, bool reverse) {
  return fmt::format(R"(
func.func @main(%a: tensor<16xf32> {{halftone.name = "a"}}, %x: tensor<{0}x16xf32> {{halftone.name = "x"}})
    -> (tensor<16xf32> {{halftone.name = "last"}}, tensor<16xf32> {{halftone.name = "same"}}, tensor<{0}x16xf32> {{halftone.name = "xs"}}, tensor<{0}x16xf32> {{halftone.name = "as"}}, tensor<{0}xi32> {{halftone.name = "is"}}, tensor<i32> {{halftone.name = "sum"}}) {{
  %zero = halftone.constant dense<0> : tensor<i32>
  %r:6 = halftone.scan (%a, %a, %zero) over (%x) {{length = {0} : i64{1}}}
      : (tensor<16xf32>, tensor<16xf32>, tensor<i32>, tensor<{0}x16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<i32>, tensor<{0}x16xf32>, tensor<{0}x16xf32>, tensor<{0}xi32>) {{
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %d: tensor<16xf32>, %n: tensor<i32>, %s: tensor<16xf32>):
    %0 = halftone.add %n, %i : tensor<i32>
    halftone.yield %s, %d, %0, %s, %a, %i : tensor<16xf32>, tensor<16xf32>, tensor<i32>, tensor<16xf32>, tensor<16xf32>, tensor<i32>
  }}
  return %r#0, %r#1, %r#3, %r#4, %r#5, %r#2 : tensor<16xf32>, tensor<16xf32>, tensor<{0}x16xf32>, tensor<{0}x16xf32>, tensor<{0}xi32>, tensor<i32>
}})",
                     length, reverse ? ", reverse" : "");
}

/// A scan in a scan: prefix sums of each row, which begin with the sum of the previous rows; then a scan over the
/// stack.
std::string nested(int64_t length, int64_t inner) {
  return fmt::format(R"(
func.func @main(%a: tensor<4x4xf32> {{halftone.name = "a"}}, %x: tensor<{0}x{1}x4x4xf32> {{halftone.name = "x"}})
    -> (tensor<4x4xf32> {{halftone.name = "last"}}, tensor<{0}x{1}x4x4xf32> {{halftone.name = "y"}}, tensor<{1}x4x4xf32> {{halftone.name = "sum"}}) {{
  %last, %y = halftone.scan (%a) over (%x) {{length = {0} : i64}}
      : (tensor<4x4xf32>, tensor<{0}x{1}x4x4xf32>) -> (tensor<4x4xf32>, tensor<{0}x{1}x4x4xf32>) {{
  ^bb0(%i: tensor<i32>, %c: tensor<4x4xf32>, %row: tensor<{1}x4x4xf32>):
    %0, %1 = halftone.scan (%c) over (%row) {{length = {1} : i64, reverse}}
        : (tensor<4x4xf32>, tensor<{1}x4x4xf32>) -> (tensor<4x4xf32>, tensor<{1}x4x4xf32>) {{
    ^bb0(%j: tensor<i32>, %d: tensor<4x4xf32>, %s: tensor<4x4xf32>):
      %2 = halftone.add %d, %s : tensor<4x4xf32>
      %3 = halftone.mul %2, %c : tensor<4x4xf32>
      halftone.yield %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>
    }}
    halftone.yield %0, %1 : tensor<4x4xf32>, tensor<{1}x4x4xf32>
  }}
  %zero = halftone.constant dense<0.0> : tensor<{1}x4x4xf32>
  %sum = halftone.scan (%zero) over (%y) {{length = {0} : i64, reverse}} : (tensor<{1}x4x4xf32>, tensor<{0}x{1}x4x4xf32>) -> tensor<{1}x4x4xf32> {{
  ^bb0(%i: tensor<i32>, %c: tensor<{1}x4x4xf32>, %row: tensor<{1}x4x4xf32>):
    %0 = halftone.add %c, %row : tensor<{1}x4x4xf32>
    halftone.yield %0 : tensor<{1}x4x4xf32>
  }}
  return %last, %y, %sum : tensor<4x4xf32>, tensor<{0}x{1}x4x4xf32>, tensor<{1}x4x4xf32>
}})",
                     length, inner);
}

/// A branch in a scan, on a condition of each step, and the scan within another branch.
std::string branching(int64_t length) {
  return fmt::format(R"(
func.func @main(%p: tensor<i1> {{halftone.name = "p"}}, %a: tensor<16xf32> {{halftone.name = "a"}}, %x: tensor<{0}x16xf32> {{halftone.name = "x"}}, %go: tensor<{0}xi1> {{halftone.name = "go"}})
    -> (tensor<16xf32> {{halftone.name = "last"}}, tensor<{0}x16xf32> {{halftone.name = "y"}}) {{
  %r:2 = halftone.when %p : (tensor<16xf32>, tensor<{0}x16xf32>) {{
    %last, %y = halftone.scan (%a) over (%x, %go) {{length = {0} : i64}}
        : (tensor<16xf32>, tensor<{0}x16xf32>, tensor<{0}xi1>) -> (tensor<16xf32>, tensor<{0}x16xf32>) {{
    ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %s: tensor<16xf32>, %g: tensor<i1>):
      %0:2 = halftone.when %g : (tensor<16xf32>, tensor<16xf32>) {{
        %1 = halftone.sub %s, %c : tensor<16xf32>
        %2 = halftone.abs %1 : tensor<16xf32>
        halftone.yield %1, %2 : tensor<16xf32>, tensor<16xf32>
      }} else {{
        halftone.yield %c, %s : tensor<16xf32>, tensor<16xf32>
      }}
      halftone.yield %0#0, %0#1 : tensor<16xf32>, tensor<16xf32>
    }}
    halftone.yield %last, %y : tensor<16xf32>, tensor<{0}x16xf32>
  }} else {{
    %0 = halftone.neg %x : tensor<{0}x16xf32>
    halftone.yield %a, %0 : tensor<16xf32>, tensor<{0}x16xf32>
  }}
  return %r#0, %r#1 : tensor<16xf32>, tensor<{0}x16xf32>
}})",
                     length);
}

/// A variable that a scan reads in each step, and whose new value is the last carry of the scan.
std::string updating(int64_t length) {
  return fmt::format(R"(
halftone.variable @w : tensor<16xf32> {{path = "w"}}
func.func @main(%x: tensor<{0}x16xf32> {{halftone.name = "x"}}) -> (tensor<{0}x16xf32> {{halftone.name = "y"}}) {{
  %w = halftone.read @w : tensor<16xf32>
  %last, %y = halftone.scan (%w) over (%x) {{length = {0} : i64}}
      : (tensor<16xf32>, tensor<{0}x16xf32>) -> (tensor<16xf32>, tensor<{0}x16xf32>) {{
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %s: tensor<16xf32>):
    %0 = halftone.add %c, %w : tensor<16xf32>
    %1 = halftone.sub %0, %s : tensor<16xf32>
    halftone.yield %1, %0 : tensor<16xf32>, tensor<16xf32>
  }}
  halftone.assign @w, %last : tensor<16xf32>
  return %y : tensor<{0}x16xf32>
}})",
                     length);
}

/// Doubles one carry and counts in the other while the first is below a limit. It reads a variable to which it assigns
/// its result. At most `most` steps, if not negative. The first carry is at least 1.
std::string doubling(int64_t most, const char *limit = "3.0e+02") {
  return fmt::format(R"(
halftone.variable @w : tensor<16xf32> {{path = "w"}}
func.func @main(%a: tensor<16xf32> {{halftone.name = "a"}}) -> (tensor<16xf32> {{halftone.name = "b"}}, tensor<i32> {{halftone.name = "steps"}}, tensor<i32> {{halftone.name = "sum"}}) {{
  %w = halftone.read @w : tensor<16xf32>
  %size = halftone.abs %a : tensor<16xf32>
  %one = halftone.constant dense<1.0> : tensor<16xf32>
  %begin = halftone.add %size, %one : tensor<16xf32>
  %zero = halftone.constant dense<0> : tensor<i32>
  %limit = halftone.constant dense<{1}> : tensor<f32>
  %b, %n, %sum, %v = halftone.while (%begin, %zero, %zero, %w) {0} : (tensor<16xf32>, tensor<i32>, tensor<i32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<i32>, tensor<i32>, tensor<16xf32>) {{
  ^bb0(%c: tensor<16xf32>, %k: tensor<i32>, %s: tensor<i32>, %v: tensor<16xf32>):
    %largest = halftone.reduce max %c {{axes = array<i64: 0>}} : tensor<16xf32> -> tensor<f32>
    %go = halftone.compare lt %largest, %limit : tensor<f32>
    halftone.yield %go : tensor<i1>
  }} do {{
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %k: tensor<i32>, %s: tensor<i32>, %v: tensor<16xf32>):
    %0 = halftone.add %c, %c : tensor<16xf32>
    %1 = halftone.constant dense<1> : tensor<i32>
    %2 = halftone.add %k, %1 : tensor<i32>
    %3 = halftone.add %s, %i : tensor<i32>
    %4 = halftone.sub %w, %v : tensor<16xf32>
    halftone.yield %0, %2, %3, %4 : tensor<16xf32>, tensor<i32>, tensor<i32>, tensor<16xf32>
  }}
  halftone.assign @w, %v : tensor<16xf32>
  return %b, %n, %sum : tensor<16xf32>, tensor<i32>, tensor<i32>
}})",
                     most < 0 ? "" : fmt::format("{{maximum = {} : i64}}", most), limit);
}

/// Carries that are swapped under a condition that is itself a carry, in each step of a scan, and in a branch.
std::string ending(int64_t length) {
  return fmt::format(R"(
func.func @main(%p: tensor<i1> {{halftone.name = "p"}}, %go: tensor<{0}xi1> {{halftone.name = "go"}}, %a: tensor<16xf32> {{halftone.name = "a"}}, %b: tensor<16xf32> {{halftone.name = "b"}})
    -> (tensor<16xf32> {{halftone.name = "c"}}, tensor<16xf32> {{halftone.name = "d"}}, tensor<16xf32> {{halftone.name = "e"}}) {{
  %true = halftone.constant dense<true> : tensor<i1>
  %r:2 = halftone.scan (%a, %b) over (%go) {{length = {0} : i64}} : (tensor<16xf32>, tensor<16xf32>, tensor<{0}xi1>) -> (tensor<16xf32>, tensor<16xf32>) {{
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %d: tensor<16xf32>, %all: tensor<i1>):
    %w:4 = halftone.while (%c, %d, %all, %true) {{maximum = 5 : i64}} : (tensor<16xf32>, tensor<16xf32>, tensor<i1>, tensor<i1>) -> (tensor<16xf32>, tensor<16xf32>, tensor<i1>, tensor<i1>) {{
    ^bb0(%e: tensor<16xf32>, %f: tensor<16xf32>, %x: tensor<i1>, %y: tensor<i1>):
      halftone.yield %y : tensor<i1>
    }} do {{
    ^bb0(%j: tensor<i32>, %e: tensor<16xf32>, %f: tensor<16xf32>, %x: tensor<i1>, %y: tensor<i1>):
      %0 = halftone.add %e, %f : tensor<16xf32>
      halftone.yield %f, %0, %x, %x : tensor<16xf32>, tensor<16xf32>, tensor<i1>, tensor<i1>
    }}
    halftone.yield %w#0, %w#1 : tensor<16xf32>, tensor<16xf32>
  }}
  %e = halftone.when %p : (tensor<16xf32>) {{
    %one = halftone.constant dense<1> : tensor<i32>
    %two = halftone.constant dense<2> : tensor<i32>
    %v:3 = halftone.while (%a, %b, %one) : (tensor<16xf32>, tensor<16xf32>, tensor<i32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<i32>) {{
    ^bb0(%c: tensor<16xf32>, %d: tensor<16xf32>, %n: tensor<i32>):
      %less = halftone.compare lt %n, %two : tensor<i32>
      halftone.yield %less : tensor<i1>
    }} do {{
    ^bb0(%j: tensor<i32>, %c: tensor<16xf32>, %d: tensor<16xf32>, %n: tensor<i32>):
      %next = halftone.add %n, %one : tensor<i32>
      halftone.yield %d, %c, %next : tensor<16xf32>, tensor<16xf32>, tensor<i32>
    }}
    halftone.yield %v#0 : tensor<16xf32>
  }} else {{
    halftone.yield %a : tensor<16xf32>
  }}
  return %r#0, %r#1, %e : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}})",
                     length);
}

/// A sum in float16, which is rounded in each step, and a stack of its casts.
std::string narrow(int64_t length) {
  return fmt::format(R"(
func.func @main(%a: tensor<5xf16> {{halftone.name = "a"}}, %x: tensor<{0}x5xf32> {{halftone.name = "x"}})
    -> (tensor<5xf16> {{halftone.name = "last"}}, tensor<{0}x5xf32> {{halftone.name = "y"}}) {{
  %last, %y = halftone.scan (%a) over (%x) {{length = {0} : i64}}
      : (tensor<5xf16>, tensor<{0}x5xf32>) -> (tensor<5xf16>, tensor<{0}x5xf32>) {{
  ^bb0(%i: tensor<i32>, %c: tensor<5xf16>, %s: tensor<5xf32>):
    %0 = halftone.cast %s {{origin = "op"}} : tensor<5xf32> to tensor<5xf16>
    %1 = halftone.add %c, %0 : tensor<5xf16>
    %2 = halftone.cast %1 {{origin = "op"}} : tensor<5xf16> to tensor<5xf32>
    halftone.yield %1, %2 : tensor<5xf16>, tensor<5xf32>
  }}
  return %last, %y : tensor<5xf16>, tensor<{0}x5xf32>
}})",
                     length);
}

} // namespace

LoopProgram wideProgram() { return {"wide rows", swapping(3, 40000, true)}; }

std::string recurrentProgram(int64_t length) {
  return fmt::format(R"(
halftone.variable @k : tensor<8x16xf32> {{path = "kernel"}}
halftone.variable @r : tensor<16x16xf32> {{path = "recurrent"}}
halftone.variable @b : tensor<16xf32> {{path = "bias"}}
func.func @main(%h0: tensor<4x16xf32> {{halftone.name = "h0"}}, %x: tensor<{0}x4x8xf32> {{halftone.name = "x"}})
    -> (tensor<4x16xf32> {{halftone.name = "h"}}, tensor<{0}x4x16xf32> {{halftone.name = "y"}}) {{
  %k = halftone.read @k : tensor<8x16xf32>
  %r = halftone.read @r : tensor<16x16xf32>
  %b = halftone.read @b : tensor<16xf32>
  %h, %y = halftone.scan (%h0) over (%x) {{length = {0} : i64}}
      : (tensor<4x16xf32>, tensor<{0}x4x8xf32>) -> (tensor<4x16xf32>, tensor<{0}x4x16xf32>) {{
  ^bb0(%i: tensor<i32>, %c: tensor<4x16xf32>, %s: tensor<4x8xf32>):
    %0 = halftone.contract %s, %k {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = halftone.contract %c, %r {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}} : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %2 = halftone.broadcast %b {{axes = array<i64: 1>}} : tensor<16xf32> to tensor<4x16xf32>
    %3 = halftone.add %0, %2 : tensor<4x16xf32>
    %4 = halftone.add %3, %1 : tensor<4x16xf32>
    %5 = halftone.tanh %4 : tensor<4x16xf32>
    halftone.yield %5, %5 : tensor<4x16xf32>, tensor<4x16xf32>
  }}
  return %h, %y : tensor<4x16xf32>, tensor<{0}x4x16xf32>
}})",
                     length);
}

std::string trainedProgram(int64_t length) {
  return fmt::format(R"(
halftone.variable @k : tensor<8x64xf32> {{path = "kernel"}}
halftone.variable @r : tensor<16x64xf32> {{path = "recurrent"}}
halftone.variable @b : tensor<64xf32> {{path = "bias"}}
func.func @main(%x: tensor<{0}x4x8xf32> {{halftone.name = "x"}}) -> (tensor<f32> {{halftone.name = "loss"}}) {{
  %zero = halftone.constant dense<0.0> : tensor<4x16xf32>
  %k = halftone.read @k : tensor<8x64xf32>
  %r = halftone.read @r : tensor<16x64xf32>
  %b = halftone.read @b : tensor<64xf32>
  %h:3 = halftone.scan (%zero, %zero) over (%x) {{length = {0} : i64}}
      : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<{0}x4x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<{0}x4x16xf32>) {{
  ^bb0(%i: tensor<i32>, %h: tensor<4x16xf32>, %c: tensor<4x16xf32>, %s: tensor<4x8xf32>):
    %0 = halftone.contract %s, %k {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}} : (tensor<4x8xf32>, tensor<8x64xf32>) -> tensor<4x64xf32>
    %1 = halftone.contract %h, %r {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}} : (tensor<4x16xf32>, tensor<16x64xf32>) -> tensor<4x64xf32>
    %2 = halftone.add %0, %1 : tensor<4x64xf32>
    %3 = halftone.broadcast %b {{axes = array<i64: 1>}} : tensor<64xf32> to tensor<4x64xf32>
    %z = halftone.add %2, %3 : tensor<4x64xf32>
    %zi = halftone.slice %z {{start = array<i64: 0, 0>}} : tensor<4x64xf32> to tensor<4x16xf32>
    %zf = halftone.slice %z {{start = array<i64: 0, 16>}} : tensor<4x64xf32> to tensor<4x16xf32>
    %zc = halftone.slice %z {{start = array<i64: 0, 32>}} : tensor<4x64xf32> to tensor<4x16xf32>
    %zo = halftone.slice %z {{start = array<i64: 0, 48>}} : tensor<4x64xf32> to tensor<4x16xf32>
    %gi = halftone.logistic %zi : tensor<4x16xf32>
    %gf = halftone.logistic %zf : tensor<4x16xf32>
    %gc = halftone.tanh %zc : tensor<4x16xf32>
    %go = halftone.logistic %zo : tensor<4x16xf32>
    %4 = halftone.mul %gf, %c : tensor<4x16xf32>
    %5 = halftone.mul %gi, %gc : tensor<4x16xf32>
    %c1 = halftone.add %4, %5 : tensor<4x16xf32>
    %6 = halftone.tanh %c1 : tensor<4x16xf32>
    %h1 = halftone.mul %go, %6 : tensor<4x16xf32>
    halftone.yield %h1, %c1, %h1 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
  }}
  %squares = halftone.mul %h#2, %h#2 : tensor<{0}x4x16xf32>
  %loss = halftone.reduce sum %squares {{axes = array<i64: 0, 1, 2>}} : tensor<{0}x4x16xf32> -> tensor<f32>
  %g:3 = halftone.gradient %loss of [@k, @r, @b] : tensor<f32> -> (tensor<8x64xf32>, tensor<16x64xf32>, tensor<64xf32>)
  %nk = halftone.sub %k, %g#0 : tensor<8x64xf32>
  %nr = halftone.sub %r, %g#1 : tensor<16x64xf32>
  %nb = halftone.sub %b, %g#2 : tensor<64xf32>
  halftone.assign @k, %nk : tensor<8x64xf32>
  halftone.assign @r, %nr : tensor<16x64xf32>
  halftone.assign @b, %nb : tensor<64xf32>
  return %loss : tensor<f32>
}})",
                     length);
}

std::vector<LoopProgram> loopPrograms(const std::vector<int64_t> &lengths) {
  std::vector<LoopProgram> programs;
  for (const int64_t length : lengths) {
    const std::string steps = fmt::format(" of {} steps", length);
    for (const bool reverse : {false, true}) {
      programs.push_back({"carries that change places" + steps, swapping(length, 16, reverse)});
      programs.push_back({"slices that are copied" + steps, swapping(length, 3, reverse)});
      programs.push_back({"values that pass through" + steps, passing(length, reverse)});
    }
    programs.push_back({"a scan in a scan" + steps, nested(length, 3)});
    programs.push_back({"a branch in a scan in a branch" + steps, branching(length)});
    programs.push_back({"a variable's update" + steps, updating(length)});
    programs.push_back({"a while of at most so many steps" + steps, doubling(length)});
    programs.push_back({"a while in a scan" + steps, ending(length)});
    programs.push_back({"a narrow carry" + steps, narrow(length)});
    programs.push_back({"a recurrent layer" + steps, recurrentProgram(length)});
    programs.push_back({"a step of training" + steps, trainedProgram(length)});
  }
  programs.push_back({"a while without a maximum", doubling(-1)});
  programs.push_back({"a while of no step", doubling(-1, "0.0")});
  return programs;
}

} // namespace halftone::test
