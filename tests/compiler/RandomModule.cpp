// Random modules in stage pure.
// SPDX-License-Identifier: Apache-2.0
#include "RandomModule.h"
#include <array>
#include <fmt/format.h>
#include <map>
#include <random>
#include <vector>

namespace {

class Generator {
public:
  Generator(uint32_t seed, int64_t height, int64_t width, bool hasLoops = false)
      : random(seed), height(height), width(width), hasLoops(hasLoops) {}

  std::string run(bool graph) {
    pool[full] = {"%x0", "%x1", "%v0", "%v1", "%v2"};
    pool[scalar] = {"%s", "%u"};
    pool[boolean] = {"%p", "%q"};
    ops(12, 0);
    std::string values, types, reads, assigns;
    for (const std::string &type : {full, full, full, scalar, boolean})
      give(pick(type), type, values, types);
    std::string arguments = fmt::format(
        "%x0: tensor<{0}> {{halftone.name = \"x0\"}}, %x1: tensor<{0}> {{halftone.name = \"x1\"}}, %s: tensor<f32> "
        "{{halftone.name = \"s\"}}, %p: tensor<i1> {{halftone.name = \"p\"}}, %q: tensor<i1> {{halftone.name = \"q\"}}",
        full);
    std::string results = fmt::format("tensor<{0}> {{halftone.name = \"a\"}}, tensor<{0}> {{halftone.name = \"b\"}}, "
                                      "tensor<{0}> {{halftone.name = \"c\"}}, "
                                      "tensor<f32> {{halftone.name = \"d\"}}, tensor<i1> {{halftone.name = \"e\"}}",
                                      full);
    std::string symbols;
    for (const char *name : {"v0", "v1", "v2", "u"}) {
      const std::string &type = name[0] == 'u' ? scalar : full;
      std::string fresh = pick(type);
      symbols += fmt::format("halftone.variable @{} : tensor<{}>\n", name, type);
      if (graph) {
        reads += fmt::format("  %{0} = halftone.read @{0} : tensor<{1}>\n", name, type);
        assigns += fmt::format("  halftone.assign @{}, {} : tensor<{}>\n", name, fresh, type);
      } else {
        arguments += fmt::format(", %{0}: tensor<{1}> {{halftone.variable = @{0}}}", name, type);
        results += fmt::format(", tensor<{1}> {{halftone.variable = @{0}}}", name, type);
        give(fresh, type, values, types);
      }
    }
    return fmt::format("{}func.func @main({}) -> ({}) {{\n{}{}{}  return {} : {}\n}}\n", symbols, arguments, results,
                       reads, text, assigns, values, types);
  }

private:
  int below(int count) { return static_cast<int>(random() % static_cast<uint32_t>(count)); }
  static void give(const std::string &value, const std::string &type, std::string &values, std::string &types) {
    values += (values.empty() ? "" : ", ") + value;
    types += (types.empty() ? "tensor<" : ", tensor<") + type + ">";
  }
  /// Prefers the most recent values, so that chains grow.
  std::string pick(const std::string &type) {
    auto &values = pool[type];
    int count = static_cast<int>(values.size());
    return values[count - 1 - below(below(3) ? std::min(count, 4) : count)];
  }
  std::string fresh() { return fmt::format("%n{}", next++); }
  template <class... Args> std::string add(const std::string &type, fmt::format_string<Args...> line, Args &&...args) {
    std::string value = fresh();
    text += fmt::format("  {} = halftone.{}\n", value, fmt::format(line, std::forward<Args>(args)...));
    pool[type].push_back(value);
    return value;
  }

