// Compares matmul kernels with sums in double: layouts, dtypes, odd extents, prologues, epilogues, reductions, K = 0.
// SPDX-License-Identifier: Apache-2.0
#include "TypedBuffer.h"
#include "compiler/targets/cpu/matmul/Products.h"
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler;

namespace {

/// One matmul kernel. Its dims are batch (if `batched`), m, n, k; with `split`, m0, m1, n, k0, k1.
struct Case {
  std::string name;
  bool batched = false, aTransposed = false, bTransposed = false, resultTransposed = false;
  std::string a = "f32", b = "f32", result = "f32", accumulator = "f32";
  bool prologue = false; // relu(a * scale[k]) and b + shift[n]
  bool bias = false;     // relu(x + bias[n]), and a second result x
  bool sums = false;     // partial reductions: sum over M, largest over all
  bool strict = false;
  bool fewRows = false;
  std::string instruction{}; // "": multiply-add, which is also used if the CPU lacks the named instruction
};

std::string tensorOf(size_t rank, const std::string &element) {
  std::string text = "tensor<";
  for (size_t i = 0; i < rank; ++i)
    text += "?x";
  return text + element + ">";
}

std::string widened(const std::string &value, const std::string &from, const std::string &to, std::string &body) {
  if (from == to)
    return value;
  body += fmt::format("    {0}w = {1} {0} : {2} to {3}\n", value, to == "i32" ? "arith.extsi" : "arith.extf", from, to);
  return value + "w";
}

std::string linalgOf(const Case &c) {
  const std::string dims = c.batched ? "d0, d1, d2, d3" : "d0, d1, d2";
  const int first = c.batched ? 1 : 0;
  const auto d = [&](std::vector<int> list, bool batch = true) {
    std::string text = c.batched && batch ? "d0" : "";
    for (int dim : list)
      text += fmt::format("{}d{}", text.empty() ? "" : ", ", dim + first);
    return "(" + text + ")";
  };
  const size_t rank = c.batched ? 3 : 2;
  const std::string &t = c.accumulator;
  const auto map = [&](const std::string &from, const std::string &to) {
    return "affine_map<" + from + " -> " + to + ">";
  };
  const std::string all = "(" + dims + ")", aDims = c.aTransposed ? d({2, 0}) : d({0, 2}),
                    bDims = c.bTransposed ? d({1, 2}) : d({2, 1});
  const std::string e = c.batched ? "%e0, " : "";
  const std::string m = fmt::format("%e{}", first), n = fmt::format("%e{}", first + 1),
                    k = fmt::format("%e{}", first + 2);
  const std::string par = c.batched ? "\"parallel\", " : "";
  std::string text = "func.func @kernel(";
  for (int i = 0; i < 3 + first; ++i)
    text += fmt::format("%e{}: index, ", i);
  text += fmt::format("%tm: index, %tn: index, %a: {}, %b: {}", tensorOf(rank, c.a), tensorOf(rank, c.b));
  if (c.prologue)
    text += fmt::format(", %scale: tensor<?x{0}>, %shift: tensor<?x{0}>", t);
  if (c.bias)
    text += fmt::format(", %bias: tensor<?x{}>", t);
  std::vector<std::string> results = {tensorOf(rank, c.result)};
  if (c.bias)
    results.push_back(tensorOf(rank, t));
  std::string resultText = results[0] + (c.bias ? ", " + results[1] : "");
  if (c.sums)
    resultText +=
        fmt::format(", tensor<?x{0}> {{halftone.partial = \"sum\"}}, tensor<{0}> {{halftone.partial = \"max\"}}", t);
  std::vector<std::string> given;
  if (!c.instruction.empty())
    given.push_back("product = " + c.instruction);
  if (c.fewRows)
    given.push_back("few_rows = true");
  const std::string parameters = given.empty() ? "" : fmt::format("<{}>", fmt::join(given, ", "));
  text += fmt::format(") -> ({}) attributes {{halftone.kind = \"matmul\", halftone.outer = {} : i64, halftone.roles = "
                      "array<i64: {}, 1, 1, 1>{}}} {{\n",
                      resultText, first, first,
                      fmt::format("{}, halftone.schedule = #halftone_cpu.matmul{}",
                                  c.strict ? ", halftone.numerics = \"strict\"" : "", parameters));
  text += fmt::format("  %zero = arith.constant {} : {}\n", t == "i32" ? "0" : "0.0", t);
  std::string a = "%a", b = "%b", aType = c.a, bType = c.b;
  const std::string flags = c.strict || t == "i32" ? "" : " fastmath<contract>";
  const std::string suffix = t == "i32" ? "i" : "f";
  if (c.prologue) {
    // The loops of a prologue cover the dims of its operand alone, which are renumbered.
    const std::string own = c.batched ? "d0, d1, d2" : "d0, d1", x = c.batched ? "d1" : "d0",
                      y = c.batched ? "d2" : "d1";
    const std::string lead = c.batched ? "d0, " : "";
    const auto prologueOf = [&](const std::string &to, const std::string &operand, const std::string &element,
                                bool transposed, const std::string &vector, const std::string &rowExtent,
                                const std::string &columnExtent, const std::string &kernelDims, const std::string &axis,
                                const std::string &compute) {
      std::string body;
      const std::string value = widened("%x", element, t, body);
      text +=
          fmt::format("  {0}e = tensor.empty({1}{2}, {3}) : {4}\n", to, e, rowExtent, columnExtent, tensorOf(rank, t));
      text += fmt::format(
          "  {} = linalg.generic {{halftone.combine = [\"\"], halftone.dims = array<i64: {}>, indexing_maps = [{}, {}, "
          "{}], "
          "iterator_types = [{}\"parallel\", \"parallel\"]}} ins({}, {} : {}, tensor<?x{}>) outs({}e : {}) {{\n",
          to, kernelDims, map("(" + own + ")", fmt::format("({}{}, {})", lead, transposed ? y : x, transposed ? x : y)),
          map("(" + own + ")", "(" + axis + ")"), map("(" + own + ")", "(" + own + ")"), par, operand, vector,
          tensorOf(rank, element), t, to, tensorOf(rank, t));
      text += fmt::format("  ^bb0(%x: {0}, %s: {1}, %o: {1}):\n{2}{3}  }} -> {4}\n", element, t, body,
                          fmt::format(fmt::runtime(compute), value), tensorOf(rank, t));
    };
    const std::string batchDim = c.batched ? "0, " : "";
    prologueOf("%pa", "%a", c.a, c.aTransposed, "%scale", m, k, fmt::format("{}{}, {}", batchDim, first, first + 2), y,
               "    %p = arith.mulf {}, %s : " + t + "\n    %r = arith.maximumf %p, %zero : " + t +
                   "\n    linalg.yield %r : " + t + "\n");
    prologueOf("%pb", "%b", c.b, c.bTransposed, "%shift", k, n, fmt::format("{}{}, {}", batchDim, first + 2, first + 1),
               y, "    %p = arith.addf {}, %s : " + t + "\n    linalg.yield %p : " + t + "\n");
    a = "%pa", b = "%pb", aType = bType = t;
  }
  const std::string aMap = c.prologue ? d({0, 2}) : aDims, bMap = c.prologue ? d({2, 1}) : bDims;
  std::string body;
  const std::string x = widened("%x", aType, t, body), y = widened("%y", bType, t, body);
  text += fmt::format("  %ce = tensor.empty({}{}, {}) : {}\n", e, m, n, tensorOf(rank, t));
  text += fmt::format("  %cf = linalg.fill ins(%zero : {0}) outs(%ce : {1}) -> {1}\n", t, tensorOf(rank, t));
  text += fmt::format(
      "  %c = linalg.generic {{halftone.combine = [\"sum\"], halftone.dims = array<i64: {}>, indexing_maps = [{}, {}, "
      "{}], "
      "iterator_types = [{}\"parallel\", \"parallel\", \"reduction\"]}} ins({}, {} : {}, {}) outs(%cf : {}) {{\n",
      c.batched ? "0, 1, 2, 3" : "0, 1, 2", map(all, aMap), map(all, bMap), map(all, d({0, 1})), par, a, b,
      tensorOf(rank, aType), tensorOf(rank, bType), tensorOf(rank, t));
  text += fmt::format("  ^bb0(%x: {0}, %y: {1}, %o: {2}):\n{3}    %p = arith.mul{4} {5}, {6}{7} : {2}\n    %s = "
                      "arith.add{4} %o, %p{7} : {2}\n"
                      "    linalg.yield %s : {2}\n  }} -> {8}\n",
                      aType, bType, t, body, suffix, x, y, flags, tensorOf(rank, t));
  // The epilogue.
  const std::string own = c.batched ? "(d0, d1, d2)" : "(d0, d1)", last = c.batched ? "d2" : "d1",
                    middle = c.batched ? "d1" : "d0";
  const std::string resultDims = !c.resultTransposed ? own : c.batched ? "(d0, d2, d1)" : "(d1, d0)";
  std::string maps = map(own, own), inputs = "%c", inputTypes = tensorOf(rank, t), arguments = "%x: " + t;
  if (c.bias) {
    maps += ", " + map(own, "(" + last + ")");
    inputs += ", %bias";
    inputTypes += ", tensor<?x" + t + ">";
    arguments += ", %z: " + t;
  }
  std::string outputs = "%re", combine = "\"\"";
  maps += ", " + map(own, resultDims);
  arguments += ", %o0: " + c.result;
  text += fmt::format("  %re = tensor.empty({}{}, {}) : {}\n", e, c.resultTransposed ? n : m,
                      c.resultTransposed ? m : n, results[0]);
  std::string outputTypes = results[0], compute, yields, yieldTypes = c.result;
  std::string value = "%x";
  if (c.bias) {
    text += fmt::format("  %se = tensor.empty({}{}, {}) : {}\n", e, m, n, results[1]);
    outputs += ", %se", outputTypes += ", " + results[1], maps += ", " + map(own, own), combine += ", \"\"";
    arguments += ", %o1: " + t;
    compute += fmt::format("    %sum = arith.add{0} %x, %z : {1}\n    %r = arith.max{2} %sum, %zero : {1}\n", suffix, t,
                           t == "i32" ? "si" : "imumf");
    value = "%r";
  }
  if (c.result != t) {
    compute += fmt::format("    %narrow = arith.trunc{} {} : {} to {}\n", suffix, value, t, c.result);
    yields = "%narrow";
  } else
    yields = value;
  if (c.bias)
    yields += ", %x", yieldTypes += ", " + t;
  if (c.sums) {
    text += fmt::format("  %low = arith.constant {1} : {0}\n  %ue = tensor.empty({2}) : tensor<?x{0}>\n"
                        "  %uf = linalg.fill ins(%zero : {0}) outs(%ue : tensor<?x{0}>) -> tensor<?x{0}>\n"
                        "  %ve = tensor.empty() : tensor<{0}>\n  %vf = linalg.fill ins(%low : {0}) outs(%ve : "
                        "tensor<{0}>) -> tensor<{0}>\n",
                        t, t == "f64" ? "0xFFF0000000000000" : "0xFF800000", n);
    outputs += ", %uf, %vf", outputTypes += fmt::format(", tensor<?x{0}>, tensor<{0}>", t);
    maps += ", " + map(own, "(" + last + ")") + ", " + map(own, "()");
    combine += ", \"sum\", \"max\"";
    arguments += fmt::format(", %u: {0}, %v: {0}", t);
    compute += fmt::format("    %nu = arith.addf %u, %x : {0}\n    %nv = arith.maximumf %v, %x : {0}\n", t);
    yields += ", %nu, %nv", yieldTypes += fmt::format(", {0}, {0}", t);
  }
  const int count = 1 + c.bias + 2 * c.sums;
  const std::string iterators = c.sums ? par + "\"reduction\", \"reduction\"" : par + "\"parallel\", \"parallel\"";
  text +=
      fmt::format("  %r{} = linalg.generic {{halftone.combine = [{}], halftone.dims = array<i64: {}>, indexing_maps = "
                  "[{}], iterator_types = [{}]}} "
                  "ins({} : {}) outs({} : {}) {{\n  ^bb0({}):\n{}    linalg.yield {} : {}\n  }} -> ({})\n",
                  count > 1 ? fmt::format(":{}", count) : "", combine, c.batched ? "0, 1, 2" : "0, 1", maps, iterators,
                  inputs, inputTypes, outputs, outputTypes, arguments, compute, yields, yieldTypes, outputTypes);
  text += "  return ";
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}%r{}", i ? ", " : "", count > 1 ? fmt::format("#{}", i) : "");
  return text + " : " + outputTypes + "\n}\n";
}

