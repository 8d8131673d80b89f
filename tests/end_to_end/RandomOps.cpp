// Random programs over the dialect's ops: steps on floats.
// SPDX-License-Identifier: Apache-2.0
#include "RandomOps.h"
#include "RandomProgram.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::test {

void RandomProgram::unaryStep(RandomItem x) {
  static const std::vector<std::string> ops = {"abs",   "neg",  "sign",  "sqrt",  "tanh",       "logistic", "erf",
                                               "sin",   "cos",  "floor", "ceil",  "round_even", "exp",      "exp2",
                                               "expm1", "log",  "log1p", "rsqrt", "relu",       "sinh",     "cosh",
                                               "asin",  "atan", "log2",  "asinh", "cbrt"};
  const std::string op = one(ops);
  if (op.starts_with("exp") || op == "sinh" || op == "cosh" || op == "asin")
    x = unary("tanh", x);
  if ((op.starts_with("log") && op != "logistic") || op.ends_with("sqrt"))
    x = binary("add", unary("abs", x), splat(x, "0.5"));
  unary(op, x);
}

void RandomProgram::contract(RandomItem x) {
  x = unary("tanh", x);
  std::vector<int64_t> axes = upTo(x.shape.size());
  std::shuffle(axes.begin(), axes.end(), random);
  const size_t batch = std::min(size_t(one(std::vector<int>{0, 0, 0, 1, 2})), axes.size() - 1);
  const size_t contracted = std::min(size_t(1 + (below(4) == 0)), axes.size() - batch);
  // The axes of the other operand, in any order: the axes shared with x, and its own.
  std::vector<int64_t> order(axes.begin(), axes.begin() + int64_t(batch + contracted));
  const int own = one(std::vector<int>{0, 1, 1, 1, 2});
  order.resize(order.size() + size_t(own), -1);
  std::shuffle(order.begin(), order.end(), random);
  RandomShape shape, free;
  for (int64_t axis : order) {
    shape.push_back(axis < 0 ? extent() : x.shape[size_t(axis)]);
    if (axis < 0)
      free.push_back(shape.back());
  }
  RandomShape to;
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
  if (sizeOf(shape) > maxElements || sizeOf(to) > maxElements || sizeOf(to) * depth > 2'000'000)
    return;
  const std::string dtype = below(5) < 3 ? x.dtype : x.wide();
  const RandomItem y = degenerate && shape == x.shape ? x : factor(x.dtype, shape);
  add(dtype, to,
      fmt::format(
          "contract {}, {} {{lhs_batch = {}, rhs_batch = {}, lhs_contract = {}, rhs_contract = {}}} : ({}, {}) -> {}",
          x.name, y.name, array(lhs[0]), array(rhs[0]), array(lhs[1]), array(rhs[1]), x.type(), y.type(),
          RandomItem{"", dtype, to}.type()));
}

RandomItem RandomProgram::factor(const std::string &dtype, const RandomShape &shape) {
  const auto known = pick([&](const RandomItem &y) { return y.dtype == dtype && y.shape == shape; });
  if (known && below(3))
    return *known;
  if (below(3) || stateless)
    return argument(dtype, shape);
  variables.push_back({fmt::format("%v{}", variables.size()), "f32", shape});
  pool.push_back(variables.back());
  return dtype == "f32" ? variables.back() : cast(variables.back(), dtype);
}

void RandomProgram::normalize(const RandomItem &x) {
  const size_t outer = size_t(below(int(x.shape.size())));
  const std::vector<int64_t> inner = upTo(x.shape.size(), outer);
  const auto whole = [&](const RandomItem &number) { return broadcast(number, upTo(outer), x.shape); };
  if (below(2)) {
    const RandomItem e = unary("exp", binary("sub", x, whole(reduce("max", x, inner, x.dtype))));
    binary("div", e, whole(reduce("sum", e, inner, x.dtype)));
    return;
  }
  const std::string count = fmt::format(
      "{:.9f}",
      1.0 / double(std::max<int64_t>(1, sizeOf(RandomShape(x.shape.begin() + int64_t(outer), x.shape.end())))));
  const auto mean = [&](const RandomItem &y) {
    const RandomItem sum = reduce("sum", y, inner, y.dtype);
    return binary("mul", sum, splat(sum, count));
  };
  const RandomItem centred = binary("sub", x, whole(mean(x))), variance = mean(binary("mul", centred, centred));
  binary("mul", centred, whole(unary("rsqrt", binary("add", variance, splat(variance, "0.01")))));
}

void RandomProgram::reshape(const RandomItem &x) {
  const int64_t size = sizeOf(x.shape), a = extent(), c = extent();
  if (degenerate)
    return refold(x);
  moved("reshape", x, "",
        size % (a * c) == 0 ? RandomShape{a, size / a / c, c}
        : size % a == 0     ? RandomShape{size / a, a}
                            : RandomShape{size});
}

void RandomProgram::slice(const RandomItem &x) {
  RandomShape to;
  std::vector<int64_t> start;
  for (int64_t whole : x.shape) {
    to.push_back(degenerate ? below(int(whole) + 1) : 1 + below(int(whole)));
    start.push_back(below(int(whole - to.back() + 1)));
  }
  moved("slice", x, fmt::format("{{start = {}}}", array(start)), to);
}

