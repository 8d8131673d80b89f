// Random programs over the dialect's ops.
// SPDX-License-Identifier: Apache-2.0
#include "RandomOps.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <optional>
#include <random>
#include <vector>

namespace {

using Shape = std::vector<int64_t>;

struct Item {
  std::string name, dtype;
  Shape shape;
  std::string type() const {
    return fmt::format("tensor<{}{}{}>", fmt::join(shape, "x"), shape.empty() ? "" : "x", dtype);
  }
  bool isFloat() const { return dtype == "f16" || dtype == "bf16" || dtype == "f32" || dtype == "f64"; }
  std::string wide() const { return dtype == "f64" ? dtype : "f32"; }
};

int64_t sizeOf(const Shape &shape) {
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  return size;
}
std::string array(const std::vector<int64_t> &numbers) {
  return fmt::format("array<i64{}{}>", numbers.empty() ? "" : ": ", fmt::join(numbers, ", "));
}
std::vector<int64_t> upTo(size_t count, size_t from = 0) {
  std::vector<int64_t> numbers;
  for (size_t i = from; i < count; ++i)
    numbers.push_back(int64_t(i));
  return numbers;
}

class Program {
public:
  explicit Program(uint32_t seed) : random(seed) {
    const std::vector<std::vector<std::string>> sets = {
        {"f32"}, {"f32", "f16"}, {"f32", "bf16"}, {"f32", "f16", "bf16"}, {"f64", "f32"}, {"bf16"}, {"f16"}};
    floats = one(sets);
  }

  std::string text(int ops) {
    argument(one(floats), anyShape());
    argument("f32", anyShape());
    while (int(lines.size()) < ops)
      step();
    std::vector<Item> given{pool.back()};
    for (int i = below(4); i >= 0; --i)
      given.push_back(one(pool));
    std::vector<std::string> symbols, inputs, outputs, values, types;
    for (const Item &item : arguments)
      inputs.push_back(fmt::format("{}: {} {{halftone.name = \"{}\"}}", item.name, item.type(), item.name.substr(1)));
    for (size_t i = 0; i < given.size(); ++i)
      outputs.push_back(fmt::format("{} {{halftone.name = \"y{}\"}}", given[i].type(), i));
    for (const Item &item : variables) {
      symbols.push_back(fmt::format("halftone.variable @{} : {}\n", item.name.substr(1), item.type()));
      inputs.push_back(fmt::format("{}: {} {{halftone.variable = @{}}}", item.name, item.type(), item.name.substr(1)));
      if (below(2))
        continue;
      const Item old =
          below(2) ? item : *pick([&](const Item &x) { return x.dtype == "f32" && x.shape == item.shape; });
      given.push_back(binary("mul", old, splat(item, "0.9")));
      outputs.push_back(fmt::format("{} {{halftone.variable = @{}}}", item.type(), item.name.substr(1)));
    }
    for (const Item &item : given) {
      values.push_back(item.name);
      types.push_back(item.type());
    }
    return fmt::format("{}func.func @main({}) -> ({}) {{\n{}  return {} : {}\n}}\n", fmt::join(symbols, ""),
                       fmt::join(inputs, ", "), fmt::join(outputs, ", "), fmt::join(lines, ""), fmt::join(values, ", "),
                       fmt::join(types, ", "));
  }

private:
  static constexpr int64_t mostElements = 20000;

  int below(int count) { return int(random() % uint32_t(count)); }
  template <class T> T one(const std::vector<T> &of) { return of[size_t(below(int(of.size())))]; }
  int64_t extent(size_t among = 100) {
    static const std::vector<int64_t> extents = {1,  2,  3,  4,  5,  7,  8,   10,  13,  16,  17, 24,
                                                 31, 32, 33, 48, 64, 65, 100, 128, 130, 200, 257};
    return extents[size_t(below(int(std::min(among, extents.size()))))];
  }
  Shape anyShape() {
    while (true) {
      Shape shape(size_t(one(std::vector<int>{0, 1, 2, 2, 2, 2, 3, 3, 4})));
      for (int64_t &each : shape)
        each = extent();
      if (sizeOf(shape) <= mostElements)
        return shape;
    }
  }
  Item argument(const std::string &dtype, const Shape &shape) {
    arguments.push_back({fmt::format("%x{}", arguments.size()), dtype, shape});
    pool.push_back(arguments.back());
    return pool.back();
  }
  Item add(const std::string &dtype, const Shape &shape, const std::string &op) {
    pool.push_back({fmt::format("%n{}", lines.size()), dtype, shape});
    lines.push_back(fmt::format("  {} = halftone.{}\n", pool.back().name, op));
    return pool.back();
  }
  /// The latest are the likeliest, so that chains grow.
  std::optional<Item> pick(const std::function<bool(const Item &)> &fits) {
    std::vector<Item> found;
    std::copy_if(pool.begin(), pool.end(), std::back_inserter(found), fits);
    if (found.empty())
      return std::nullopt;
    const int count = int(found.size()), near = below(5) < 3 ? std::min(count, 5) : count;
    return found[size_t(count - 1 - below(near))];
  }
  Item like(const Item &x) {
    const auto found =
        pick([&](const Item &y) { return y.dtype == x.dtype && y.shape == x.shape && y.name != x.name; });
    return found && below(7) ? *found : arguments.size() < 8 ? argument(x.dtype, x.shape) : x;
  }