struct Sizes {
  int64_t batch, m, n, k, tm, tn;
};

void check(const Case &c, const Loaded &code, const std::string &text, const CpuTarget &cpu, const Sizes &s) {
  const int64_t batch = c.batched ? s.batch : 1;
  std::vector<int64_t> extents = {s.m, s.n, s.k, s.tm, s.tn};
  if (c.batched)
    extents.insert(extents.begin(), s.batch);
  const int64_t rowTiles = (s.m + s.tm - 1) / s.tm, columnTiles = (s.n + s.tn - 1) / s.tn,
                grid = batch * rowTiles * columnTiles;
  Buffer a = random(c.a, batch * s.m * s.k, 1), b = random(c.b, batch * s.k * s.n, 2),
         scale = random(c.accumulator, s.k, 3), shift = random(c.accumulator, s.n, 4),
         bias = random(c.accumulator, s.n, 5);
  std::vector<Buffer> results(size_t(1 + c.bias + 2 * c.sums));
  std::vector<std::string> types = {c.result};
  allocate(results[0], c.result, batch * s.m * s.n);
  if (c.bias)
    types.push_back(c.accumulator), allocate(results[1], c.accumulator, batch * s.m * s.n);
  if (c.sums) {
    allocate(results[size_t(1 + c.bias)], c.accumulator, batch * rowTiles * s.n);
    allocate(results[size_t(2 + c.bias)], c.accumulator, grid);
  }
  std::vector<void *> buffers = {a.data(), b.data()};
  if (c.prologue)
    buffers.insert(buffers.end(), {scale.data(), shift.data()});
  if (c.bias)
    buffers.push_back(bias.data());
  for (Buffer &result : results)
    buffers.push_back(result.data());
  const int64_t scratchBytes = scratchOf(text, extents, cpu);
  Buffer scratch;
  allocate(scratch, "i8", scratchBytes);
  // NaNs in the scratch must not propagate to any result.
  std::memset(scratch.aligned, 0xff, size_t(scratchBytes));
  std::memset(scratch.aligned, 0, 8);
  const int64_t half = grid / 2;
  code.function(buffers.data(), extents.data(), half, grid, scratch.aligned);
  code.function(buffers.data(), extents.data(), 0, half, scratch.aligned);

  INFO(c.name << " " << batch << "x" << s.m << "x" << s.n << "x" << s.k << " in " << s.tm << "x" << s.tn << " for "
              << cpu.name);
  REQUIRE(scratch.aligned[scratchBytes] == 0x7b); // nothing is written past the end
  for (size_t i = 0; i < results.size(); ++i)
    REQUIRE(results[i].aligned[results[i].values.size() * widthOf(i < types.size() ? types[i] : c.accumulator)] ==
            0x7b);
  size_t wrong = 0;
  std::string first;
  std::vector<double> sums(size_t(batch * rowTiles * s.n)), most(size_t(grid), -INFINITY);
  const double unit = c.accumulator == "f64" ? 0x1p-52 : c.accumulator == "i32" ? 0 : 0x1p-23;
  const double step = c.result == "f16"        ? 0x1p-10
                      : c.result == "bf16"     ? 0x1p-7
                      : c.result == "f8E4M3FN" ? 0x1p-3
                                               : unit;
  const auto expect = [&](double got, double wanted, double allowed, const std::string &what) {
    if (std::fabs(got - wanted) <= allowed)
      return;
    if (!wrong++)
      first = fmt::format("{}: got {}, expected {} within {}", what, got, wanted, allowed);
  };
  const auto at = [&](size_t result, int64_t index) {
    const std::string &type = result < types.size() ? types[result] : c.accumulator;
    return decode(results[result].aligned + size_t(index) * widthOf(type), type);
  };
  for (int64_t p = 0; p < batch; ++p)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = 0, size = 0;
        for (int64_t k = 0; k < s.k; ++k) {
          double x = a.values[size_t(p * s.m * s.k + (c.aTransposed ? k * s.m + i : i * s.k + k))];
          double y = b.values[size_t(p * s.k * s.n + (c.bTransposed ? j * s.k + k : k * s.n + j))];
          if (c.prologue)
            x = std::max(0.0, x * scale.values[size_t(k)]), y += shift.values[size_t(j)];
          sum += x * y;
          size += std::fabs(x * y);
        }
        const double allowed = (size + 1) * unit * 8;
        const int64_t plain = (p * s.m + i) * s.n + j, stored = c.resultTransposed ? (p * s.n + j) * s.m + i : plain;
        const double value = c.bias ? std::max(0.0, sum + bias.values[size_t(j)]) : sum;
        expect(at(0, stored), value, allowed + std::fabs(value) * step + (step == 0x1p-3 ? 0x1p-10 : 0),
               fmt::format("[{}, {}, {}]", p, i, j));
        if (c.bias)
          expect(at(1, plain), sum, allowed, fmt::format("second [{}, {}, {}]", p, i, j));
        const int64_t line = p * rowTiles + i / s.tm;
        sums[size_t(line * s.n + j)] += sum;
        most[size_t(line * columnTiles + j / s.tn)] = std::max(most[size_t(line * columnTiles + j / s.tn)], sum);
      }
  if (c.sums) {
    for (size_t i = 0; i < sums.size(); ++i)
      expect(at(size_t(1 + c.bias), int64_t(i)), sums[i], double(s.k + 1) * double(s.tm) * unit * 16,
             fmt::format("sum {}", i));
    for (size_t i = 0; i < most.size(); ++i)
      expect(at(size_t(2 + c.bias), int64_t(i)), most[i], double(s.k + 1) * unit * 8, fmt::format("max {}", i));
  }
  INFO(wrong << " wrong; first " << first);
  CHECK(wrong == 0);
}

