// The cases of each family of ops.
// SPDX-License-Identifier: Apache-2.0
#include "OpTable.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halftone::test {
namespace {

using List = std::vector<std::string>;

const List floats = {"f16", "bf16", "f32", "f64"}, narrow = {"f8E4M3FN", "f8E5M2"};
const List signedIntegers = {"i8", "i16", "i32", "i64"}, unsignedIntegers = {"ui8", "ui16", "ui32", "ui64"};
const List booleans = {"i1"};

template <class... Lists> List join(const Lists &...lists) {
  List all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

const List integers = join(signedIntegers, unsignedIntegers), numbers = join(integers, floats),
           elements = join(booleans, numbers, narrow);

std::string tensor(const std::string &type) { return "tensor<" + type + ">"; }

OpCase make(const std::string &op, const std::string &label, std::vector<OpOperand> operands, const std::string &text,
            const std::string &result) {
  return {op, op + "_" + label, std::move(operands), "halftone." + op + " " + text, result};
}

/// Operands of the same type. The second and third have other values at the same indices.
std::vector<OpOperand> same(const std::string &type, int count, Values values = Values::special) {
  std::vector<OpOperand> operands;
  for (int i = 0; i < count; ++i)
    operands.push_back({type, values, i});
  return operands;
}

bool isFloatName(const std::string &dtype) { return dtype[0] == 'f' || dtype[0] == 'b'; }

} // namespace

std::vector<OpCase> elementwiseCases(const std::string &shape) {
  std::vector<OpCase> cases;
  auto unary = [&](const List &ops, const List &dtypes) {
    for (const std::string &op : ops)
      for (const std::string &dtype : dtypes)
        cases.push_back(make(op, dtype, same(shape + dtype, 1), "$0 : " + tensor(shape + dtype), shape + dtype));
  };
  auto binary = [&](const List &ops, const List &dtypes) {
    for (const std::string &op : ops)
      for (const std::string &dtype : dtypes)
        cases.push_back(make(op, dtype, same(shape + dtype, 2), "$0, $1 : " + tensor(shape + dtype), shape + dtype));
  };
  unary({"abs", "neg", "sign", "relu"}, numbers);
  unary({"exp",  "exp2",  "expm1", "log",      "log2", "log10", "log1p", "sqrt",
         "cbrt", "rsqrt", "tanh",  "sinh",     "cosh", "asinh", "acosh", "atanh",
         "asin", "acos",  "atan",  "logistic", "erf",  "floor", "ceil",  "round_even"},
        floats);
  unary({"sin", "cos", "tan"}, {"f16", "bf16", "f32"});
  for (const std::string &op : {"sin", "cos", "tan"}) // float64 angles below 2^20 only
    cases.push_back(
        make(op, "f64", same(shape + "f64", 1, Values::moderate), "$0 : " + tensor(shape + "f64"), shape + "f64"));
  unary({"not"}, join(booleans, integers));
  for (const std::string &dtype : floats)
    cases.push_back(make("is_finite", dtype, same(shape + dtype, 1), "$0 : " + tensor(shape + dtype), shape + "i1"));
  binary({"add", "sub", "mul", "div", "rem", "maximum", "minimum"}, numbers);
  binary({"pow"}, numbers);
  binary({"atan2"}, floats);
  binary({"and", "or", "xor"}, join(booleans, integers));
  binary({"shl", "shr"}, integers);
  for (const std::string &predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
    for (const std::string &dtype : join(booleans, numbers))
      cases.push_back(make("compare", predicate + ("_" + dtype), same(shape + dtype, 2),
                           fmt::format("{} $0, $1 : {}", predicate, tensor(shape + dtype)), shape + "i1"));
  for (const std::string &dtype : join(booleans, numbers))
    cases.push_back(make("select", dtype,
                         {{shape + "i1"}, {shape + dtype, Values::special, 1}, {shape + dtype, Values::special, 2}},
                         "$0, $1, $2 : " + tensor(shape + dtype), shape + dtype));
  for (const char *op : {"hold", "stop_gradient"})
    for (const std::string &dtype : elements)
      cases.push_back(make(op, dtype, same(shape + dtype, 1), "$0 : " + tensor(shape + dtype), shape + dtype));
  return cases;
}

std::vector<OpCase> castCases(const std::string &shape) {
  std::vector<OpCase> cases;
  for (const std::string &from : elements)
    for (const std::string &to : elements)
      for (const bool saturate : {false, true})
        if (!saturate || (isFloatName(to) && isFloatName(from)))
          cases.push_back(make("cast", from + "_" + to + (saturate ? "_saturate" : ""), same(shape + from, 1),
                               fmt::format("$0 {}: {} to {}", saturate ? "{saturate = true} " : "",
                                           tensor(shape + from), tensor(shape + to)),
                               shape + to));
  return cases;
}

std::vector<OpCase> sourceCases() {
  std::vector<OpCase> cases;
  for (const std::string &dtype : elements) {
    const char *value = dtype == "i1" ? "true" : isFloatName(dtype) ? "1.5" : "3";
    const char *list = dtype == "i1" ? "[true, false, true]" : isFloatName(dtype) ? "[-0.0, 1.5, -2.0]" : "[0, 1, 100]";
    cases.push_back(make("constant", dtype + "_splat", {}, fmt::format("dense<{}> : tensor<5x3x{}>", value, dtype),
                         "5x3x" + dtype));
    cases.push_back(
        make("constant", dtype + "_list", {}, fmt::format("dense<{}> : tensor<3x{}>", list, dtype), "3x" + dtype));
  }
  for (const std::string &dtype : numbers)
    for (int axis : {0, 1})
      cases.push_back(make("iota", fmt::format("{}_{}", dtype, axis), {},
                           fmt::format("{{axis = {} : i64}} : tensor<5x300x{}>", axis, dtype), "5x300x" + dtype));
  cases.push_back(make("random_bits", "ui32", {{"2xui32"}}, "$0 : tensor<2xui32> -> tensor<7x45xui32>", "7x45xui32"));
  return cases;
}

std::vector<OpCase> shapeCases() {
  std::vector<OpCase> cases;
  for (const std::string &dtype : elements) {
    auto add = [&](const char *op, const char *label, const std::string &from, const char *attributes,
                   const std::string &to) {
      cases.push_back(make(op, dtype + "_" + label, {{from + dtype}},
                           fmt::format("$0 {}: {} to {}", attributes, tensor(from + dtype), tensor(to + dtype)),
                           to + dtype));
    };
    add("reshape", "flat", "3x37x", "", "111x");
    add("transpose", "2d", "3x37x", "{permutation = array<i64: 1, 0>} ", "37x3x");
    add("transpose", "3d", "2x5x7x", "{permutation = array<i64: 2, 0, 1>} ", "7x2x5x");
    add("transpose", "outer", "2x5x7x", "{permutation = array<i64: 1, 0, 2>} ", "5x2x7x");
    add("broadcast", "scalar", "", "{axes = array<i64>} ", "3x37x");
    add("broadcast", "rows", "37x", "{axes = array<i64: 1>} ", "3x37x");
    add("broadcast", "columns", "3x", "{axes = array<i64: 0>} ", "3x37x");
    add("broadcast", "middle", "2x7x", "{axes = array<i64: 0, 2>} ", "2x5x7x");
  }
  return cases;
}

std::vector<OpCase> indexingCases() {
  std::vector<OpCase> cases;
  auto slice = [&](const std::string &dtype, const char *label, const char *from, const char *start, const char *to) {
    cases.push_back(
        make("slice", dtype + "_" + label, {{from + dtype}},
             fmt::format("$0 {{start = array<i64: {}>}} : tensor<{}{}> to tensor<{}{}>", start, from, dtype, to, dtype),
             to + dtype));
  };
  auto concat = [&](const std::string &dtype, const char *label, const List &from, int axis, const char *to) {
    std::vector<OpOperand> operands;
    std::string names, types;
    for (size_t i = 0; i < from.size(); ++i) {
      operands.push_back({from[i] + dtype, Values::special, static_cast<int>(i)});
      names += fmt::format("{}${}", i ? ", " : "", i);
      types += (i ? ", " : "") + tensor(from[i] + dtype);
    }
    cases.push_back(make("concat", dtype + "_" + label, operands,
                         fmt::format("{} {{axis = {} : i64}} : {} to tensor<{}{}>", names, axis, types, to, dtype),
                         to + dtype));
  };
  // `whole` has 5 slices along `axis`. In `parts` the axes of the indices replace this axis.
  auto lookup = [&](const char *op, const std::string &label, const std::string &whole, const std::string &indices,
                    const std::string &parts, int axis, Values values = Values::special, int batch = 0) {
    const bool gathers = std::string(op) == "gather";
    const OpOperand first = gathers ? OpOperand{whole, values} : OpOperand{indices, Values::index};
    const OpOperand second = gathers ? OpOperand{indices, Values::index} : OpOperand{parts, values};
    cases.push_back(make(op, label, {first, second},
                         fmt::format("$0, $1 {{axis = {} : i64, batch = {} : i64}} : ({}, {}) -> {}", axis, batch,
                                     tensor(first.type), tensor(second.type), tensor(gathers ? parts : whole)),
                         gathers ? parts : whole));
  };
  for (const std::string &dtype : elements) {
    slice(dtype, "inner", "3x37x", "0, 5", "3x21x");
    slice(dtype, "outer", "5x37x", "2, 0", "3x37x");
    slice(dtype, "box", "5x3x37x", "1, 1, 3", "3x1x30x");
    slice(dtype, "none", "3x37x", "1, 1", "2x0x");
    concat(dtype, "inner", {"3x37x", "3x5x", "3x21x"}, 1, "3x63x");
    concat(dtype, "outer", {"3x37x", "1x37x"}, 0, "4x37x");
    concat(dtype, "middle", {"2x3x7x", "2x1x7x"}, 1, "2x4x7x");
    concat(dtype, "same", {"3x0x", "3x0x"}, 1, "3x0x");
    lookup("gather", dtype + "_rows", "5x37x" + dtype, "2x3xi32", "2x3x37x" + dtype, 0);
    lookup("gather", dtype + "_columns", "3x5x" + dtype, "37xi64", "3x37x" + dtype, 1);
    lookup("gather", dtype + "_middle", "2x5x7x" + dtype, "3xi32", "2x3x7x" + dtype, 1);
    lookup("gather", dtype + "_scalar", "5x" + dtype, "i32", dtype, 0);
    lookup("gather", dtype + "_none", "5x37x" + dtype, "0xi32", "0x37x" + dtype, 0);
    lookup("gather", dtype + "_batch", "3x5x" + dtype, "3x37xi32", "3x37x" + dtype, 1, Values::special, 1);
    lookup("gather", dtype + "_batches", "2x3x4x5x7x" + dtype, "2x3x1x2xi64", "2x3x4x1x2x7x" + dtype, 3,
           Values::special, 2);
  }
  for (const std::string &dtype : numbers) {
    for (const std::string &result :
         isFloatName(dtype) && dtype != "f32" && dtype != "f64" ? List{dtype, "f32"} : List{dtype}) {
      const std::string label = dtype + "_" + result;
      lookup("scatter_add", label + "_rows", "5x37x" + result, "2x3xi32", "2x3x37x" + dtype, 0, Values::moderate);
      lookup("scatter_add", label + "_special", "5x37x" + result, "2x3xi32", "2x3x37x" + dtype, 0);
      lookup("scatter_add", label + "_columns", "3x5x" + result, "37xi64", "3x37x" + dtype, 1, Values::moderate);
      lookup("scatter_add", label + "_middle", "2x5x7x" + result, "3xi32", "2x3x7x" + dtype, 1, Values::moderate);
      lookup("scatter_add", label + "_scalar", "5x" + result, "i32", dtype, 0);
      if (result == dtype)
        for (const char *kind : {"set", "sum", "max", "min", "prod"}) {
          const bool rounds = kind == std::string("sum") || kind == std::string("prod");
          const OpOperand x{"2x5x7x" + dtype, rounds ? Values::moderate : Values::special};
          const OpOperand updates{"2x3x7x" + dtype, x.values};
          cases.push_back(
              make("scatter", fmt::format("{}_{}", kind, dtype), {x, {"2x3xi32", Values::index}, updates},
                   fmt::format("{} $0, $1, $2 {{axis = 1 : i64, batch = 1 : i64}} : ({}, {}, {}) -> {}", kind,
                               tensor(x.type), tensor("2x3xi32"), tensor(updates.type), tensor(x.type)),
                   x.type));
        }
      lookup("scatter_add", label + "_none", "5x37x" + result, "0xi32", "0x37x" + dtype, 0);
      lookup("scatter_add", label + "_batch", "3x5x" + result, "3x37xi32", "3x37x" + dtype, 1, Values::moderate, 1);
      lookup("scatter_add", label + "_batches", "2x3x4x5x7x" + result, "2x3x1x2xi64", "2x3x4x1x2x7x" + dtype, 3,
             Values::moderate, 2);
    }
  }
  return cases;
}

std::vector<OpCase> reductionCases() {
  std::vector<OpCase> cases;
  struct Form {
    const char *label, *from, *axes, *to;
  };
  const std::vector<Form> forms = {{"inner", "5x37x", "1", "5x"},    {"outer", "5x37x", "0", "37x"},
                                   {"all", "5x37x", "0, 1", ""},     {"middle", "3x5x7x", "1", "3x7x"},
                                   {"ends", "3x5x7x", "0, 2", "5x"}, {"empty", "5x0x", "1", "5x"},
                                   {"long", "2x3001x", "1", "2x"},   {"tall", "3001x2x", "0", "2x"}};
  auto reduce = [&](const std::string &kind, const std::string &dtype, const std::string &result, Values values) {
    for (const Form &form : forms) // all forms for these dtypes, the first three for the others
      if (dtype == "f32" || dtype == "bf16" || dtype == "i32" || &form < &forms[3])
        cases.push_back(make(
            "reduce",
            fmt::format("{}_{}_{}_{}{}", kind, dtype, result, form.label, values == Values::special ? "_special" : ""),
            {{form.from + dtype, values}},
            fmt::format("{} $0 {{axes = array<i64: {}>}} : tensor<{}{}> -> tensor<{}{}>", kind, form.axes, form.from,
                        dtype, form.to, result),
            form.to + result));
  };
  for (const std::string &dtype : numbers) {
    for (const std::string &kind : {"sum", "prod", "max", "min"})
      reduce(kind, dtype, dtype, Values::moderate);
    reduce("max", dtype, dtype, Values::special);
  }
  for (const std::string &dtype : {"f16", "bf16", "f32"})
    reduce("sum", dtype, "f32", Values::special);
  for (const std::string &dtype : join(booleans, integers))
    for (const std::string &kind : {"and", "or"})
      reduce(kind, dtype, dtype, Values::special);
  for (const std::string &dtype : numbers)
    for (const std::string &kind : {"max", "min"})
      for (const Values values : {Values::special, Values::moderate})
        for (const Form &form :
             {Form{"inner", "5x37x", "1", "5x"}, Form{"outer", "5x37x", "0", "37x"}, Form{"vector", "37x", "0", ""}})
          cases.push_back(
              make("arg_reduce",
                   fmt::format("{}_{}_{}{}", kind, dtype, form.label, values == Values::special ? "_special" : ""),
                   {{form.from + dtype, values}},
                   fmt::format("{} $0 {{axis = {} : i64}} : tensor<{}{}> -> tensor<{}i32>", kind, form.axes, form.from,
                               dtype, form.to),
                   form.to + std::string("i32")));
  for (const std::string &kind : {"all_finite", "sum_of_squares", "max_abs"})
    for (const std::string &dtype : floats)
      for (const Values values : {Values::special, Values::moderate}) {
        const std::string a = "3x37x" + dtype, b = "5x" + dtype;
        cases.push_back(
            make("reduce_all", fmt::format("{}_{}{}", kind, dtype, values == Values::special ? "_special" : ""),
                 {{a, values}, {b, values}}, fmt::format("{} ($0, $1) : {}, {}", kind, tensor(a), tensor(b)),
                 std::string(kind) == "all_finite" ? "i1"
                 : dtype == "f64"                  ? "f64"
                                                   : "f32"));
      }
  return cases;
}

std::vector<OpCase> scanCases() {
  std::vector<OpCase> cases;
  const auto cumsum = [&](const std::string &dtype, const std::string &result, Values values) {
    struct Axis {
      const char *label, *shape;
      int axis;
    };
    const bool all = dtype == "f32" || dtype == "bf16" || dtype == "i32"; // only the first two for the others
    for (const Axis &form : {Axis{"inner", "5x37x", 1}, Axis{"outer", "5x37x", 0}, Axis{"middle", "2x5x133x", 1},
                             Axis{"long", "2x3001x", 1}, Axis{"tall", "301x3x", 0}, Axis{"empty", "5x0x", 1}})
      for (const std::string &direction : {"", ", reverse"})
        if (all || std::string(form.label).ends_with("er"))
          cases.push_back(
              make("cumsum",
                   fmt::format("{}_{}_{}{}{}", dtype, result, form.label, direction.empty() ? "" : "_reverse",
                               values == Values::special ? "_special" : ""),
                   {{form.shape + dtype, values}},
                   fmt::format("$0 {{axis = {} : i64{}}} : tensor<{}{}> -> tensor<{}{}>", form.axis, direction,
                               form.shape, dtype, form.shape, result),
                   form.shape + result));
  };
  for (const std::string &dtype : numbers)
    cumsum(dtype, dtype, Values::moderate);
  for (const std::string &dtype : {"f16", "bf16", "f32"})
    cumsum(dtype, "f32", Values::special);
  for (const std::string &dtype : numbers)
    for (const char *kind : {"prod", "max", "min"})
      for (const std::string &direction : {"", ", reverse"})
        cases.push_back(make("cumsum", fmt::format("{}_{}{}", kind, dtype, direction.empty() ? "" : "_reverse"),
                             {{"5x37x" + dtype, kind == std::string("prod") ? Values::moderate : Values::special}},
                             fmt::format("$0 {{axis = 1 : i64, kind = #halftone<reduce_kind {0}>{1}}} : "
                                         "tensor<5x37x{2}> -> tensor<5x37x{2}>",
                                         kind, direction, dtype),
                             "5x37x" + dtype));
  return cases;
}

std::vector<OpCase> sortCases() {
  struct Form {
    const char *label, *from, *to;
    int axis;
  };
  std::vector<OpCase> cases;
  const auto sort = [&](const std::string &dtype, const Form &form, bool descending, Values values) {
    const std::string x = form.from + dtype, sorted = form.to + dtype, indices = form.to + std::string("i32");
    for (const size_t fetched : {0, 1}) {
      OpCase each = make("sort",
                         fmt::format("{}_{}{}_{}{}", dtype, form.label, descending ? "_descending" : "",
                                     fetched ? "indices" : "values", values == Values::special ? "_special" : ""),
                         {{x, values}},
                         fmt::format("$0 {{axis = {} : i64{}}} : {} -> {}, {}", form.axis,
                                     descending ? ", descending" : "", tensor(x), tensor(sorted), tensor(indices)),
                         fetched ? indices : sorted);
      each.results = 2;
      each.fetched = fetched;
      cases.push_back(std::move(each));
    }
  };
  // Rows that are sorted, counted and distributed. Integers from -4 to 4 have many ties.
  for (const std::string &dtype : join(booleans, numbers)) {
    const bool all = dtype == "f32" || dtype == "bf16" || dtype == "i64"; // only the first two for the others
    for (const Form &form : {Form{"inner", "3x133x", "3x133x", 1}, Form{"first", "3x301x", "3x7x", 1},
                             Form{"short", "5x37x", "5x37x", 1}, Form{"outer", "300x3x", "300x3x", 0},
                             Form{"middle", "2x65x3x", "2x9x3x", 1}, Form{"empty", "5x0x", "5x0x", 1}})
      for (const bool descending : {false, true})
        for (const Values values : {Values::moderate, Values::special})
          if (all || std::string(form.to).starts_with("3x"))
            sort(dtype, form, descending, values);
  }
  return cases;
}

std::vector<OpCase> contractionCases() {
  std::vector<OpCase> cases;
  struct Form {
    const char *label, *lhs, *rhs, *attributes, *result;
  };
  const std::vector<Form> forms = {
      {"nn", "13x37x", "37x19x", "lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>", "13x19x"},
      {"nt", "13x37x", "19x37x", "lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>", "13x19x"},
      {"tn", "37x13x", "37x19x", "lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>", "13x19x"},
      {"tt", "37x13x", "19x37x", "lhs_contract = array<i64: 0>, rhs_contract = array<i64: 1>", "13x19x"},
      {"dot", "101x", "101x", "lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>", ""},
      {"vector", "37x", "37x19x", "lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>", "19x"},
      {"outer", "13x", "19x", "lhs_contract = array<i64>, rhs_contract = array<i64>", "13x19x"},
      {"empty", "13x0x", "0x19x", "lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>", "13x19x"},
      {"batch", "2x13x37x", "2x37x19x",
       "lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: "
       "1>",
       "2x13x19x"},
      {"two", "13x3x5x", "3x5x19x", "lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 0, 1>", "13x19x"},
      {"large", "70x130x", "130x65x", "lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>", "70x65x"}};
  auto contract = [&](const std::string &lhs, const std::string &rhs, const std::string &result, Values values) {
    for (const Form &form : forms) // all forms for float32, bfloat16 and int8, the first four for the others
      if (lhs == "f32" || lhs == "bf16" || lhs == "i8" || &form < &forms[4])
        cases.push_back(make(
            "contract",
            fmt::format("{}_{}_{}_{}{}", form.label, lhs, rhs, result, values == Values::special ? "_special" : ""),
            {{form.lhs + lhs, values}, {form.rhs + rhs, values, 1}},
            fmt::format("$0, $1 {{{}}} : (tensor<{}{}>, tensor<{}{}>) -> tensor<{}{}>", form.attributes, form.lhs, lhs,
                        form.rhs, rhs, form.result, result),
            form.result + result));
  };
  for (const std::string &dtype : floats)
    contract(dtype, dtype, dtype, Values::moderate);
  contract("f16", "f16", "f32", Values::moderate);
  contract("bf16", "bf16", "f32", Values::moderate);
  contract("f32", "f32", "f32", Values::special);
  contract("bf16", "bf16", "f32", Values::special);
  for (const std::string &lhs : narrow)
    for (const std::string &rhs : narrow)
      contract(lhs, rhs, "f32", Values::moderate);
  for (const std::string &dtype : {"i8", "i32", "i64"})
    contract(dtype, dtype, dtype == "i8" ? "i32" : dtype, Values::special);
  return cases;
}

std::vector<OpCase> longSumCases(int64_t depth) {
  const std::string k = fmt::format("{}x", depth), part = fmt::format("{}x", depth / 8);
  struct Form {
    const char *label;
    std::string lhs, rhs;
    const char *lhsAxes, *rhsAxes, *batch;
    std::string result;
  };
  const std::vector<Form> forms = {{"tn", k + "3x", k + "5x", "0", "0", "", "3x5x"},
                                   {"nn", "3x" + k, k + "5x", "1", "0", "", "3x5x"},
                                   {"nt", "3x" + k, "5x" + k, "1", "1", "", "3x5x"},
                                   {"tt", k + "3x", "5x" + k, "0", "1", "", "3x5x"},
                                   {"two", "3x8x" + part, "8x" + part + "5x", "1, 2", "0, 1", "", "3x5x"},
                                   {"apart", "3x8x" + part, part + "8x5x", "1, 2", "1, 0", "", "3x5x"},
                                   {"batch", "2x" + k + "3x", "2x" + k + "5x", "1", "1", "0", "2x3x5x"},
                                   {"dot", k, k, "0", "0", "", ""}};
  std::vector<OpCase> cases;
  for (const std::string &dtype : floats)
    for (const Form &form : forms) // all forms for float32 and bfloat16, the first for the others
      if (dtype == "f32" || dtype == "bf16" || &form == &forms[0])
        cases.push_back(
            make("contract", fmt::format("{}_{}_{}", form.label, depth, dtype),
                 {{form.lhs + dtype, Values::moderate}, {form.rhs + dtype, Values::moderate, 1}},
                 fmt::format("$0, $1 {{lhs_batch = array<i64{0}{1}>, rhs_batch = array<i64{0}{1}>, lhs_contract = "
                             "array<i64: {2}>, rhs_contract = array<i64: {3}>}} : (tensor<{4}{7}>, tensor<{5}{7}>) -> "
                             "tensor<{6}{7}>",
                             *form.batch ? ": " : "", form.batch, form.lhsAxes, form.rhsAxes, form.lhs, form.rhs,
                             form.result, dtype),
                 form.result + dtype));
  return cases;
}

} // namespace halftone::test