  Item unary(const std::string &op, const Item &x) {
    return add(x.dtype, x.shape, fmt::format("{} {} : {}", op, x.name, x.type()));
  }
  Item binary(const std::string &op, const Item &x, const Item &y) {
    return add(x.dtype, x.shape, fmt::format("{} {}, {} : {}", op, x.name, y.name, x.type()));
  }
  Item splat(const Item &x, const std::string &value) {
    return add(x.dtype, x.shape, fmt::format("constant dense<{}> : {}", value, x.type()));
  }
  Item cast(const Item &x, const std::string &dtype) {
    return add(dtype, x.shape, fmt::format("cast {} : {} to {}", x.name, x.type(), Item{"", dtype, x.shape}.type()));
  }
  Item moved(const std::string &op, const Item &x, const std::string &attributes, const Shape &to) {
    return add(x.dtype, to,
               fmt::format("{} {} {} : {} to {}", op, x.name, attributes, x.type(), Item{"", x.dtype, to}.type()));
  }
  Item broadcast(const Item &x, const std::vector<int64_t> &axes, const Shape &to) {
    return moved("broadcast", x, fmt::format("{{axes = {}}}", array(axes)), to);
  }
  Item reduce(const std::string &kind, const Item &x, const std::vector<int64_t> &axes, const std::string &dtype) {
    Shape to;
    for (size_t i = 0; i < x.shape.size(); ++i)
      if (std::find(axes.begin(), axes.end(), int64_t(i)) == axes.end())
        to.push_back(x.shape[i]);
    return add(dtype, to,
               fmt::format("reduce {} {} {{axes = {}}} : {} -> {}", kind, x.name, array(axes), x.type(),
                           Item{"", dtype, to}.type()));
  }