/// The case with its instruction if the CPU has it, otherwise with multiply-add.
Case onTarget(Case c, const CpuTarget &cpu) {
  if (const auto product = cpu::symbolizeProduct(c.instruction); product && !findProduct(cpu, *product))
    c.instruction.clear();
  return c;
}

void checkAll(const std::vector<Case> &cases, const std::vector<Sizes> &sizes) {
  for (const Case &c : cases) {
    for (const std::string &target : runnableTargets()) {
      const CpuTarget cpu = targetNamed(target);
      const std::string text = linalgOf(onTarget(c, cpu));
      const Loaded code = loadKernel(text, cpu);
      for (const Sizes &s : sizes)
        check(c, code, text, cpu, s);
    }
  }
}

const std::vector<Sizes> small = {{2, 1, 1, 1, 12, 32},       {1, 5, 7, 3, 12, 32},     {3, 12, 32, 16, 12, 32},
                                  {2, 13, 33, 17, 12, 32},    {2, 25, 65, 40, 12, 64},  {1, 30, 70, 0, 24, 64},
                                  {1, 19, 150, 300, 24, 192}, {1, 1, 100, 300, 12, 96}, {1, 50, 10, 257, 48, 32}};

} // namespace

TEST_CASE("a matmul is right in all layouts", "[matmul]") {
  std::vector<Case> cases;
  for (bool batched : {false, true})
    for (bool aTransposed : {false, true})
      for (bool bTransposed : {false, true}) {
        Case c{fmt::format("{}{}{}", batched ? "batched " : "", aTransposed ? "T" : "N", bTransposed ? "T" : "N")};
        c.batched = batched, c.aTransposed = aTransposed, c.bTransposed = bTransposed;
        cases.push_back(c);
      }
  cases.push_back(cases.back());
  cases.back().resultTransposed = true;
  for (size_t i = 0, count = cases.size(); i < count; ++i) {
    cases.push_back(cases[i]);
    cases.back().fewRows = true, cases.back().name += " in place";
  }
  checkAll(cases, small);
  checkAll(cases, {{1, 21, 40, 1100, 12, 32}}); // three parts of K
}

