// Random modules in stage pure.
// SPDX-License-Identifier: Apache-2.0
#include "RandomModule.h"
#include <array>
#include <fmt/format.h>
#include <map>
#include <random>
#include <vector>

namespace {

constexpr const char *full = "6x5xf32", *rows = "6xf32", *columns = "5xf32", *scalar = "f32", *boolean = "i1";

class Generator {
public:
  explicit Generator(uint32_t seed) : random(seed) {}

  std::string run() {
    for (const char *feed : {"%x0", "%x1"})
      pool[full].push_back(feed);
    pool[scalar] = {"%s", "%u"};
    pool[boolean] = {"%p", "%q"};
    for (const char *variable : {"%v0", "%v1", "%v2"})
      pool[full].push_back(variable);
    ops(12, 0);
    std::string fetches;
    std::vector<std::string> types;
    auto give = [&](const char *type) {
      fetches += (fetches.empty() ? "" : ", ") + pick(type);
      types.push_back(type);
    };
    for (const char *type : {full, full, full, scalar, boolean, full, full, full, scalar})
      give(type);
    std::string list;
    for (const std::string &type : types)
      list += (list.empty() ? "tensor<" : ", tensor<") + type + ">";
    return fmt::format(R"(
halftone.variable @v0 : tensor<6x5xf32>
halftone.variable @v1 : tensor<6x5xf32>
halftone.variable @v2 : tensor<6x5xf32>
halftone.variable @u : tensor<f32>
func.func @main(%x0: tensor<6x5xf32> {{halftone.name = "x0"}}, %x1: tensor<6x5xf32> {{halftone.name = "x1"}},
    %s: tensor<f32> {{halftone.name = "s"}}, %p: tensor<i1> {{halftone.name = "p"}}, %q: tensor<i1> {{halftone.name = "q"}},
    %v0: tensor<6x5xf32> {{halftone.variable = @v0}}, %v1: tensor<6x5xf32> {{halftone.variable = @v1}},
    %v2: tensor<6x5xf32> {{halftone.variable = @v2}}, %u: tensor<f32> {{halftone.variable = @u}})
    -> (tensor<6x5xf32> {{halftone.name = "a"}}, tensor<6x5xf32> {{halftone.name = "b"}}, tensor<6x5xf32> {{halftone.name = "c"}},
        tensor<f32> {{halftone.name = "d"}}, tensor<i1> {{halftone.name = "e"}}, tensor<6x5xf32> {{halftone.variable = @v0}},
        tensor<6x5xf32> {{halftone.variable = @v1}}, tensor<6x5xf32> {{halftone.variable = @v2}}, tensor<f32> {{halftone.variable = @u}}) {{
{}  return {} : {}
}}
)",
                       text, fetches, list);
  }

private:
  int below(int count) { return static_cast<int>(random() % static_cast<uint32_t>(count)); }
  std::string pick(const std::string &type) {
    auto &values = pool[type];
    // The latest values are the likeliest, so that chains grow.
    size_t count = values.size(), back = std::min(count, count - static_cast<size_t>(below(static_cast<int>(count))));
    return below(3) ? values[count - std::min<size_t>(count, 1 + below(4))] : values[back - 1];
  }
  std::string fresh() { return fmt::format("%n{}", next++); }
  void add(const char *type, const std::string &value, const std::string &line) {
    text += fmt::format("  {} = halftone.{}\n", value, line);
    pool[type].push_back(value);
  }

  void elementwise(const char *type) {
    std::string a = pick(type), b = pick(type), y = fresh();
    constexpr std::array unary = {"neg", "tanh", "abs"};
    constexpr std::array binary = {"add", "sub", "maximum", "minimum"};
    if (below(3) == 0)
      add(type, y, fmt::format("{} {} : tensor<{}>", unary[below(3)], a, type));
    else
      add(type, y, fmt::format("{} {}, {} : tensor<{}>", binary[below(4)], a, b, type));
  }
  void one(int depth) {
    std::string y = fresh(), x = pick(full);
    switch (below(12)) {
    case 0:
      return add(rows, y, fmt::format("reduce sum {} {{axes = array<i64: 1>}} : tensor<6x5xf32> -> tensor<6xf32>", x));
    case 1:
      return add(columns, y, fmt::format("reduce sum {} {{axes = array<i64: 0>}} : tensor<6x5xf32> -> tensor<5xf32>", x));
    case 2:
      return add(scalar, y, fmt::format("reduce max {} {{axes = array<i64: 0, 1>}} : tensor<6x5xf32> -> tensor<f32>", x));
    case 3: {
      const char *type = std::array{rows, columns, scalar}[below(3)];
      if (pool[type].empty())
        return elementwise(full);
      const char *axes = type == rows ? "array<i64: 0>" : type == columns ? "array<i64: 1>" : "array<i64>";
      return add(full, y, fmt::format("broadcast {} {{axes = {}}} : tensor<{}> to tensor<6x5xf32>", pick(type), axes, type));
    }
    case 4: {
      std::string z = fresh();
      text += fmt::format("  {} = halftone.contract {}, {} {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}} : "
                          "(tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x6xf32>\n", z, x, pick(full));
      return add(rows, y, fmt::format("reduce max {} {{axes = array<i64: 1>}} : tensor<6x6xf32> -> tensor<6xf32>", z));
    }
    case 5: {
      std::string z = fresh(), w = fresh();
      text += fmt::format("  {} = halftone.reshape {} : tensor<6x5xf32> to tensor<5x6xf32>\n", z, x);
      text += fmt::format("  {} = halftone.add {}, {} : tensor<5x6xf32>\n", w, z, z);
      return add(full, y, fmt::format("reshape {} : tensor<5x6xf32> to tensor<6x5xf32>", below(2) ? z : w));
    }
    case 6: {
      std::string z = fresh();
      text += fmt::format("  {} = halftone.cast {} : tensor<6x5xf32> to tensor<6x5xf16>\n", z, x);
      return add(full, y, fmt::format("cast {} : tensor<6x5xf16> to tensor<6x5xf32>", z));
    }
    case 7:
      return add(boolean, y, fmt::format("compare lt {}, {} : tensor<f32>", pick(scalar), pick(scalar)));
    case 8:
      return depth < 2 ? when(depth) : elementwise(full);
    case 9:
      return elementwise(scalar);
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
    text += fmt::format("  {}:3 = halftone.when {} : (tensor<6x5xf32>, tensor<6x5xf32>, tensor<f32>) {{\n", y, pick(boolean));
    for (bool first : {true, false}) {
      auto outside = pool;
      ops(below(5), depth + 1);
      text += fmt::format("  halftone.yield {}, {}, {} : tensor<6x5xf32>, tensor<6x5xf32>, tensor<f32>\n  }}{}\n", pick(full),
                          below(3) ? fmt::format("%v{}", below(3)) : pick(full), pick(scalar), first ? " else {" : "");
      pool = outside;
    }
    pool[full].push_back(y + "#0");
    pool[full].push_back(y + "#1");
    pool[scalar].push_back(y + "#2");
  }

  std::mt19937 random;
  std::string text;
  std::map<std::string, std::vector<std::string>> pool;
  int next = 0;
};

} // namespace

std::string randomModule(uint32_t seed) { return Generator(seed).run(); }