  void unaryStep(Item x) {
    static const std::vector<std::string> ops = {"abs", "neg",   "sign", "sqrt",  "tanh", "logistic",
                                                 "erf", "sin",   "cos",  "floor", "ceil", "round_even",
                                                 "exp", "expm1", "log",  "log1p", "rsqrt"};
    const std::string op = one(ops);
    if (op.starts_with("exp"))
      x = unary("tanh", x);
    if (op.starts_with("log1") || op == "log" || op.ends_with("sqrt"))
      x = binary("add", unary("abs", x), splat(x, "0.5"));
    unary(op, x);
  }
  void contract(Item x) {
    x = unary("tanh", x);
    std::vector<int64_t> axes = upTo(x.shape.size());
    std::shuffle(axes.begin(), axes.end(), random);
    const size_t batch = std::min(size_t(one(std::vector<int>{0, 0, 0, 1, 2})), axes.size() - 1);
    const size_t contracted = std::min(size_t(1 + (below(4) == 0)), axes.size() - batch);
    // The other operand's axes, in any order: those of x that it shares, and its own.
    std::vector<int64_t> order(axes.begin(), axes.begin() + int64_t(batch + contracted));
    const int own = one(std::vector<int>{0, 1, 1, 1, 2});
    order.resize(order.size() + size_t(own), -1);
    std::shuffle(order.begin(), order.end(), random);
    Shape shape, free;
    for (int64_t axis : order) {
      shape.push_back(axis < 0 ? extent() : x.shape[size_t(axis)]);
      if (axis < 0)
        free.push_back(shape.back());
    }
    Shape to;
    std::vector<int64_t> lhs[2], rhs[2];
    int64_t depth = 1;
    for (size_t i = 0; i < batch + contracted; ++i) {
      lhs[i >= batch].push_back(axes[i]);
      rhs[i >= batch].push_back(std::find(order.begin(), order.end(), axes[i]) - order.begin());
      (i < batch ? to.emplace_back(1) : depth) *= x.shape[size_t(axes[i])];
    }
    std::sort(axes.begin() + int64_t(batch + contracted), axes.end());
    for (size_t i = batch + contracted; i < axes.size(); ++i)
      to.push_back(x.shape[size_t(axes[i])]);
    to.insert(to.end(), free.begin(), free.end());
    if (sizeOf(shape) > mostElements || sizeOf(to) > mostElements || sizeOf(to) * depth > 2'000'000)
      return;
    const std::string dtype = below(5) < 3 ? x.dtype : x.wide();
    const Item y = factor(x.dtype, shape);
    add(dtype, to,
        fmt::format(
            "contract {}, {} {{lhs_batch = {}, rhs_batch = {}, lhs_contract = {}, rhs_contract = {}}} : ({}, {}) -> {}",
            x.name, y.name, array(lhs[0]), array(rhs[0]), array(lhs[1]), array(rhs[1]), x.type(), y.type(),
            Item{"", dtype, to}.type()));
  }
  Item factor(const std::string &dtype, const Shape &shape) {
    const auto known = pick([&](const Item &y) { return y.dtype == dtype && y.shape == shape; });
    if (known && below(3))
      return *known;
    if (below(3))
      return argument(dtype, shape);
    variables.push_back({fmt::format("%v{}", variables.size()), "f32", shape});
    pool.push_back(variables.back());
    return dtype == "f32" ? variables.back() : cast(variables.back(), dtype);
  }
  void normalize(const Item &x) {
    const size_t outer = size_t(below(int(x.shape.size())));
    const std::vector<int64_t> inner = upTo(x.shape.size(), outer);
    const auto whole = [&](const Item &number) { return broadcast(number, upTo(outer), x.shape); };
    if (below(2)) {
      const Item e = unary("exp", binary("sub", x, whole(reduce("max", x, inner, x.dtype))));
      binary("div", e, whole(reduce("sum", e, inner, x.dtype)));
      return;
    }
    const std::string count =
        fmt::format("{:.9f}", 1.0 / double(sizeOf(Shape(x.shape.begin() + int64_t(outer), x.shape.end()))));
    const auto mean = [&](const Item &y) {
      const Item sum = reduce("sum", y, inner, y.dtype);
      return binary("mul", sum, splat(sum, count));
    };
    const Item centred = binary("sub", x, whole(mean(x))), variance = mean(binary("mul", centred, centred));
    binary("mul", centred, whole(unary("rsqrt", binary("add", variance, splat(variance, "0.01")))));
  }
  void reshape(const Item &x) {
    const int64_t size = sizeOf(x.shape), a = extent(), c = extent();
    moved("reshape", x, "",
          size % (a * c) == 0 ? Shape{a, size / a / c, c}
          : size % a == 0     ? Shape{size / a, a}
                              : Shape{size});
  }
  void slice(const Item &x) {
    Shape to;
    std::vector<int64_t> start;
    for (int64_t whole : x.shape) {
      to.push_back(1 + below(int(whole)));
      start.push_back(below(int(whole - to.back() + 1)));
    }
    moved("slice", x, fmt::format("{{start = {}}}", array(start)), to);
  }
  void concat(const Item &x) {
    const int axis = below(int(x.shape.size()));
    const Item y = like(x);
    Shape to = x.shape;
    to[size_t(axis)] *= 2;
    if (sizeOf(to) <= mostElements)
      add(x.dtype, to,
          fmt::format("concat {}, {} {{axis = {} : i64}} : {}, {} to {}", x.name, y.name, axis, x.type(), x.type(),
                      Item{"", x.dtype, to}.type()));
  }
  Item indices() {
    if (const auto known = pick([](const Item &y) { return y.dtype == "i32" && y.shape.size() <= 2; });
        known && below(3))
      return *known;
    const Item numbers = argument("f32", Shape(size_t(1 + below(2)), extent(10)));
    return cast(binary("mul", numbers, splat(numbers, "9.0")), "i32");
  }
  void lookup(const Item &x) {
    const Item at = indices();
    const auto axis = below(int(x.shape.size()));
    Shape to(x.shape.begin(), x.shape.begin() + axis);
    to.insert(to.end(), at.shape.begin(), at.shape.end());
    to.insert(to.end(), x.shape.begin() + axis + 1, x.shape.end());
    if (sizeOf(to) <= mostElements && to.size() <= 5)
      add(x.dtype, to,
          fmt::format("gather {}, {} {{axis = {} : i64}} : ({}, {}) -> {}", x.name, at.name, axis, x.type(), at.type(),
                      Item{"", x.dtype, to}.type()));
  }
  void scatter(const std::string &dtype) {
    const Item at = indices();
    Shape updates(size_t(below(2)), extent(6)), to = updates;
    const size_t axis = updates.size();
    updates.insert(updates.end(), at.shape.begin(), at.shape.end());
    to.push_back(extent());
    if (below(3)) {
      to.push_back(extent(10));
      updates.push_back(to.back());
    }
    if (sizeOf(updates) > mostElements)
      return;
    const auto known = pick([&](const Item &y) { return y.dtype == dtype && y.shape == updates; });
    const Item x = known ? *known : argument(dtype, updates);
    const std::string result = below(2) ? dtype : x.wide();
    add(result, to,
        fmt::format("scatter_add {}, {} {{axis = {} : i64}} : ({}, {}) -> {}", at.name, x.name, axis, at.type(),
                    x.type(), Item{"", result, to}.type()));
  }
  void integerProduct() {
    const int64_t m = extent(), k = extent(), n = extent();
    if (std::max({m * k, k * n, m * n}) > mostElements)
      return;
    const int64_t left = below(2), right = below(2);
    const auto bytes = [&](const Shape &shape) {
      const Item x = argument("f32", shape);
      return cast(binary("mul", x, splat(x, below(2) ? "40.0" : "127.0")), "i8");
    };
    const Item x = bytes(left ? Shape{m, k} : Shape{k, m}), y = bytes(right ? Shape{n, k} : Shape{k, n}),
               z{"", "i32", {m, n}};
    const Item sums =
        cast(add("i32", {m, n},
                 fmt::format("contract {}, {} {{lhs_contract = {}, rhs_contract = {}}} : ({}, {}) -> {}", x.name,
                             y.name, array({left}), array({right}), x.type(), y.type(), z.type())),
             "f32");
    binary("mul", sums, splat(sums, "0.001"));
  }
  void dropout(const Item &x) {
    const Item key = argument("ui32", {2});
    pool.pop_back();
    const Item bits =
        add("ui32", x.shape,
            fmt::format("random_bits {} : {} -> {}", key.name, key.type(), Item{"", "ui32", x.shape}.type()));
    pool.pop_back();
    const Item uniform = cast(bits, "f32");
    binary("mul", x, cast(binary("mul", uniform, splat(uniform, "2.3283064e-10")), x.dtype));
  }

