// Random programs over the dialect's ops: steps on any dtype, with the same value as several operands.
// SPDX-License-Identifier: Apache-2.0
#include "RandomProgram.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halftone::test {

using List = std::vector<std::string>;

static const List integers = {"i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"},
                  elements = {"i1",   "i8",  "i32", "i64",  "ui8", "ui16",     "ui32",
                              "ui64", "f16", "f32", "bf16", "f64", "f8E4M3FN", "f8E5M2"};

static std::string typeOf(const std::string &dtype, const RandomShape &shape) {
  return RandomItem{"", dtype, shape}.type();
}

void RandomProgram::convert(const RandomItem &x) {
  const std::string to = below(3) ? one(floats) : one(elements);
  const bool saturates = below(4) == 0 && !x.isInteger() && x.dtype != "i1" && to[0] != 'i' && to[0] != 'u';
  add(to, x.shape,
      fmt::format("cast {} {}: {} to {}", x.name, saturates ? "{saturate = true} " : "", x.type(),
                  typeOf(to, x.shape)));
}

void RandomProgram::arithmetic(const RandomItem &x) {
  if (x.isFloat8())
    return convert(x);
  if (x.dtype == "i1")
    return void(below(3) ? binary(one(List{"and", "or", "xor"}), x, like(x)) : unary("not", x));
  if (x.isInteger())
    return void(below(3) ? binary(one(List{"add", "sub", "mul", "div", "rem", "maximum", "minimum", "and", "or", "xor",
                                           "shl", "shr"}),
                                  x, like(x))
                         : unary(one(List{"abs", "neg", "sign", "not"}), x));
  switch (below(4)) {
  case 0:
    return void(binary("rem", x, like(x)));
  case 1:
    return void(binary("pow", x, like(x)));
  case 2:
    return void(add("i1", x.shape, fmt::format("is_finite {} : {}", x.name, x.type())));
  default:
    return void(unary(stateless && below(2) ? "stop_gradient" : one(List{"abs", "neg", "sign"}), x));
  }
}

void RandomProgram::choice(const RandomItem &x) {
  if (x.isFloat8())
    return convert(x);
  const RandomItem y = like(x);
  const auto known = pick([&](const RandomItem &m) { return m.dtype == "i1" && m.shape == x.shape; });
  const RandomItem mask = known && below(2)
                              ? *known
                              : add("i1", x.shape,
                                    fmt::format("compare {} {}, {} : {}", one(List{"lt", "le", "gt", "ge", "eq", "ne"}),
                                                x.name, y.name, x.type()));
  add(x.dtype, x.shape, fmt::format("select {}, {}, {} : {}", mask.name, x.name, below(2) ? x.name : y.name, x.type()));
}

void RandomProgram::reduction(const RandomItem &x) {
  if (x.isFloat8())
    return convert(x);
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < x.shape.size(); ++axis)
    if (below(2))
      axes.push_back(int64_t(axis));
  if (x.dtype != "i1" && below(4) == 0 && !x.shape.empty()) {
    const int axis = below(int(x.shape.size()));
    RandomShape to = x.shape;
    to.erase(to.begin() + axis);
    if (x.shape[size_t(axis)] != 0)
      add("i32", to,
          fmt::format("arg_reduce {} {} {{axis = {} : i64}} : {} -> {}", below(2) ? "max" : "min", x.name, axis,
                      x.type(), typeOf("i32", to)));
    return;
  }
  if (below(4) == 0 && !x.shape.empty())
    return x.dtype != "i1" && below(2) ? cumsum(x) : sort(x);
  const List kinds = x.dtype == "i1" ? List{"and", "or"}
                     : x.isInteger() ? List{"sum", "prod", "max", "min", "and", "or"}
                                     : List{"sum", "prod", "max", "min"};
  reduce(one(kinds), x, axes, x.isFloat() && below(2) ? x.wide() : x.dtype);
}

void RandomProgram::aboutAll(const RandomItem &x) {
  if (!x.isFloat())
    return reduction(x);
  List names, types;
  bool wide = false;
  for (int i = below(4); i > 0; --i) {
    const RandomItem each = below(3) ? *pick([](const RandomItem &y) { return y.isFloat(); }) : x;
    names.push_back(each.name);
    types.push_back(each.type());
    wide |= each.dtype == "f64";
  }
  const std::string kind = one(List{"all_finite", "sum_of_squares", "max_abs"});
  add(kind == "all_finite" ? "i1"
      : wide               ? "f64"
                           : "f32",
      {},
      fmt::format("reduce_all {} ({}){}{}", kind, fmt::join(names, ", "), names.empty() ? "" : " : ",
                  fmt::join(types, ", ")));
}