void RandomProgram::concat(const RandomItem &x) {
  const int axis = below(int(x.shape.size()));
  const RandomItem y = like(x);
  RandomShape to = x.shape;
  to[size_t(axis)] *= 2;
  if (sizeOf(to) <= maxElements)
    add(x.dtype, to,
        fmt::format("concat {}, {} {{axis = {} : i64}} : {}, {} to {}", x.name, y.name, axis, x.type(), x.type(),
                    RandomItem{"", x.dtype, to}.type()));
}

void RandomProgram::cumsum(const RandomItem &x) {
  const std::string dtype = x.isFloat() && below(2) ? x.wide() : x.dtype, direction = below(2) ? ", reverse" : "";
  const std::string kind = below(2) ? "sum" : one(std::vector<std::string>{"prod", "max", "min"});
  add(dtype, x.shape,
      fmt::format("cumsum {} {{axis = {} : i64, kind = #halftone<reduce_kind {}>{}}} : {} -> {}", x.name,
                  below(int(x.shape.size())), kind, direction, x.type(), RandomItem{"", dtype, x.shape}.type()));
}

void RandomProgram::sort(const RandomItem &x) {
  const int axis = below(int(x.shape.size()));
  RandomShape to = x.shape;
  int64_t &extent = to[size_t(axis)];
  extent = below(2) ? extent : std::min<int64_t>(extent, below(9));
  const RandomItem values{fmt::format("%n{}", lines.size()), x.dtype, to}, indices{values.name + "_indices", "i32", to};
  lines.push_back(fmt::format("  {}, {} = halftone.sort {} {{axis = {} : i64{}}} : {} -> {}, {}\n", values.name,
                              indices.name, x.name, axis, below(2) ? ", descending" : "", x.type(), values.type(),
                              indices.type()));
  pool.insert(pool.end(), {indices, values});
}

RandomItem RandomProgram::indices() {
  if (const auto known = pick([](const RandomItem &y) { return y.dtype == "i32" && y.shape.size() <= 2; });
      known && below(3))
    return *known;
  const RandomItem numbers = argument("f32", RandomShape(size_t(1 + below(2)), extent(10)));
  return cast(binary("mul", numbers, splat(numbers, "9.0")), "i32");
}

/// Gathers from the last axis, or scatters into it, with separate indices for each index of the axes before it.
void RandomProgram::lookupInBatches(const RandomItem &x) {
  const auto batch = int(x.shape.size()) - 1;
  RandomShape to(x.shape.begin(), x.shape.begin() + batch);
  to.push_back(extent(10));
  if (sizeOf(to) > maxElements || (x.shape.back() == 0 && sizeOf(to) != 0))
    return;
  const RandomItem numbers = argument("f32", to), at = cast(binary("mul", numbers, splat(numbers, "9.0")), "i32");
  const std::string attributes = fmt::format("{{axis = {0} : i64, batch = {0} : i64}}", batch);
  const RandomItem y = add(x.dtype, to,
                           fmt::format("gather {}, {} {} : ({}, {}) -> {}", x.name, at.name, attributes, x.type(),
                                       at.type(), RandomItem{"", x.dtype, to}.type()));
  add(x.dtype, x.shape,
      fmt::format("scatter_add {}, {} {} : ({}, {}) -> {}", at.name, y.name, attributes, at.type(), y.type(),
                  x.type()));
}

void RandomProgram::lookup(const RandomItem &x) {
  if (below(3) == 0)
    return lookupInBatches(x);
  const RandomItem at = indices();
  const auto axis = below(int(x.shape.size()));
  RandomShape to(x.shape.begin(), x.shape.begin() + axis);
  to.insert(to.end(), at.shape.begin(), at.shape.end());
  to.insert(to.end(), x.shape.begin() + axis + 1, x.shape.end());
  if (x.shape[size_t(axis)] == 0 && sizeOf(to) != 0)
    return;
  if (sizeOf(to) <= maxElements && to.size() <= 5)
    add(x.dtype, to,
        fmt::format("gather {}, {} {{axis = {} : i64}} : ({}, {}) -> {}", x.name, at.name, axis, x.type(), at.type(),
                    RandomItem{"", x.dtype, to}.type()));
}

void RandomProgram::scatter(const std::string &dtype) {
  const RandomItem at = indices();
  RandomShape updates(size_t(below(2)), extent(6)), to = updates;
  const size_t axis = updates.size();
  updates.insert(updates.end(), at.shape.begin(), at.shape.end());
  to.push_back(extent());
  if (below(3)) {
    to.push_back(extent(10));
    updates.push_back(to.back());
  }
  if (sizeOf(updates) > maxElements || (to[axis] == 0 && sizeOf(updates) != 0))
    return;
  const auto known = pick([&](const RandomItem &y) { return y.dtype == dtype && y.shape == updates; });
  const RandomItem x = known ? *known : argument(dtype, updates);
  if (below(3) == 0) {
    const RandomItem y = argument(dtype, to);
    const std::string kind = one(std::vector<std::string>{"set", "sum", "max", "min", "prod"});
    return void(add(dtype, to,
                    fmt::format("scatter {} {}, {}, {} {{axis = {} : i64}} : ({}, {}, {}) -> {}", kind, y.name, at.name,
                                x.name, axis, y.type(), at.type(), x.type(), y.type())));
  }
  const std::string result = below(2) ? dtype : x.wide();
  add(result, to,
      fmt::format("scatter_add {}, {} {{axis = {} : i64}} : ({}, {}) -> {}", at.name, x.name, axis, at.type(), x.type(),
                  RandomItem{"", result, to}.type()));
}