  void step() {
    const auto found = pick([](const Item &x) { return x.isFloat(); });
    const Item x = found ? *found : argument(one(floats), anyShape());
    const int rank = int(x.shape.size());
    static const std::vector<std::string> arithmetic = {"add", "sub", "mul", "maximum", "minimum", "div"};
    static const std::vector<std::string> kinds = {"sum", "sum", "max", "min"},
                                          predicates = {"lt", "le", "gt", "ge", "eq", "ne"};
    switch (const int kind = below(20); rank == 0 && kind > 6 ? 0 : kind) {
    case 0:
    case 1:
      return unaryStep(x);
    case 2:
    case 3:
      return void(binary(one(arithmetic), x, like(x)));
    case 4:
      return void(cast(x, one(floats)));
    case 5: {
      std::vector<int64_t> axes = upTo(size_t(rank) + 1);
      const int at = below(rank + 1);
      Shape to = x.shape;
      to.insert(to.begin() + at, extent());
      axes.erase(axes.begin() + at);
      if (rank < 4 && sizeOf(to) <= mostElements)
        broadcast(x, axes, to);
      return;
    }
    case 6: {
      const Item y = like(x),
                 mask = add("i1", x.shape,
                            fmt::format("compare {} {}, {} : {}", one(predicates), x.name, y.name, x.type()));
      add(x.dtype, x.shape, fmt::format("select {}, {}, {} : {}", mask.name, x.name, y.name, x.type()));
      return;
    }
    case 7:
    case 8: {
      std::vector<int64_t> axes;
      for (int axis = 0; axis < rank; ++axis)
        if (below(2))
          axes.push_back(axis);
      return void(reduce(one(kinds), x, axes.empty() ? upTo(1) : axes, below(2) ? x.dtype : x.wide()));
    }
    case 9:
    case 10:
    case 11:
      return contract(x);
    case 12: {
      std::vector<int64_t> axes = upTo(size_t(rank));
      std::shuffle(axes.begin(), axes.end(), random);
      Shape to;
      for (int64_t axis : axes)
        to.push_back(x.shape[size_t(axis)]);
      return void(moved("transpose", x, fmt::format("{{permutation = {}}}", array(axes)), to));
    }
    case 13:
      return reshape(x);
    case 14:
      return normalize(x);
    case 15:
      return below(2) ? slice(x) : concat(x);
    case 16:
      return below(2) ? lookup(x) : scatter(x.dtype);
    case 17: {
      Shape to = x.shape;
      const int axis = below(rank);
      to.erase(to.begin() + axis);
      add("i32", to,
          fmt::format("arg_reduce {} {} {{axis = {} : i64}} : {} -> {}", below(2) ? "max" : "min", x.name, axis,
                      x.type(), Item{"", "i32", to}.type()));
      return;
    }
    case 18:
      return below(2) ? integerProduct() : dropout(x);
    default:
      return void(binary("add", x, broadcast(argument(x.dtype, {x.shape.back()}), {rank - 1}, x.shape)));
    }
  }

  std::mt19937 random;
  std::vector<std::string> floats, lines;
  std::vector<Item> arguments, variables, pool;
};

} // namespace

std::string halftone::test::randomOps(uint32_t seed, int ops) { return Program(seed).text(ops); }