void RandomProgram::source() {
  const std::string dtype = below(2) ? one(floats) : one(elements);
  const RandomShape shape = anyShape();
  const std::string type = typeOf(dtype, shape);
  switch (below(3)) {
  case 0: {
    const List values = dtype == "i1"                        ? List{"true", "false"}
                        : dtype[0] == 'f' || dtype[0] == 'b' ? List{"0.0", "-0.0", "1.5", "-2.0"}
                                                             : List{"0", "1", "100"};
    return void(add(dtype, shape, fmt::format("constant dense<{}> : {}", one(values), type)));
  }
  case 1: {
    if (shape.empty() || dtype == "i1" || dtype.starts_with("f8"))
      return;
    return void(add(dtype, shape, fmt::format("iota {{axis = {} : i64}} : {}", below(int(shape.size())), type)));
  }
  default: {
    const RandomItem key = argument("ui32", {2});
    const std::string bits = typeOf("ui32", shape);
    return void(add("ui32", shape, fmt::format("random_bits {} : {} -> {}", key.name, key.type(), bits)));
  }
  }
}

/// Permutes axes, or inserts new axes.
void RandomProgram::axes(const RandomItem &x) {
  const size_t rank = x.shape.size();
  if (below(2)) {
    std::vector<int64_t> order = upTo(rank);
    std::shuffle(order.begin(), order.end(), random);
    RandomShape to;
    for (int64_t axis : order)
      to.push_back(x.shape[size_t(axis)]);
    return void(moved("transpose", x, fmt::format("{{permutation = {}}}", array(order)), to));
  }
  std::vector<int64_t> kept;
  RandomShape to;
  for (size_t axis = 0; axis <= rank; ++axis) {
    if (below(3) == 0 && to.size() - kept.size() < 2)
      to.push_back(extent());
    if (axis < rank) {
      kept.push_back(int64_t(to.size()));
      to.push_back(x.shape[axis]);
    }
  }
  if (sizeOf(to) <= maxElements && to.size() <= 5)
    broadcast(x, kept, to);
}

/// Reshapes: extents are regrouped, with axes of extent 1 anywhere.
void RandomProgram::refold(const RandomItem &x) {
  RandomShape to;
  if (sizeOf(x.shape) == 0) {
    to = anyShape();
    to.insert(to.begin() + below(int(to.size()) + 1), 0);
  } else {
    for (int64_t extent : x.shape)
      if (!to.empty() && below(2))
        to.back() *= extent;
      else
        to.push_back(extent);
  }
  while (to.size() < 5 && below(2))
    to.insert(to.begin() + below(int(to.size()) + 1), 1);
  if (to.size() <= 5)
    moved("reshape", x, "", to);
}

/// Concatenates one to three tensors along an axis; x is among them, possibly several times.
void RandomProgram::join(const RandomItem &x) {
  if (x.shape.empty())
    return refold(x);
  const size_t axis = size_t(below(int(x.shape.size())));
  const auto fits = [&](const RandomItem &y) {
    if (y.dtype != x.dtype || y.shape.size() != x.shape.size())
      return false;
    for (size_t i = 0; i < y.shape.size(); ++i)
      if (i != axis && y.shape[i] != x.shape[i])
        return false;
    return true;
  };
  List names, types;
  RandomShape to = x.shape;
  to[axis] = 0;
  for (int i = below(3); i >= 0; --i) {
    const RandomItem each = below(2) ? *pick(fits) : x;
    names.push_back(each.name);
    types.push_back(each.type());
    to[axis] += each.shape[axis];
  }
  if (sizeOf(to) <= maxElements)
    add(x.dtype, to,
        fmt::format("concat {} {{axis = {} : i64}} : {} to {}", fmt::join(names, ", "), axis, fmt::join(types, ", "),
                    typeOf(x.dtype, to)));
}