TEST_CASE("a matmul is right in all dtypes", "[matmul]") {
  std::vector<Case> cases;
  for (const char *type : {"f64", "f16", "bf16", "f8E4M3FN", "i8"})
    for (bool transposed : {false, true}) {
      Case c{type};
      c.a = c.b = c.result = type;
      c.aTransposed = transposed, c.bTransposed = !transposed;
      if (c.a == "f64")
        c.accumulator = "f64";
      if (c.a == "i8")
        c.accumulator = c.result = "i32";
      cases.push_back(c);
    }
  for (size_t i = 0, count = cases.size(); i < count; ++i) {
    cases.push_back(cases[i]);
    cases.back().fewRows = true, cases.back().name += " in place";
  }
  // Groups along K, with a plain, transposed or batched right operand.
  for (int layout = 0; layout < 3; ++layout) {
    Case c{fmt::format("i8 groups {}", layout)};
    c.a = c.b = "i8", c.accumulator = c.result = "i32", c.instruction = "vpdpbusd";
    c.bTransposed = layout == 1, c.batched = layout == 2, c.fewRows = layout == 2;
    c.bias = layout == 0;
    cases.push_back(c);
  }
  for (int layout = 0; layout < 8; ++layout) {
    Case c{fmt::format("bf16 pairs {}", layout)};
    c.a = c.b = "bf16", c.instruction = "vdpbf16ps";
    c.aTransposed = layout & 1, c.bTransposed = layout & 2, c.batched = layout & 4;
    c.result = layout & 1 ? "bf16" : "f32", c.bias = layout == 2, c.sums = layout == 3, c.fewRows = layout == 4;
    cases.push_back(c);
  }
  cases.push_back({"strict"});
  cases.back().strict = true;
  checkAll(cases, small);
}