  void elementwise(const std::string &type) {
    constexpr std::array unary = {"neg", "tanh", "abs", "logistic"};
    constexpr std::array binary = {"add", "sub", "maximum", "minimum"};
    std::string a = pick(type), b = pick(type);
    if (below(3) == 0)
      add(type, "{} {} : tensor<{}>", unary[below(4)], a, type);
    else
      add(type, "{} {}, {} : tensor<{}>", binary[below(4)], a, b, type);
  }
  void repeat() {
    const std::string type = std::array{rows, columns, scalar}[below(3)];
    if (pool[type].empty())
      return elementwise(full);
    const char *axes = type == rows ? "array<i64: 0>" : type == columns ? "array<i64: 1>" : "array<i64>";
    add(full, "broadcast {} {{axes = {}}} : tensor<{}> to tensor<{}>", pick(type), axes, type, full);
  }
  void contract() {
    std::string z = add(squares,
                        "contract {}, {} {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}} : (tensor<{}>, "
                        "tensor<{}>) -> tensor<{}>",
                        pick(full), pick(full), full, full, squares);
    if (below(2))
      z = add(squares, "tanh {} : tensor<{}>", z, squares);
    add(rows, "reduce {} {} {{axes = array<i64: {}>}} : tensor<{}> -> tensor<{}>", below(2) ? "max" : "sum", z,
        below(2), squares, rows);
    add(full,
        "contract {}, {} {{lhs_contract = array<i64: {}>, rhs_contract = array<i64: 0>}} : (tensor<{}>, tensor<{}>) -> "
        "tensor<{}>",
        z, pick(full), below(2), squares, full, full);
  }
  void reshape() {
    std::string z = add(turned, "reshape {} : tensor<{}> to tensor<{}>", pick(full), full, turned);
    if (below(2))
      z = add(turned, "add {}, {} : tensor<{}>", z, pick(turned), turned);
    if (below(2))
      add(full, "transpose {} {{permutation = array<i64: 1, 0>}} : tensor<{}> to tensor<{}>", z, turned, full);
    else
      add(full, "reshape {} : tensor<{}> to tensor<{}>", z, turned, full);
  }
  /// Gathers or scatters rows, or slices a row off one value and concatenates it with another.
  void move() {
    if (below(2)) {
      int64_t kept = 1 + below(static_cast<int>(height));
      std::string upper = fmt::format("{}x{}xf32", kept, width), lower = fmt::format("{}x{}xf32", height - kept, width);
      std::string a = add(upper, "slice {} {{start = array<i64: {}, 0>}} : tensor<{}> to tensor<{}>", pick(full),
                          height - kept, full, upper);
      std::string b =
          add(lower, "slice {} {{start = array<i64: 0, 0>}} : tensor<{}> to tensor<{}>", pick(full), full, lower);
      add(full, "concat {}, {} {{axis = 0 : i64}} : tensor<{}>, tensor<{}> to tensor<{}>", a, b, upper, lower, full);
      return;
    }
    std::string numbers = fmt::format("{}xi32", height);
    std::string at =
        add(numbers, "arg_reduce max {} {{axis = 1 : i64}} : tensor<{}> -> tensor<{}>", pick(full), full, numbers);
    if (below(2))
      add(full, "gather {}, {} {{axis = 0 : i64}} : (tensor<{}>, tensor<{}>) -> tensor<{}>", pick(full), at, full,
          numbers, full);
    else
      add(full, "scatter_add {}, {} {{axis = 0 : i64}} : (tensor<{}>, tensor<{}>) -> tensor<{}>", at, pick(full),
          numbers, full, full);
  }
  void one(int depth) {
    switch (below(16)) {
    case 0:
      add(rows, "reduce {} {} {{axes = array<i64: 1>}} : tensor<{}> -> tensor<{}>", below(2) ? "sum" : "max",
          pick(full), full, rows);
      return;
    case 1:
      add(columns, "reduce sum {} {{axes = array<i64: 0>}} : tensor<{}> -> tensor<{}>", pick(full), full, columns);
      return;
    case 2:
      add(scalar, "reduce {} {} {{axes = array<i64: 0, 1>}} : tensor<{}> -> tensor<f32>", below(2) ? "sum" : "max",
          pick(full), full);
      return;
    case 3:
      return repeat();
    case 4:
      return contract();
    case 5:
      return reshape();
    case 6: {
      std::string narrow = size() + (below(2) ? "f16" : "bf16");
      std::string x = below(2) ? fmt::format("%v{}", below(3)) : pick(full);
      std::string z = add(narrow, "cast {} : tensor<{}> to tensor<{}>", x, full, narrow);
      add(full, "cast {} : tensor<{}> to tensor<{}>", z, narrow, full);
      return;
    }
    case 7:
      add(boolean, "compare lt {}, {} : tensor<f32>", pick(scalar), pick(scalar));
      return;
    case 8:
      return depth < 2 ? region(depth) : elementwise(full);
    case 9:
      return hasLoops && depth < 2 && below(2) ? region(depth) : elementwise(scalar);
    case 10:
      add(boolean, "reduce_all all_finite ({}, {}) : tensor<{}>, tensor<f32>", pick(full), pick(scalar), full);
      return;
    case 11: {
      std::string z = add("masks", "compare gt {}, {} : tensor<{}>", pick(full), pick(full), full);
      add(full, "select {}, {}, {} : tensor<{}>", z, pick(full), pick(full), full);
      return;
    }
    case 12: {
      std::string z = add("indices", "arg_reduce max {} {{axis = 0 : i64}} : tensor<{}> -> tensor<{}xi32>", pick(full),
                          full, width);
      add(columns, "cast {} : tensor<{}xi32> to tensor<{}>", z, width, columns);
      return;
    }
    case 13:
      add(full, "constant dense<{}> : tensor<{}>", below(2) ? "0.5" : "0.0", full);
      return;
    case 14:
      return move();
    default:
      return elementwise(full);
    }
  }
  void ops(int count, int depth) {
    for (int op = 0; op < count; ++op)
      one(depth);
  }
  void when(int depth) {
    std::string y = fresh();
    text += fmt::format("  {}:3 = halftone.when {} : (tensor<{}>, tensor<{}>, tensor<f32>) {{\n", y, pick(boolean),
                        full, full);
    for (bool first : {true, false}) {
      auto outside = pool;
      ops(below(5), depth + 1);
      std::string old = fmt::format("%v{}", below(3));
      text += fmt::format("  halftone.yield {}, {}, {} : tensor<{}>, tensor<{}>, tensor<f32>\n  }}{}\n", pick(full),
                          below(3) ? old : pick(full), pick(scalar), full, full, first ? " else {" : "");
      pool = outside;
    }
    pool[full].push_back(y + "#0");
    pool[full].push_back(y + "#1");
    pool[scalar].push_back(y + "#2");
  }
  void region(int depth) {
    const int kind = hasLoops ? below(3) : 2;
    return kind == 0 ? scan(depth) : kind == 1 ? loop(depth) : when(depth);
  }
  /// A scan over the rows of a value, with a carry of each type, a stack of rows, and a stack of whole values, such as
  /// the values that steps read from a carry.
  void scan(int depth) {
    const std::string y = fresh(), i = fresh(), c = fresh(), s = fresh(), p = fresh(), x = fresh();
    const std::string carries = fmt::format("tensor<{}>, tensor<f32>, tensor<i1>", full);
    const std::string stack = fmt::format("tensor<{}x{}>", height, full);
    text += fmt::format("  {}:5 = halftone.scan ({}, {}, {}) over ({}) {{length = {} : i64{}}} : ({}, tensor<{}>) -> "
                        "({}, tensor<{}>, {}) {{\n",
                        y, pick(full), pick(scalar), pick(boolean), pick(full), height, below(2) ? ", reverse" : "",
                        carries, full, carries, full, stack);
    text += fmt::format("  ^bb0({}: tensor<i32>, {}: tensor<{}>, {}: tensor<f32>, {}: tensor<i1>, {}: tensor<{}>):\n",
                        i, c, full, s, p, x, columns);
    const auto outside = pool;
    pool[full].push_back(c);
    pool[scalar].push_back(s);
    pool[boolean].push_back(p);
    pool[columns].push_back(x);
    if (below(2))
      add(scalar, "cast {} : tensor<i32> to tensor<f32>", i);
    ops(below(6), depth + 1);
    const std::string next = pick(full), values[] = {c, next, pick(full)};
    text += fmt::format("  halftone.yield {}, {}, {}, {}, {} : {}, tensor<{}>, tensor<{}>\n  }}\n", next, pick(scalar),
                        pick(boolean), pick(columns), values[below(3)], carries, columns, full);
    pool = outside;
    giveAll(y);
    pool[full].push_back(y + "#3");
    add(full, "reduce sum {}#4 {{axes = array<i64: 0>}} : {} -> tensor<{}>", y, stack, full);
  }
  /// A `while` of at most three steps, as long as a carry is true.
  void loop(int depth) {
    const std::string y = fresh(), i = fresh(), c = fresh(), s = fresh(), p = fresh();
    const std::string carries = fmt::format("tensor<{}>, tensor<f32>, tensor<i1>", full);
    text += fmt::format("  {}:3 = halftone.while ({}, {}, {}) {{maximum = {} : i64}} : ({}) -> ({}) {{\n", y,
                        pick(full), pick(scalar), pick(boolean), 1 + below(3), carries, carries);
    const auto region = [&](const std::string &index, int most) {
      text += fmt::format("  ^bb0({}{}: tensor<{}>, {}: tensor<f32>, {}: tensor<i1>):\n", index, c, full, s, p);
      pool[full].push_back(c);
      pool[scalar].push_back(s);
      pool[boolean].push_back(p);
      ops(below(most), depth + 1);
    };
    const auto outside = pool;
    region("", 2);
    text += fmt::format("  halftone.yield {} : tensor<i1>\n  }} do {{\n", pick(boolean));
    pool = outside;
    region(i + ": tensor<i32>, ", 6);
    text += fmt::format("  halftone.yield {}, {}, {} : {}\n  }}\n", pick(full), pick(scalar), pick(boolean), carries);
    pool = outside;
    giveAll(y);
  }
  void giveAll(const std::string &y) {
    pool[full].push_back(y + "#0");
    pool[scalar].push_back(y + "#1");
    pool[boolean].push_back(y + "#2");
  }
  std::string size() const { return fmt::format("{}x{}x", height, width); }

  std::mt19937 random;
  int64_t height, width;
  bool hasLoops;
  const std::string full = size() + "f32", rows = fmt::format("{}xf32", height), columns = fmt::format("{}xf32", width),
                    scalar = "f32", boolean = "i1", turned = fmt::format("{}x{}xf32", width, height),
                    squares = fmt::format("{0}x{0}xf32", height);
  std::string text;
  std::map<std::string, std::vector<std::string>> pool;
  int next = 0;
};

} // namespace

std::string randomModule(uint32_t seed, int64_t height, int64_t width) {
  return Generator(seed, height, width).run(false);
}
std::string randomLoops(uint32_t seed, int64_t height, int64_t width) {
  return Generator(seed, height, width, true).run(false);
}
std::string randomGraph(uint32_t seed, int64_t height, int64_t width) {
  return Generator(seed, height, width).run(true);
}
