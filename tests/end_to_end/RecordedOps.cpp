// Operations, activations and losses at kinks, ties and of mixed dtypes, as real Keras computed them: ops.jsonl.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

using namespace halftone;
using namespace halftone::test;
using Json = nlohmann::json;

namespace {

double numberOf(const Json &json) { return json.is_string() ? std::stod(json.get<std::string>()) : json.get<double>(); }
std::vector<double> numbersOf(const Json &json) {
  std::vector<double> numbers;
  for (const Json &each : json)
    numbers.push_back(numberOf(each));
  return numbers;
}
Shape shapeOf(const Json &tensor) { return Shape(tensor["shape"].get<std::vector<int64_t>>()); }
DType dtypeOf(const Json &tensor) { return standardize_dtype(tensor["dtype"].get<std::string>()); }
Tensor tensorOf(const Json &values, const Shape &shape, DType dtype) {
  return Tensor(numbersOf(values), shape).astype(dtype);
}
Axes axesOf(const Json &args) {
  std::vector<int64_t> list;
  if (args.contains("axis"))
    list = args["axis"].is_array() ? args["axis"].get<std::vector<int64_t>>()
                                   : std::vector<int64_t>{args["axis"].get<int64_t>()};
  switch (list.size()) {
  case 0:
    return {};
  case 1:
    return {list[0]};
  case 2:
    return {list[0], list[1]};
  default:
    return {list[0], list[1], list[2]};
  }
}

Loss lossOf(const Json &args) {
  std::string kind = args["class"];
  LossArgs plain;
  if (args.contains("dtype"))
    plain.dtype = args["dtype"].get<std::string>();
  std::string reduction = args.value("reduction", "sum_over_batch_size");
  plain.reduction = reduction == "sum"    ? Reduction::sum
                    : reduction == "none" ? Reduction::none
                                          : Reduction::sum_over_batch_size;
  losses::CrossentropyArgs entropy{.from_logits = args.value("from_logits", false), .reduction = plain.reduction};
  const std::map<std::string, std::function<Loss()>> makers{
      {"MeanSquaredError", [&] { return losses::MeanSquaredError(plain); }},
      {"MeanAbsoluteError", [&] { return losses::MeanAbsoluteError(plain); }},
      {"MeanAbsolutePercentageError", [&] { return losses::MeanAbsolutePercentageError(plain); }},
      {"MeanSquaredLogarithmicError", [&] { return losses::MeanSquaredLogarithmicError(plain); }},
      {"Huber", [&] { return losses::Huber(args.value("delta", 1.0), plain); }},
      {"LogCosh", [&] { return losses::LogCosh(plain); }},
      {"Poisson", [&] { return losses::Poisson(plain); }},
      {"Hinge", [&] { return losses::Hinge(plain); }},
      {"SquaredHinge", [&] { return losses::SquaredHinge(plain); }},
      {"CategoricalHinge", [&] { return losses::CategoricalHinge(plain); }},
      {"KLDivergence", [&] { return losses::KLDivergence(plain); }},
      {"CosineSimilarity", [&] { return losses::CosineSimilarity(-1, plain); }},
      {"BinaryCrossentropy", [&] { return losses::BinaryCrossentropy(entropy); }},
      {"CategoricalCrossentropy", [&] { return losses::CategoricalCrossentropy(entropy); }},
      {"SparseCategoricalCrossentropy",
       [&] { return losses::SparseCategoricalCrossentropy({.from_logits = args.value("from_logits", false)}); }},
  };
  return makers.at(kind)();
}

Number exactNumber(const Json &json) {
  return json.is_number_integer() ? Number(json.get<int64_t>()) : Number(json.get<double>());
}
Value withNumber(const std::string &op, const Value &x, const Number &number, bool left) {
  if (op == "add")
    return left ? number + x : x + number;
  if (op == "subtract")
    return left ? number - x : x - number;
  if (op == "multiply")
    return left ? number * x : x * number;
  return left ? number / x : x / number;
}

using Operands = std::vector<Value>;
using Operation = std::function<Value(const Operands &, const Json &)>;
Operation unary(Value (*op)(const Value &)) {
  return [op](const Operands &x, const Json &) { return op(x.at(0)); };
}
template <class Argument> Operation binary(Value (*op)(const Argument &, const Argument &)) {
  return [op](const Operands &x, const Json &) { return op(x.at(0), x.at(1)); };
}
Operation reduction(Value (*op)(const Value &, const Axes &, bool)) {
  return [op](const Operands &x, const Json &args) { return op(x.at(0), axesOf(args), args.value("keepdims", false)); };
}

std::optional<int64_t> maybeAxis(const Json &args) {
  return args["axis"].is_null() ? std::nullopt : std::optional(args["axis"].get<int64_t>());
}
Shape shapeIn(const Json &args) { return Shape(args["shape"].get<std::vector<int64_t>>()); }
Operation segments(Value (*op)(const Value &, const Value &, int64_t)) {
  return [op](const Operands &x, const Json &args) { return op(x.at(0), x.at(1), args["num_segments"]); };
}
Operation cumulative(Value (*op)(const Value &, std::optional<int64_t>, std::optional<DType>)) {
  return [op](const Operands &x, const Json &args) { return op(x.at(0), maybeAxis(args), {}); };
}
Value padded(const Operands &x, const Json &args) {
  ops::PadArgs more{.mode = choice<PadMode>(args["mode"].get<std::string>())};
  if (args.contains("constant_values"))
    more.constant_values = args["constant_values"].get<int64_t>();
  return ops::pad(x.at(0), PadWidth(args["pad_width"].get<std::vector<PadWidth::Sides>>()), more);
}

/// Gathers, updates, searches and reorderings.
const std::map<std::string, Operation> &indexing() {
  static const std::map<std::string, Operation> table{
      {"take_along_axis",
       [](const Operands &x, const Json &args) { return ops::take_along_axis(x.at(0), x.at(1), maybeAxis(args)); }},
      {"slice", [](const Operands &x, const Json &args) { return ops::slice(x.at(0), x.at(1), shapeIn(args)); }},
      {"slice_update", [](const Operands &x, const Json &) { return ops::slice_update(x.at(0), x.at(1), x.at(2)); }},
      {"scatter", [](const Operands &x, const Json &args) { return ops::scatter(x.at(0), x.at(1), shapeIn(args)); }},
      {"scatter_update",
       [](const Operands &x, const Json &args) {
         if (!args.contains("reduction") || args["reduction"].is_null())
           return ops::scatter_update(x.at(0), x.at(1), x.at(2));
         return ops::scatter_update(x.at(0), x.at(1), x.at(2),
                                    choice<ScatterReduction>(args["reduction"].get<std::string>()));
       }},
      {"segment_sum", segments(ops::segment_sum)},
      {"segment_max", segments(ops::segment_max)},
      {"segment_min", segments(ops::segment_min)},
      {"segment_prod", segments(ops::segment_prod)},
      {"searchsorted",
       [](const Operands &x, const Json &args) {
         return ops::searchsorted(x.at(0), x.at(1), choice<Side>(args["side"].get<std::string>()));
       }},
      {"bincount",
       [](const Operands &x, const Json &args) {
         return x.size() > 1 ? ops::bincount(x[0], x[1], args["minlength"]) : ops::bincount(x.at(0), args["minlength"]);
       }},
      {"cumsum", cumulative(ops::cumsum)},
      {"cumprod", cumulative(ops::cumprod)},
      {"erfinv", unary(ops::erfinv)},
      {"meshgrid",
       [](const Operands &x, const Json &args) {
         const auto kind = choice<GridIndexing>(args["indexing"].get<std::string>());
         return ops::meshgrid(Values(x), kind).at(args["which"].get<size_t>());
       }},
      {"diagonal",
       [](const Operands &x, const Json &args) {
         return ops::diagonal(x.at(0), args["offset"], args["axis1"], args["axis2"]);
       }},
      {"pad", padded},
  };
  return table;
}

const std::map<std::string, Operation> &operations() {
  static const std::map<std::string, Operation> table{
      {"activation",
       [](const Operands &x, const Json &args) { return ActivationArg(args["name"].get<std::string>())(x.at(0)); }},
      {"loss", [](const Operands &x, const Json &args) { return lossOf(args)(x.at(0), x.at(1)); }},
      {"number",
       [](const Operands &x, const Json &args) {
         return withNumber(args["name"], x.at(0), exactNumber(args["number"]), args["left"]);
       }},
      {"clip",
       [](const Operands &x, const Json &args) {
         return ops::clip(x.at(0), exactNumber(args["x_min"]), exactNumber(args["x_max"]));
       }},
      {"gelu", [](const Operands &x, const Json &args) { return ops::gelu(x.at(0), args.value("approximate", true)); }},
      {"elu", [](const Operands &x, const Json &) { return ops::elu(x.at(0)); }},
      {"leaky_relu", [](const Operands &x, const Json &) { return ops::leaky_relu(x.at(0)); }},
      {"abs", unary(ops::abs)},
      {"sign", unary(ops::sign)},
      {"negative", unary(ops::negative)},
      {"square", unary(ops::square)},
      {"round", unary(ops::round)},
      {"floor", unary(ops::floor)},
      {"ceil", unary(ops::ceil)},
      {"exp", unary(ops::exp)},
      {"relu", unary(ops::relu)},
      {"softplus", unary(ops::softplus)},
      {"isfinite", unary(ops::isfinite)},
      {"maximum", binary(ops::maximum)},
      {"minimum", binary(ops::minimum)},
      {"add", binary(ops::add)},
      {"subtract", binary(ops::subtract)},
      {"multiply", binary(ops::multiply)},
      {"divide", binary(ops::divide)},
      {"power", binary(ops::power)},
      {"matmul", binary(ops::matmul)},
      {"sum", reduction(ops::sum)},
      {"prod", reduction(ops::prod)},
      {"max", reduction(ops::max)},
      {"min", reduction(ops::min)},
      {"mean", reduction(ops::mean)},
  };
  return table;
}

/// Applies the differences between our gradients and Keras's that docs/policies.md lists: 0 for |x| at 0, and for a
/// power by the exponent if the base is not above 0.
void applyDifferences(const Json &recorded, size_t input, std::vector<double> &gradient) {
  auto replace = [&](auto differs) {
    std::vector<double> a = numbersOf(recorded["in"][0]["values"]),
                        b = recorded["in"].size() > 1 ? numbersOf(recorded["in"][1]["values"]) : a;
    for (size_t i = 0; i < gradient.size(); ++i)
      if (differs(a[i], b[i]))
        gradient[i] = 0;
  };
  std::string op = recorded["op"], kind = recorded["args"].value("class", "");
  if (op == "abs")
    replace([](double x, double) { return x == 0; });
  if (kind == "MeanAbsoluteError" || kind == "MeanAbsolutePercentageError")
    replace([](double t, double p) { return t == p; });
  if (op == "power" && input == 1)
    replace([](double base, double) { return !(base > 0); });
}

/// A few ulp of the narrowest float in the case.
double toleranceOf(const Json &recorded) {
  std::string text = recorded["in"].dump() + recorded["args"].dump() + recorded["out"].dump();
  if (text.find("bfloat16") != text.npos)
    return 0.04;
  return text.find("float16") != text.npos ? 0.005 : 4e-6;
}

void checkNumbers(const std::vector<double> &found, const std::vector<double> &expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    bool same = found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i])) ||
                std::abs(found[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i]));
    INFO("element " << i << " is " << found[i] << ", expected " << expected[i]);
    CHECK(same);
  }
}