TEST_CASE("a matmul is right with prologues, epilogues and partial reductions", "[matmul]") {
  std::vector<Case> cases;
  for (int layout = 0; layout < 4; ++layout) {
    Case c{fmt::format("fused {}", layout)};
    c.a = "bf16", c.b = "f16", c.result = "bf16";
    c.aTransposed = layout & 1, c.bTransposed = layout & 2, c.batched = layout == 3;
    c.prologue = c.bias = true;
    c.sums = layout != 1, c.fewRows = layout % 2 == 0;
    cases.push_back(c);
  }
  Case wide{"fused f64"};
  wide.a = wide.b = wide.result = wide.accumulator = "f64";
  wide.prologue = wide.bias = wide.sums = true;
  cases.push_back(wide);
  checkAll(cases, small);
}

TEST_CASE("A matmul kernel that is not of the agreed form is refused", "[matmul]") {
  const std::string good = linalgOf({"plain"});
  const auto refused = [&](const std::string &from, const std::string &to, const std::string &expected) {
    std::string text = good;
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    auto kernel = compileKernel(text, targetNamed("host"));
    INFO(text);
    REQUIRE_FALSE(kernel.isOk());
    CHECK_THAT(kernel.status().diagnostics(), Catch::Contains(expected));
  };
  CHECK(compileKernel(good, targetNamed("host")).isOk());
  refused("halftone.roles = array<i64: 0, 1, 1, 1>", "halftone.roles = array<i64: 1, 1>", "expected halftone.roles");
  refused("halftone.roles = array<i64: 0, 1, 1, 1>", "halftone.roles = array<i64: 9, 1, 1, 1>",
          "expected an index argument");
  refused("halftone.dims = array<i64: 0, 1, 2>", "halftone.dims = array<i64: 0, 1>",
          "one dim of the kernel for each loop");
  const size_t arguments = good.find("("), counts = good.find("halftone.roles");
  REQUIRE(arguments < counts);
  const std::string between = good.substr(arguments + 1, counts - arguments - 1),
                    roles = "halftone.roles = array<i64: ";
  refused("(" + between + roles + "0,", "(%more: index, " + between + roles + "1,",
          "expected one linalg.generic over all dims");
  refused("halftone.dims = array<i64: 0, 1>", "halftone.dims = array<i64: 0, 7>",
          "one dim of the kernel for each loop");
  refused("halftone.dims = array<i64: 0, 1>", "halftone.dims = array<i64: 0>", "one dim of the kernel for each loop");
  const std::string schedule = "#halftone_cpu.matmul";
  refused(schedule, schedule + "<product = toaster>",
          "expected one of [multiply_add, vdpbf16ps, vpdpbusd, tdpbf16ps, tdpbssd] for the product of factors, got: "
          "toaster");
  refused(schedule, schedule + "<window = image, sums = tall>",
          "#halftone_cpu.matmul: window = image with sums = tall");
  refused(schedule, "7 : i64", "expected halftone.schedule to be a schedule of a target");
  refused(schedule, "#halftone_cpu.attention",
          "expected a schedule for kernels of kind matmul, got #halftone_cpu.attention");
  refused(", halftone.schedule = " + schedule, "", "expected #halftone_cpu.matmul, got none");
  refused(schedule, schedule + "<product = vdpbf16ps>, halftone.numerics = \"strict\"",
          "expected a schedule that supports strict numerics, got #halftone_cpu.matmul<product = vdpbf16ps>");
  refused(schedule, schedule + "<product = vdpbf16ps>",
          findProduct(targetNamed("host"), cpu::Product::vdpbf16ps) ? "with factors of"
                                                                    : "is not a product that this CPU supports");
  refused("%p = arith.mulf %x, %y", "%p = arith.divf %x, %y", "acc + a * b");
}

