// Random modules that assign variables and reread them.
// SPDX-License-Identifier: Apache-2.0
#include "RandomState.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <random>
#include <vector>

namespace halftone::test {
namespace {

class Generator {
public:
  explicit Generator(uint32_t seed) : random(seed) {
    const int64_t extent = std::array{4, 4, 8, 16, 32}[below(5)];
    wide = fmt::format("tensor<{0}x{0}xf32>", extent);
    turned = fmt::format("tensor<{}x{}xf32>", extent / 2, extent * 2);
    for (const char *dtype : {"bf16", "f16"})
      narrow.push_back(fmt::format("tensor<{0}x{0}x{1}>", extent, dtype));
  }

  std::string run() {
    const int weights = 2 + below(3), flags = 1 + below(2);
    std::vector<std::string> declarations;
    for (int i = 0; i < weights; ++i)
      declarations.push_back(declare(fmt::format("w{}", i), wide));
    for (int i = 0; i < flags; ++i)
      declarations.push_back(declare(fmt::format("f{}", i), "tensor<i1>"));
    declarations.push_back("halftone.variable @n : tensor<i32>\n");
    std::shuffle(declarations.begin(), declarations.end(), random);

    Scope scope;
    for (const std::string &symbol : symbols)
      read(scope, symbol);
    scope.values.push_back(add("sign %d : {}", wide));
    block(scope, 0, 6 + below(10));
    assign(symbols[below(weights)], scope.values.back());
    const std::string first = pick(scope.values), second = pick(scope.values);
    std::string all;
    for (const std::string &line : declarations)
      all += line;
    return fmt::format("{0}func.func @main(%d: {1} {{halftone.name = \"d\"}}) -> ({1} {{halftone.name = \"y\"}}, {1} "
                       "{{halftone.name = \"z\"}}) {{\n{2}  return {3}, {4} : {1}, {1}\n}}\n",
                       all, wide, text, first, second);
  }

private:
  /// The names visible to a block.
  struct Scope {
    std::vector<std::string> values, flags;
  };

  int below(int count) { return static_cast<int>(random() % static_cast<uint32_t>(count)); }
  /// Prefers the first values, which are old values of weights, and the most recent ones.
  const std::string &pick(const std::vector<std::string> &names) {
    const int count = static_cast<int>(names.size()), near = std::min(count, 4);
    const int way = below(4);
    return names[way == 0 ? below(near) : way == 1 ? below(count) : count - 1 - below(near)];
  }
  /// A value; with probability one half, a weight as it was before the run.
  const std::string &pickOld(const Scope &scope) { return below(2) ? scope.values[below(2)] : pick(scope.values); }
  std::string declare(const std::string &symbol, const std::string &type) {
    symbols.push_back(symbol);
    return fmt::format("halftone.variable @{} : {}\n", symbol, type);
  }
  std::string fresh() { return fmt::format("%t{}", next++); }
  void line(const std::string &content) { text += std::string(2 + 2 * depth, ' ') + content + "\n"; }
  /// An op whose text has types substituted for the braces.
  template <class... Types> std::string add(const std::string &op, const Types &...types) {
    std::string name = fresh();
    line(fmt::format("{} = halftone.{}", name, fmt::format(fmt::runtime(op), types...)));
    return name;
  }

  void read(Scope &scope, const std::string &symbol) {
    const bool isFlag = symbol[0] == 'f';
    (isFlag ? scope.flags : scope.values).push_back(add("read @" + symbol + " : {}", isFlag ? "tensor<i1>" : wide));
  }
  void assign(const std::string &symbol, const std::string &value) {
    line(fmt::format("halftone.assign @{}, {} : {}", symbol, value, symbol[0] == 'f' ? "tensor<i1>" : wide));
  }

  std::string cast(const std::string &value, const std::string &to) {
    return add("cast " + value + fmt::format(" {{{{origin = \"o{}\"}}}} : {{}} to {{}}", below(3)), wide, to);
  }