void RandomProgram::integerProduct() {
  const int64_t m = extent(), k = extent(), n = extent();
  if (std::max({m * k, k * n, m * n}) > maxElements)
    return;
  const int64_t left = below(2), right = below(2);
  const auto bytes = [&](const RandomShape &shape) {
    const RandomItem x = argument("f32", shape);
    return cast(binary("mul", x, splat(x, below(2) ? "40.0" : "127.0")), "i8");
  };
  const RandomItem x = bytes(left ? RandomShape{m, k} : RandomShape{k, m}),
                   y = bytes(right ? RandomShape{n, k} : RandomShape{k, n}), z{"", "i32", {m, n}};
  const RandomItem sums =
      cast(add("i32", {m, n},
               fmt::format("contract {}, {} {{lhs_contract = {}, rhs_contract = {}}} : ({}, {}) -> {}", x.name, y.name,
                           array({left}), array({right}), x.type(), y.type(), z.type())),
           "f32");
  binary("mul", sums, splat(sums, "0.001"));
}

void RandomProgram::dropout(const RandomItem &x) {
  const RandomItem key = argument("ui32", {2});
  pool.pop_back();
  const RandomItem bits =
      add("ui32", x.shape,
          fmt::format("random_bits {} : {} -> {}", key.name, key.type(), RandomItem{"", "ui32", x.shape}.type()));
  pool.pop_back();
  const RandomItem uniform = cast(bits, "f32");
  binary("mul", x, cast(binary("mul", uniform, splat(uniform, "2.3283064e-10")), x.dtype));
}

void RandomProgram::step() {
  const auto found = pick([](const RandomItem &x) { return x.isFloat(); });
  const RandomItem x = found ? *found : argument(one(floats), anyShape());
  constexpr int deepest = 2;
  if (loops && depth < deepest && below(5) == 0)
    return scan(x);
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
    RandomShape to = x.shape;
    to.insert(to.begin() + at, extent());
    axes.erase(axes.begin() + at);
    if (rank < 4 && sizeOf(to) <= maxElements)
      broadcast(x, axes, to);
    return;
  }
  case 6: {
    const RandomItem y = like(x),
                     mask = add("i1", x.shape,
                                fmt::format("compare {} {}, {} : {}", one(predicates), x.name, y.name, x.type()));
    add(x.dtype, x.shape, fmt::format("select {}, {}, {} : {}", mask.name, x.name, y.name, x.type()));
    return;
  }
  case 7:
  case 8: {
    if (below(4) == 0)
      return below(2) ? cumsum(x) : sort(x);
    std::vector<int64_t> axes;
    for (int axis = 0; axis < rank; ++axis)
      if (below(2))
        axes.push_back(axis);
    return void(reduce(one(kinds), x, axes.empty() ? upTo(1) : axes, below(2) ? x.dtype : x.wide()));
  }
  case 9:
  case 10:
  case 11:
    return below(5) ? contract(x) : attention(x);
  case 12: {
    std::vector<int64_t> axes = upTo(size_t(rank));
    std::shuffle(axes.begin(), axes.end(), random);
    RandomShape to;
    for (int64_t axis : axes)
      to.push_back(x.shape[size_t(axis)]);
    return void(moved("transpose", x, fmt::format("{{permutation = {}}}", array(axes)), to));
  }
  case 13:
    return below(3) == 0 ? window(x) : below(2) ? convolution(x) : reshape(x);
  case 14:
    return normalize(x);
  case 15:
    return below(2) ? slice(x) : concat(x);
  case 16:
    return below(2) ? lookup(x) : scatter(x.dtype);
  case 17: {
    RandomShape to = x.shape;
    const int axis = below(rank);
    if (to[size_t(axis)] == 0)
      return;
    to.erase(to.begin() + axis);
    add("i32", to,
        fmt::format("arg_reduce {} {} {{axis = {} : i64}} : {} -> {}", below(2) ? "max" : "min", x.name, axis, x.type(),
                    RandomItem{"", "i32", to}.type()));
    return;
  }
  case 18:
    return below(2) ? integerProduct() : dropout(x);
  default:
    return void(binary("add", x, broadcast(argument(x.dtype, {x.shape.back()}), {rank - 1}, x.shape)));
  }
}

std::string randomOps(uint32_t seed, int ops, bool degenerate, bool loops) {
  return RandomProgram(seed, degenerate, loops).text(ops);
}

} // namespace halftone::test