TEST_CASE("Matmul rates and compile time", "[matmul]") {
  struct Rate {
    const char *type, *target;
    bool aTransposed, bTransposed;
    std::string instruction = "";
  };
  for (const Rate &rate :
       {Rate{"f32", "host", false, false}, Rate{"f32", "host", false, true}, Rate{"f32", "host", true, false},
        Rate{"bf16", "host", false, false}, Rate{"bf16", "host", false, false, "vdpbf16ps"},
        Rate{"bf16", "host", false, true, "vdpbf16ps"}, Rate{"bf16", "host", true, false, "vdpbf16ps"},
        Rate{"f16", "host", false, true}, Rate{"f64", "host", false, false},
        Rate{"i8", "host", false, false, "vpdpbusd"}, Rate{"f32", "x86-64-v2", false, false}}) {
    Case c{"rate"};
    c.a = c.b = rate.type;
    c.aTransposed = rate.aTransposed, c.bTransposed = rate.bTransposed, c.instruction = rate.instruction;
    c.accumulator = c.result = c.a == "f64" ? "f64" : c.a == "i8" ? "i32" : "f32";
    const CpuTarget cpu = targetNamed(rate.target);
    const std::string text = linalgOf(onTarget(c, cpu));
    const auto start = std::chrono::steady_clock::now();
    const Loaded code = loadKernel(text, cpu);
    const double compile = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Sizes s{1, 512, 512, 512, 48, 128};
    check(c, code, text, cpu, {1, 100, 130, 512, 48, 128});
    std::vector<int64_t> extents = {s.m, s.n, s.k, s.tm, s.tn};
    Buffer a = random(c.a, s.m * s.k, 1), b = random(c.b, s.k * s.n, 2), result, scratch;
    allocate(result, c.result, s.m * s.n);
    allocate(scratch, "i8", scratchOf(text, extents, cpu));
    void *buffers[] = {a.data(), b.data(), result.data()};
    const int64_t grid = ((s.m + s.tm - 1) / s.tm) * ((s.n + s.tn - 1) / s.tn);
    double best = 1e9;
    for (int round = 0; round < 6; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      std::memset(scratch.data(), 0, 8);
      code.function(buffers, extents.data(), 0, grid, scratch.data());
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    fmt::print("  {:4} {}{} 512^3 {:9}{}: {:.1f} GF/s on one thread; compiled in {:.1f} ms\n", rate.type,
               c.aTransposed ? "T" : "N", c.bTransposed ? "T" : "N", rate.target, " " + rate.instruction,
               2.0 * 512 * 512 * 512 / best * 1e-9, compile * 1e3);
    CHECK(compile < 5);
  }
}