  /// A product of two narrow casts, transposed or not.
  void product(Scope &scope) {
    const std::string &type = narrow[below(4) == 0];
    const std::string a = cast(pick(scope.values), type), b = cast(pickOld(scope), type);
    const std::string y =
        add(fmt::format("contract {}, {} {{{{lhs_contract = array<i64: {}>, rhs_contract = array<i64: "
                        "{}>}}}} : ({{}}, {{}}) -> {{}}",
                        a, b, below(2), below(2)),
            type, type, wide);
    scope.values.push_back(add("sign " + y + " : {}", wide));
  }
  void elementwise(Scope &scope) {
    const std::string a = add("sign " + pick(scope.values) + " : {}", wide), b = pick(scope.values);
    const char *op = std::array{"sub", "add", "maximum", "minimum"}[below(4)];
    scope.values.push_back(op[0] == 'm'
                               ? add(fmt::format("{} {}, {} : {{}}", op, a, b), wide)
                               : add(fmt::format("{} {}, {} : {{}}", op, a, add("sign " + b + " : {}", wide)), wide));
  }
  void refold(Scope &scope) {
    const std::string flat = add("reshape " + pick(scope.values) + " : {} to {}", wide, turned);
    scope.values.push_back(add("reshape " + add("neg " + flat + " : {}", turned) + " : {} to {}", turned, wide));
  }
  /// A weight cast to a narrow dtype and back.
  void rounded(Scope &scope) {
    const std::string &type = narrow[below(2)];
    const std::string value = cast(pickOld(scope), type);
    scope.values.push_back(add("cast " + value + " {{origin = \"back\"}} : {} to {}", type, wide));
  }
  void compare(Scope &scope) {
    const auto extreme = [&](const char *kind) {
      return add(
          fmt::format("reduce {} {} {{{{axes = array<i64: 0, 1>}}}} : {{}} -> tensor<f32>", kind, pick(scope.values)),
          wide);
    };
    const std::string a = extreme("max"), b = extreme(below(2) ? "min" : "max");
    scope.flags.push_back(
        add(fmt::format("compare {} {}, {} : tensor<f32>", std::array{"lt", "gt", "eq"}[below(3)], a, b)));
  }
  void count() {
    const std::string n = add("read @n : tensor<i32>");
    line(fmt::format("halftone.assign @n, {} : tensor<i32>", add(fmt::format("add {0}, {0} : tensor<i32>", n))));
  }

  void when(Scope &scope) {
    const std::string condition = pick(scope.flags), result = fresh();
    const int results = 1 + below(2);
    std::string types = wide;
    if (results == 2)
      types += ", " + wide;
    line(fmt::format("{}:{} = halftone.when {} : ({}) {{", result, results, condition, types));
    for (const bool isThen : {true, false}) {
      Scope inner = scope;
      ++depth;
      block(inner, depth, below(4));
      std::string yielded = pick(inner.values);
      if (results == 2)
        yielded += ", " + pick(inner.values);
      line(fmt::format("halftone.yield {} : {}", yielded, types));
      --depth;
      line(isThen ? "} else {" : "}");
    }
    for (int i = 0; i < results; ++i)
      scope.values.push_back(fmt::format("{}#{}", result, i));
  }

  void block(Scope &scope, int level, int steps) {
    for (int i = 0; i < steps; ++i)
      switch (below(level < 3 ? 13 : 11)) {
      case 0:
      case 1:
        product(scope);
        break;
      case 2:
      case 3:
        elementwise(scope);
        break;
      case 4:
        rounded(scope);
        break;
      case 5:
        compare(scope);
        break;
      case 6:
        below(2) ? refold(scope) : count();
        break;
      case 7:
        read(scope, pick(symbols));
        break;
      case 8:
      case 9:
      case 10: {
        const std::string symbol = pick(symbols);
        assign(symbol, symbol[0] == 'f' ? pick(scope.flags) : pickOld(scope));
        break;
      }
      default:
        when(scope);
      }
  }

  std::mt19937 random;
  std::string wide, turned, text;
  std::vector<std::string> narrow, symbols;
  int depth = 0, next = 0;
};

} // namespace

std::string randomState(uint32_t seed) { return Generator(seed).run(); }

} // namespace halftone::test