/// The results of all cases, each followed by its gradients.
std::vector<Tensor> resultsOf(const std::vector<Json> &cases, Run run) {
  std::vector<Tensor> feeds;
  for (const Json &each : cases)
    for (const Json &x : each["in"])
      feeds.push_back(tensorOf(x["values"], shapeOf(x), dtypeOf(x)));
  return runOnce(run, feeds, [&](const Operands &values) {
    std::vector<Value> results;
    auto next = values.begin();
    for (const Json &each : cases) {
      Operands x(next, next + static_cast<int64_t>(each["in"].size()));
      next += static_cast<int64_t>(x.size());
      const std::string op = each["op"];
      Value y = (indexing().contains(op) ? indexing() : operations()).at(op)(x, each["args"]);
      results.push_back(y);
      if (!each.contains("gradients"))
        continue;
      Operands by;
      for (size_t i = 0; i < x.size(); ++i)
        if (!each["gradients"][i].is_null())
          by.push_back(x[i]);
      Value weights = constant(tensorOf(each["cotangent"], y.shape(), y.dtype()));
      for (const Value &gradient : gradients(ops::sum(y * weights), by))
        results.push_back(gradient);
    }
    return results;
  });
}

void checkCases(const std::vector<Json> &cases, Run run) {
  std::vector<Tensor> results = resultsOf(cases, run);
  auto next = results.begin();
  for (const Json &each : cases) {
    INFO(each["op"] << " " << each["args"] << " of " << each["in"]);
    Tensor y = *next++;
    CHECK(name(y.dtype()) == each["out"]["dtype"].get<std::string>());
    CHECK(y.shape() == shapeOf(each["out"]));
    checkNumbers(numbers(y), numbersOf(each["out"]["values"]), toleranceOf(each));
    if (!each.contains("gradients"))
      continue;
    for (size_t i = 0; i < each["in"].size(); ++i) {
      if (each["gradients"][i].is_null())
        continue;
      INFO("gradient by operand " << i);
      std::vector<double> expected = numbersOf(each["gradients"][i]);
      applyDifferences(each, i, expected);
      checkNumbers(numbers(*next++), expected, toleranceOf(each));
    }
  }
}

