// Cases with extents of 0 and 1 on every axis, and with the same value as several operands.
// SPDX-License-Identifier: Apache-2.0
#include "OpTable.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace halftone::test {
namespace {

using List = std::vector<std::string>;

std::string tensor(const std::string &type) { return "tensor<" + type + ">"; }

/// All shapes of up to three axes over these extents: "", "0x", "1x", "5x", "0x0x", ...
List shapes(const List &extents) {
  List all{""};
  for (size_t begin = 0, axes = 0; axes < 3; ++axes)
    for (size_t end = all.size(); begin < end; ++begin)
      for (const std::string &extent : extents)
        all.push_back(all[begin] + extent + "x");
  return all;
}

struct Maker {
  std::vector<OpCase> cases;
  void add(const std::string &op, std::vector<OpOperand> operands, const std::string &text, const std::string &result) {
    const std::string label = fmt::format("{}_{}", op, cases.size());
    cases.push_back({op, label, std::move(operands), "halftone." + op + " " + text, result});
  }
  /// An op that moves elements of one operand.
  void move(const std::string &op, const std::string &from, const std::string &attributes, const std::string &to) {
    add(op, {{from}}, fmt::format("$0 {}: {} to {}", attributes, tensor(from), tensor(to)), to);
  }
};

std::vector<int64_t> extentsOf(const std::string &shape) {
  std::vector<int64_t> extents;
  for (size_t at = 0; at < shape.size(); at = shape.find('x', at) + 1)
    extents.push_back(std::stoll(shape.substr(at)));
  return extents;
}

std::string shapeOf(const std::vector<int64_t> &extents) {
  std::string shape;
  for (int64_t extent : extents)
    shape += fmt::format("{}x", extent);
  return shape;
}

void moves(Maker &maker, const std::string &dtype) {
  for (const std::string &shape : shapes({"0", "1", "5"})) {
    const std::vector<int64_t> extents = extentsOf(shape);
    const size_t rank = extents.size();
    maker.move("reshape", shape + dtype, "", "1x" + shape + dtype);
    if (rank == 2)
      maker.move("transpose", shape + dtype, "{permutation = array<i64: 1, 0>} ",
                 shapeOf({extents[1], extents[0]}) + dtype);
    if (rank == 3) {
      maker.move("transpose", shape + dtype, "{permutation = array<i64: 2, 0, 1>} ",
                 shapeOf({extents[2], extents[0], extents[1]}) + dtype);
      maker.move("transpose", shape + dtype, "{permutation = array<i64: 0, 2, 1>} ",
                 shapeOf({extents[0], extents[2], extents[1]}) + dtype);
      continue;
    }
    for (const char *extent : {"0x", "1x", "3x"}) {
      const char *front[] = {"", ": 1", ": 1, 2"}, *back[] = {"", ": 0", ": 0, 1"};
      maker.move("broadcast", shape + dtype, fmt::format("{{axes = array<i64{}>}} ", front[rank]),
                 extent + shape + dtype);
      maker.move("broadcast", shape + dtype, fmt::format("{{axes = array<i64{}>}} ", back[rank]),
                 shape + extent + dtype);
    }
  }
  maker.move("slice", "2x3x" + dtype, "{start = array<i64: 1, 1>} ", "1x1x" + dtype);
  maker.move("slice", "2x3x" + dtype, "{start = array<i64: 2, 1>} ", "0x1x" + dtype);
  maker.move("slice", "1x1x" + dtype, "{start = array<i64: 0, 0>} ", "1x1x" + dtype);
  maker.move("slice", "0x3x" + dtype, "{start = array<i64: 0, 3>} ", "0x0x" + dtype);
  for (const char *shape : {"0x5x", "1x5x", "5x0x", "5x1x", "1x1x", "5x3x"})
    for (size_t axis : {0, 1}) {
      const std::string x = shape + dtype;
      std::vector<int64_t> to = extentsOf(shape);
      to[axis] *= 3;
      maker.add("concat", {{x}, {x}, {x}},
                fmt::format("$0, $1, $2 {{axis = {} : i64}} : {}, {}, {} to {}", axis, tensor(x), tensor(x), tensor(x),
                            tensor(shapeOf(to) + dtype)),
                shapeOf(to) + dtype);
    }
  if (dtype.starts_with("f8"))
    return;
  maker.add("select", {{"1x1xi1"}, {"1x1x" + dtype}, {"1x1x" + dtype}}, "$0, $1, $2 : " + tensor("1x1x" + dtype),
            "1x1x" + dtype);
}

void lookups(Maker &maker, const std::string &dtype) {
  auto gather = [&](const std::string &x, const std::string &at, int axis, const std::string &y) {
    maker.add("gather", {{x + dtype}, {at, Values::index}},
              fmt::format("$0, $1 {{axis = {} : i64}} : ({}, {}) -> {}", axis, tensor(x + dtype), tensor(at),
                          tensor(y + dtype)),
              y + dtype);
  };
  gather("1x", "i32", 0, "");
  gather("1x1x", "1x1xi64", 1, "1x1x1x");
  gather("5x1x", "1xi32", 0, "1x1x");
  gather("1x5x", "0x3xi32", 0, "0x3x5x");
  gather("0x5x", "3xi32", 1, "0x3x");
  gather("5x0x", "1xi32", 0, "1x0x");
  for (const std::string shape : {"1x", "5x1x", "1x0x", "0x1x"})
    maker.add("gather", {{shape + "3x" + dtype}, {shape + "2xi32", Values::index}},
              fmt::format("$0, $1 {{axis = {0} : i64, batch = {0} : i64}} : ({1}, {2}) -> {3}",
                          std::count(shape.begin(), shape.end(), 'x'), tensor(shape + "3x" + dtype),
                          tensor(shape + "2xi32"), tensor(shape + "2x" + dtype)),
              shape + "2x" + dtype);
  if (dtype == "i1" || dtype.starts_with("f8"))
    return;
  auto scatter = [&](const std::string &at, const std::string &updates, int axis, const std::string &y) {
    maker.add("scatter_add", {{at, Values::index}, {updates + dtype, Values::moderate}},
              fmt::format("$0, $1 {{axis = {} : i64}} : ({}, {}) -> {}", axis, tensor(at), tensor(updates + dtype),
                          tensor(y + dtype)),
              y + dtype);
  };
  scatter("i32", "", 0, "1x");
  scatter("1x1xi32", "1x1x1x", 1, "1x1x");
  scatter("3xi64", "3x1x", 0, "1x1x");
  scatter("0xi32", "0x5x", 0, "1x5x");
  scatter("3xi32", "3x0x", 0, "5x0x");
  scatter("3xi32", "0x3x", 1, "0x5x");
  for (const std::string shape : {"1x", "5x1x", "1x0x", "0x1x"})
    maker.add("scatter_add", {{shape + "2xi32", Values::index}, {shape + "2x" + dtype, Values::moderate}},
              fmt::format("$0, $1 {{axis = {0} : i64, batch = {0} : i64}} : ({1}, {2}) -> {3}",
                          std::count(shape.begin(), shape.end(), 'x'), tensor(shape + "2xi32"),
                          tensor(shape + "2x" + dtype), tensor(shape + "3x" + dtype)),
              shape + "3x" + dtype);
  struct Form {
    const char *x, *at, *updates;
  };
  for (const Form &form : {Form{"1x", "1x", "1x"},
                           {"3x0x", "2x", "2x0x"},
                           {"3x2x", "0x", "0x2x"},
                           {"1x1x", "2x", "2x1x"},
                           {"0x2x", "2x", "2x2x"}})
    for (const char *kind : {"set", "sum", "max"})
      maker.add("scatter",
                {{form.x + dtype, Values::moderate},
                 {form.at + std::string("i32"), Values::index},
                 {form.updates + dtype, Values::moderate}},
                fmt::format("{} $0, $1, $2 {{axis = 0 : i64}} : ({}, {}, {}) -> {}", kind, tensor(form.x + dtype),
                            tensor(form.at + std::string("i32")), tensor(form.updates + dtype), tensor(form.x + dtype)),
                form.x + dtype);
}

void reductions(Maker &maker, const std::string &dtype) {
  const List kinds = dtype == "i1"     ? List{"and", "or"}
                     : dtype[0] == 'i' ? List{"sum", "prod", "max", "min", "and", "or"}
                                       : List{"sum", "prod", "max", "min"};
  struct Form {
    const char *from, *axes, *to;
  };
  const std::vector<Form> forms = {{"1x1x", ": 0", "1x"},     {"1x1x", ": 0, 1", ""},     {"1x5x", ": 0", "5x"},
                                   {"1x5x", ": 1", "1x"},     {"5x1x", ": 0", "1x"},      {"5x1x", ": 1", "5x"},
                                   {"0x5x", ": 0", "5x"},     {"0x5x", ": 1", "0x"},      {"5x0x", ": 0", "0x"},
                                   {"0x0x", ": 1", "0x"},     {"0x0x", ": 0, 1", ""},     {"0x", ": 0", ""},
                                   {"1x5x1x", ": 1", "1x1x"}, {"5x1x3x", ": 0, 1", "3x"}, {"3x0x1x", ": 1", "3x1x"},
                                   {"3x1x0x", ": 2", "3x1x"}, {"2x3x", "", "2x3x"},       {"", "", ""}};
  for (const std::string &kind : kinds)
    for (const Form &form : forms)
      maker.add("reduce", {{form.from + dtype, Values::moderate}},
                fmt::format("{} $0 {{axes = array<i64{}>}} : {} -> {}", kind, form.axes, tensor(form.from + dtype),
                            tensor(form.to + dtype)),
                form.to + dtype);
  for (const Form &form : {Form{"1x", "0", "1x"}, Form{"1x", "0", "0x"}, Form{"1x5x", "0", "1x5x"},
                           Form{"5x1x", "0", "2x1x"}, Form{"0x5x", "1", "0x3x"}, Form{"5x0x", "1", "5x0x"},
                           Form{"3x1x0x", "0", "2x1x0x"}, Form{"5x1x3x", "1", "5x1x3x"}}) {
    maker.add("sort", {{form.from + dtype}},
              fmt::format("$0 {{axis = {} : i64}} : {} -> {}, {}", form.axes, tensor(form.from + dtype),
                          tensor(form.to + dtype), tensor(form.to + std::string("i32"))),
              form.to + dtype);
    maker.cases.back().results = 2;
  }
  if (dtype == "i1")
    return;
  for (const Form &form :
       {Form{"1x", "0", ""}, Form{"1x5x", "0", "5x"}, Form{"5x1x", "0", "1x"}, Form{"0x5x", "1", "0x"}})
    maker.add("arg_reduce", {{form.from + dtype}},
              fmt::format("max $0 {{axis = {} : i64}} : {} -> {}", form.axes, tensor(form.from + dtype),
                          tensor(form.to + std::string("i32"))),
              form.to + std::string("i32"));
  for (const std::string shape : {"1x", "1x5x", "5x1x", "0x5x", "5x0x", "1x1x1x", "3x1x0x", "5x1x3x"})
    for (const int axis : std::set<int>{0, int(std::count(shape.begin(), shape.end(), 'x')) - 1})
      maker.add("cumsum", {{shape + dtype, Values::moderate}},
                fmt::format("$0 {{axis = {} : i64}} : {} -> {}", axis, tensor(shape + dtype), tensor(shape + dtype)),
                shape + dtype);
  for (const char *kind : {"prod", "max"})
    for (const std::string shape : {"1x", "5x1x", "0x5x", "5x0x"})
      maker.add("cumsum", {{shape + dtype, Values::moderate}},
                fmt::format("$0 {{axis = 0 : i64, kind = #halftone<reduce_kind {}>}} : {} -> {}", kind,
                            tensor(shape + dtype), tensor(shape + dtype)),
                shape + dtype);
  if (dtype[0] == 'i')
    return;
  const std::string wide = dtype == "f64" ? "f64" : "f32", none = "0x5x" + dtype, one = "1x1x" + dtype;
  for (const char *kind : {"all_finite", "sum_of_squares", "max_abs"}) {
    const std::string result = kind == std::string("all_finite") ? "i1" : wide;
    maker.add("reduce_all", {{none}}, fmt::format("{} ($0) : {}", kind, tensor(none)), result);
    maker.add("reduce_all", {{one, Values::moderate}, {none}, {one, Values::moderate}},
              fmt::format("{} ($0, $1, $2) : {}, {}, {}", kind, tensor(one), tensor(none), tensor(one)), result);
    maker.add("reduce_all", {}, fmt::format("{} ()", kind), result == "i1" ? "i1" : "f32");
  }
}

void contractions(Maker &maker, const std::string &dtype) {
  const std::string result = dtype == "i8" ? "i32" : dtype.starts_with("f8") ? "f32" : dtype;
  auto contract = [&](const std::string &x, const std::string &y, const char *lhs, const char *rhs,
                      const std::string &to, int batch = -1) {
    // If the two have the same shape, both are the same value.
    maker.add("contract", {{x + dtype, Values::moderate}, {y + dtype, Values::moderate}},
              fmt::format("$0, $1 {{{}lhs_contract = array<i64{}>, rhs_contract = array<i64{}>}} : ({}, {}) -> {}",
                          batch < 0 ? "" : "lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, ", lhs, rhs,
                          tensor(x + dtype), tensor(y + dtype), tensor(to + result)),
              to + result);
  };
  for (const std::string m : {"0x", "1x", "5x"})
    for (const std::string k : {"0x", "1x", "7x"}) {
      for (const std::string n : {"0x", "1x", "5x"})
        contract(m + k, k + n, ": 1", ": 0", m + n);
      contract(m + k, m + k, ": 1", ": 1", m + m);
      contract(m + k, m + k, ": 0", ": 0", k + k);
      contract(m + k, m + k, ": 0, 1", ": 0, 1", "");
      contract(m + k + "1x", m + k + "1x", ": 1", ": 1", m + "1x1x", 0);
      contract(m + "1x" + k, m + "1x" + k, ": 2", ": 2", m + "1x1x", 0);
    }
  for (const std::string k : {"0x", "1x", "15x"}) {
    contract(k, k, ": 0", ": 0", "");
    contract(k, k, "", "", k + k);
    contract(k, k, "", "", k, 0);
  }
  contract("", "", "", "", "");
}

} // namespace

std::vector<OpCase> degenerateCases(const std::string &dtype) {
  Maker maker;
  moves(maker, dtype);
  lookups(maker, dtype);
  if (!dtype.starts_with("f8"))
    reductions(maker, dtype);
  if (dtype == "i8" || dtype[0] == 'f' || dtype[0] == 'b')
    contractions(maker, dtype);
  return maker.cases;
}

} // namespace halftone::test