/// Contracts x with itself or with a value computed from it, over some or all of its axes.
void RandomProgram::square(const RandomItem &x) {
  if (x.dtype != "i8" && !x.isFloat() && !x.isFloat8())
    return arithmetic(x);
  const size_t rank = x.shape.size();
  RandomItem left = x, right = x;
  if (x.isFloat() && below(2))
    left = unary(one(List{"neg", "tanh"}), x);
  if (below(2))
    right = left;
  std::vector<int64_t> order = upTo(rank), batch, contracted;
  std::shuffle(order.begin(), order.end(), random);
  int64_t depth = 1;
  RandomShape to, free;
  std::vector<bool> taken(rank);
  for (int64_t axis : order) {
    const int role = below(4);
    if (role == 3)
      continue;
    taken[size_t(axis)] = true;
    (role == 0 ? batch : contracted).push_back(axis);
    role == 0 ? to.push_back(x.shape[size_t(axis)]) : void(depth *= x.shape[size_t(axis)]);
  }
  for (size_t axis = 0; axis < rank; ++axis)
    if (!taken[axis])
      free.push_back(x.shape[axis]);
  to.insert(to.end(), free.begin(), free.end());
  to.insert(to.end(), free.begin(), free.end());
  if (sizeOf(to) > maxElements || sizeOf(to) * depth > 2'000'000 || to.size() > 5)
    return;
  const std::string dtype = x.dtype == "i8" ? "i32" : x.isFloat8() || below(2) ? x.wide() : x.dtype;
  add(dtype, to,
      fmt::format(
          "contract {}, {} {{lhs_batch = {}, rhs_batch = {}, lhs_contract = {}, rhs_contract = {}}} : ({}, {}) -> {}",
          left.name, right.name, array(batch), array(batch), array(contracted), array(contracted), left.type(),
          right.type(), typeOf(dtype, to)));
}

/// Uses one value as both indices and table, or as both indices and updates.
void RandomProgram::byItself(const RandomItem &x) {
  const auto found = pick([](const RandomItem &y) { return y.dtype == "i32" || y.dtype == "i64"; });
  if (!found)
    return void(x.dtype == "i1" || x.isFloat8() ? cast(x, "i32") : cast(reduce("max", x, {}, x.dtype), "i32"));
  const RandomItem at = *found;
  if (below(2)) {
    const RandomItem table = below(2) ? at : x;
    if (table.shape.empty())
      return;
    const int axis = below(int(table.shape.size()));
    RandomShape to(table.shape.begin(), table.shape.begin() + axis);
    to.insert(to.end(), at.shape.begin(), at.shape.end());
    to.insert(to.end(), table.shape.begin() + axis + 1, table.shape.end());
    if (sizeOf(to) <= maxElements && to.size() <= 5 && (table.shape[size_t(axis)] != 0 || sizeOf(to) == 0))
      add(table.dtype, to,
          fmt::format("gather {}, {} {{axis = {} : i64}} : ({}, {}) -> {}", table.name, at.name, axis, table.type(),
                      at.type(), typeOf(table.dtype, to)));
    return;
  }
  // The updates have exactly the axes of the indices.
  const auto updates =
      pick([&](const RandomItem &y) { return !y.isFloat8() && y.dtype != "i1" && y.shape == at.shape; });
  const RandomItem added = below(2) ? at : *updates;
  const int64_t rows = std::max<int64_t>(extent(10), sizeOf(at.shape) != 0);
  const std::string dtype = added.isFloat() && below(2) ? added.wide() : added.dtype;
  add(dtype, {rows},
      fmt::format("scatter_add {}, {} {{axis = 0 : i64}} : ({}, {}) -> {}", at.name, added.name, at.type(),
                  added.type(), typeOf(dtype, {rows})));
}

void RandomProgram::branch(const RandomItem &x) {
  if (x.isFloat8() || x.dtype == "i1")
    return convert(x);
  const auto known = pick([](const RandomItem &y) { return y.dtype == "i1" && y.shape.empty(); });
  const RandomItem condition = known ? *known : add("i1", {}, fmt::format("reduce_all all_finite ()"));
  const RandomItem y = like(x), z = like(x);
  const std::string inner = fmt::format("%in{}", lines.size());
  add(x.dtype, x.shape,
      fmt::format("when {} : ({}) {{\n    {} = halftone.{} {} : {}\n    halftone.yield {} : {}\n  }} else {{\n"
                  "    halftone.yield {} : {}\n  }}",
                  condition.name, x.type(), inner, below(2) ? "neg" : "abs", y.name, x.type(), inner, x.type(), z.name,
                  x.type()));
}

void RandomProgram::degenerateStep() {
  const RandomItem x = *pick([](const RandomItem &) { return true; });
  switch (below(14)) {
  case 0:
    return convert(x);
  case 1:
    return arithmetic(x);
  case 2:
    return choice(x);
  case 3:
  case 4:
    return reduction(x);
  case 5:
    return aboutAll(x);
  case 6:
    return source();
  case 7:
  case 8:
    return axes(x);
  case 9:
    return refold(x);
  case 10:
    return join(x);
  case 11:
    return square(x);
  case 12:
    return byItself(x);
  default:
    return branch(x);
  }
}

} // namespace halftone::test