/// The cases by operation, those with gradients separately, so that each compiled program is small.
std::map<std::string, std::vector<Json>> recordedCases() {
  std::map<std::string, std::vector<Json>> groups;
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/ops.jsonl");
  for (std::string line; std::getline(file, line);) {
    Json recorded = Json::parse(line);
    std::string group = recorded["op"].get<std::string>() + (recorded.contains("gradients") ? " with gradients" : "");
    groups[group].push_back(recorded);
  }
  return groups;
}

void checkAll(Run run) {
  std::map<std::string, std::vector<Json>> groups = recordedCases();
  CHECK(groups.size() > 30);
  for (const auto &[group, cases] : groups) {
    INFO(group);
    checkCases(cases, run);
  }
}

using Binary = Value (*)(const Operand &, const Operand &);
const std::map<std::string, Binary> &binaryOperations() {
  static const std::map<std::string, Binary> table{
      {"add", ops::add},
      {"subtract", ops::subtract},
      {"multiply", ops::multiply},
      {"divide", ops::divide},
      {"divide_no_nan", ops::divide_no_nan},
      {"power", ops::power},
      {"maximum", ops::maximum},
      {"minimum", ops::minimum},
      {"floor_divide", ops::floor_divide},
      {"mod", ops::mod},
      {"hypot", ops::hypot},
      {"logaddexp", ops::logaddexp},
      {"arctan2", ops::arctan2},
      {"equal", ops::equal},
      {"less", ops::less},
      {"logical_and", ops::logical_and},
      {"logical_xor", ops::logical_xor},
      {"bitwise_and", ops::bitwise_and},
      {"bitwise_or", ops::bitwise_or},
      {"bitwise_xor", ops::bitwise_xor},
      {"left_shift", ops::left_shift},
      {"right_shift", ops::right_shift},
      {"where",
       [](const Operand &a, const Operand &b) { return ops::where(layers::Input({2}, {.dtype = bool_}), a, b); }},
      {"clip", [](const Operand &a, const Operand &b) { return ops::clip(a.value(), b, b); }}};
  return table;
}
std::optional<Operand> numberNamed(const std::string &kind) {
  if (kind == "2")
    return 2;
  if (kind == "2.0")
    return 2.0;
  return kind == "true" ? std::optional<Operand>(true) : std::nullopt;
}
Operand operandNamed(const std::string &kind) {
  const std::optional<Operand> number = numberNamed(kind);
  return number ? *number : Operand(Value(layers::Input({2}, {.dtype = standardize_dtype(kind)})));
}
/// The dtype name of our operation's result; "" for an error.
std::string dtypeNamed(Binary operation, const std::string &a, const std::string &b) {
  try {
    return std::string(name(operation(operandNamed(a), operandNamed(b)).dtype()));
  } catch (const Error &) {
    return "";
  }
}
/// Keras's dtype with the differences of docs/policies.md: a float keeps its dtype with 2.0 in every operation, and
/// bools are numbers in a subtraction.
std::string expectedDtype(const std::string &op, const std::string &a, const std::string &b, const Json &recorded) {
  const std::string other = numberNamed(a) ? b : a;
  const bool isNarrow = other == "bfloat16" || other == "float16";
  if ((op == "arctan2" || op == "logaddexp") && isNarrow && (a == "2.0" || b == "2.0"))
    return other;
  if (op == "subtract" && recorded.is_null())
    return "int32";
  return recorded.is_null() ? "" : recorded.get<std::string>();
}

} // namespace

TEST_CASE("each operation of two operands has Keras's dtype beside each dtype and each kind of number", "[ops]") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/operands.jsonl");
  size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    const Json recorded = Json::parse(line);
    const std::string op = recorded["op"];
    for (const auto &[a, dtypes] : recorded["dtypes"].items())
      for (size_t i = 0; i < dtypes.size(); ++i) {
        const std::string b = recorded["right"][i];
        if ((numberNamed(a) && numberNamed(b)) || (op == "clip" && numberNamed(a)))
          continue;
        INFO(op << " of " << a << " and " << b);
        CHECK(dtypeNamed(binaryOperations().at(op), a, b) == expectedDtype(op, a, b, dtypes[i]));
        ++count;
      }
  }
  CHECK(count > 3500);
}

TEST_CASE("operations give Keras's values, dtypes and gradients: interpreted", "[ops]") { checkAll(Run::interpreted); }
TEST_CASE("operations give Keras's values, dtypes and gradients: compiled", "[ops]") { checkAll(Run::compiled); }
TEST_CASE("operations give Keras's values, dtypes and gradients: strict", "[ops]") { checkAll(Run::strict); }
