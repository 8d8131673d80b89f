// Operations as Keras's files contain them: each with its arguments, on an input of shape (batch, 2, 3).
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/OperationRows.h"
#include "tests/frontend/RecordedJson.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

const std::string input =
    R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 2, 3], "dtype": "float32", "keras_history": ["x", 0, 0]}})";

/// A model of one operation. In `args`, X represents the input of the model.
std::string modelOf(const std::string &className, std::string args, const std::string &config) {
  for (size_t place = 0; (place = args.find('X', place)) != std::string::npos; place += input.size())
    args.replace(place, 1, input);
  return fmt::format(
      R"({{"name": "m", "trainable": true, "layers": [
        {{"module": "keras.layers", "class_name": "InputLayer", "config": {{"batch_shape": [null, 2, 3], "dtype": "float32", "name": "x"}}, "name": "x", "inbound_nodes": []}},
        {{"module": "keras.src.ops.numpy", "class_name": "{}", "config": {{"name": "operation"{}{}}}, "name": "operation", "inbound_nodes": [{{"args": {}, "kwargs": {{}}}}]}}],
        "input_layers": [["x", 0, 0]], "output_layers": [["operation", 0, 0]]}})",
      className, config.empty() ? "" : ", ", config, args);
}
Model read(const std::string &className, const std::string &args, const std::string &config = "") {
  return Model::from_config(Config::parse(fmt::format(
      R"({{"module": "keras", "class_name": "Functional", "config": {}}})", modelOf(className, args, config))));
}

struct Row {
  const char *className, *args, *config;
  Shape shape;
  std::vector<double> expected;
};

const std::string all = R"({"class_name": "__slice__", "config": {"start": null, "stop": null, "step": null}})";
std::string slice(const char *start, const char *stop, const char *step) {
  return fmt::format(R"({{"class_name": "__slice__", "config": {{"start": {}, "stop": {}, "step": {}}}}})", start, stop,
                     step);
}

/// The input is one sample with the elements 0 to 5.
void check(const Row &row) {
  INFO(row.className << " " << row.args << " " << row.config);
  const Model model = read(row.className, row.args, row.config);
  const Tensor found = model.predict(counted({1, 2, 3}), {.verbose = 0});
  CHECK(found.shape() == row.shape);
  CHECK(near(numbers(found), row.expected));
  CHECK(Model::from_config(Config::parse(model.to_json())).to_json() == model.to_json());
}

} // namespace

TEST_CASE("Operations with arguments compute as Keras's, and go into a config again", "[files]") {
  const double e = std::exp(1.0);
  std::vector<double> products;
  for (int i = 0; i < 36; ++i)
    products.push_back((i / 6) * (i % 6));
  for (const Row &row : {
           Row{"Reshape", "[X]", R"("newshape": [-1, 6])", {1, 6}, {0, 1, 2, 3, 4, 5}},
           Row{"Transpose", "[X]", R"("axes": [0, 2, 1])", {1, 3, 2}, {0, 3, 1, 4, 2, 5}},
           Row{"Concatenate", "[[X, X]]", R"("axis": 1)", {1, 4, 3}, {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}},
           Row{"Stack", "[[X, X]]", R"("axis": -1)", {1, 2, 3, 2}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}},
           Row{"ExpandDims", "[X]", R"("axis": 1)", {1, 1, 2, 3}, {0, 1, 2, 3, 4, 5}},
           Row{"Flip", "[X]", R"("axis": 2)", {1, 2, 3}, {2, 1, 0, 5, 4, 3}},
           Row{"Split", "[X]", R"("indices_or_sections": 1, "axis": 1)", {1, 2, 3}, {0, 1, 2, 3, 4, 5}},
           Row{"Repeat", "[X]", R"("repeats": 2, "axis": 1)", {1, 4, 3}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}},
           Row{"Tile", "[X]", R"("repeats": [1, 1, 2])", {1, 2, 6}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}},
           Row{"Swapaxes", "[X]", R"("axis1": 1, "axis2": 2)", {1, 3, 2}, {0, 3, 1, 4, 2, 5}},
           Row{"Moveaxis", "[X]", R"("source": 2, "destination": 1)", {1, 3, 2}, {0, 3, 1, 4, 2, 5}},
           Row{"Cumsum", "[X]", R"("axis": 2, "dtype": null)", {1, 2, 3}, {0, 1, 3, 3, 7, 12}},
           Row{"Clip", "[X]", R"("x_min": 1, "x_max": 3.5)", {1, 2, 3}, {1, 1, 2, 3, 3.5, 3.5}},
           Row{"Einsum", "[X, X]", R"("subscripts": "abc,abc->ab")", {1, 2}, {5, 50}},
           Row{"Argmax", "[X]", R"("axis": -1, "keepdims": true)", {1, 2, 1}, {2, 2}},
           Row{"Std", "[X]", R"("axis": 1, "keepdims": false)", {1, 3}, {1.5, 1.5, 1.5}},
           Row{"Var", "[X]", R"("axis": [1], "keepdims": true)", {1, 1, 3}, {2.25, 2.25, 2.25}},
           Row{"Any", "[X]", R"("axis": 2, "keepdims": false)", {1, 2}, {1, 1}},
           Row{"All", "[X]", R"("axis": 2, "keepdims": false)", {1, 2}, {0, 1}},
           Row{"Power", "[X, 2]", "", {1, 2, 3}, {0, 1, 4, 9, 16, 25}},
           Row{"Power", "[2, X]", "", {1, 2, 3}, {1, 2, 4, 8, 16, 32}},
           Row{"Minimum", "[2.5, X]", "", {1, 2, 3}, {0, 1, 2, 2.5, 2.5, 2.5}},
           Row{"Mod", "[X, 2]", "", {1, 2, 3}, {0, 1, 0, 1, 0, 1}},
           Row{"Greater", "[X, 2]", "", {1, 2, 3}, {0, 0, 0, 1, 1, 1}},
           Row{"NotEqual", "[X, 0]", "", {1, 2, 3}, {0, 1, 1, 1, 1, 1}},
           Row{"ConvertToTensor",
               "[X]",
               R"("dtype": null, "sparse": null, "ragged": null)",
               {1, 2, 3},
               {0, 1, 2, 3, 4, 5}},
           Row{"ConvertToTensor", "[X]", R"("dtype": "int32")", {1, 2, 3}, {0, 1, 2, 3, 4, 5}},
           Row{"LeakyRelu", "[X]", R"("negative_slope": 0.3)", {1, 2, 3}, {0, 1, 2, 3, 4, 5}},
           Row{"Round", "[X]", R"("decimals": 0)", {1, 2, 3}, {0, 1, 2, 3, 4, 5}},
           Row{"Softmax",
               "[X]",
               R"("axis": 1)",
               {1, 2, 3},
               {1 / (1 + e * e * e), 1 / (1 + e * e * e), 1 / (1 + e * e * e), 1 - 1 / (1 + e * e * e),
                1 - 1 / (1 + e * e * e), 1 - 1 / (1 + e * e * e)}},
           Row{"Exp2", "[X]", "", {1, 2, 3}, {1, 2, 4, 8, 16, 32}},
           Row{"Arctan",
               "[X]",
               "",
               {1, 2, 3},
               {0, std::atan(1), std::atan(2), std::atan(3), std::atan(4), std::atan(5)}},
           Row{"Arctan2",
               "[X, 2]",
               "",
               {1, 2, 3},
               {0, std::atan(.5), std::atan(1), std::atan(1.5), std::atan(2), std::atan(2.5)}},
           Row{"Hypot", "[X, 0]", "", {1, 2, 3}, {0, 1, 2, 3, 4, 5}},
           Row{"Outer", "[X, X]", "", {6, 6}, products},
           Row{"Amax", "[X]", R"("axis": 2, "keepdims": false)", {1, 2}, {2, 5}},
           Row{"Amin", "[X]", R"("axis": 1, "keepdims": true)", {1, 1, 3}, {0, 1, 2}},
           Row{"Average", "[X]", R"("axis": 1)", {1, 3}, {1.5, 2.5, 3.5}},
           Row{"CountNonzero", "[X]", R"("axis": 2)", {1, 2}, {2, 3}},
           Row{"LogicalXor", "[X, 1]", "", {1, 2, 3}, {1, 0, 0, 0, 0, 0}},
           Row{"Isfinite", "[X]", "", {1, 2, 3}, {1, 1, 1, 1, 1, 1}},
           Row{"Celu", "[X]", R"("alpha": 2.0)", {1, 2, 3}, {0, 1, 2, 3, 4, 5}},
           Row{"Squareplus", "[X]", R"("b": 0)", {1, 2, 3}, {0, 1, 2, 3, 4, 5}},
           Row{"HardShrink", "[X]", R"("threshold": 2.5)", {1, 2, 3}, {0, 0, 0, 3, 4, 5}},
           Row{"SoftShrink", "[X]", R"("threshold": 2)", {1, 2, 3}, {0, 0, 0, 1, 2, 3}},
           Row{"Sparsemax", "[X]", R"("axis": 1)", {1, 2, 3}, {0, 0, 0, 1, 1, 1}},
           Row{"Glu", "[X]", R"("axis": 1)", {1, 1, 3}, {0, 1 / (1 + std::exp(-4)), 2 / (1 + std::exp(-5))}},
           Row{"DivideNoNan", "[6, X]", "", {1, 2, 3}, {0, 6, 3, 2, 1.5, 1.2}},
           Row{"Add", "[X, true]", "", {1, 2, 3}, {1, 2, 3, 4, 5, 6}},
           Row{"Where", "[X, X, 7]", "", {1, 2, 3}, {7, 1, 2, 3, 4, 5}},
           Row{"FullLike", "[X, X]", R"("dtype": null)", {1, 2, 3}, {0, 1, 2, 3, 4, 5}},
           Row{"Threshold", "[X]", R"("threshold": 2, "default_value": -1)", {1, 2, 3}, {-1, -1, -1, 3, 4, 5}},
           Row{"Roll", "[X]", R"("shift": 1, "axis": 2)", {1, 2, 3}, {2, 0, 1, 5, 3, 4}},
           Row{"Tril", "[X]", R"("k": 0)", {1, 2, 3}, {0, 0, 0, 3, 4, 0}},
           Row{"Triu", "[X]", R"("k": 1)", {1, 2, 3}, {0, 1, 2, 0, 0, 5}},
           Row{"Ravel", "[X]", "", {6}, {0, 1, 2, 3, 4, 5}},
           Row{"FullLike", "[X, 2.5]", R"("dtype": null)", {1, 2, 3}, {2.5, 2.5, 2.5, 2.5, 2.5, 2.5}},
           Row{"OnesLike", "[X]", R"("dtype": null)", {1, 2, 3}, {1, 1, 1, 1, 1, 1}},
       })
    check(row);
}

TEST_CASE("Windows, norms, attention, factorizations, transforms and constants of Keras's files give Keras's results",
          "[files]") {
  for (const std::string &line : recordedLines("operations.jsonl")) {
    const Json row = Json::parse(line);
    const std::string text = row.at("config").dump(), dtype = row.at("dtype");
    INFO(dtype << " " << text);
    const Model model = Model::from_config(Config::parse(text));
    const Tensor x(elementsOf(row.at("x")), Shape(row.at("shape").get<std::vector<int64_t>>()));
    for (const Model &each : {model, Model::from_config(Config::parse(model.to_json()))}) {
      const Tensors found = each.predict_all(x.astype(float32), {.verbose = 0});
      REQUIRE(found.size() == row.at("y").size());
      for (size_t i = 0; i < found.size(); ++i) {
        const Json &expected = row.at("y")[i];
        CHECK(found[i].shape() == Shape(expected.at("shape").get<std::vector<int64_t>>()));
        CHECK(distance(numbers(found[i]), elementsOf(expected.at("y"))) <= (dtype == "float32"   ? 5e-6
                                                                            : dtype == "float16" ? 2e-3
                                                                                                 : 1.6e-2));
      }
    }
    CHECK(Model::from_config(Config::parse(model.to_json())).to_json() == model.to_json());
  }
}

TEST_CASE("Convolutions, pools and attention between layers are written as one operation of Keras's each", "[files]") {
  const Input x({6, 5, 4});
  const Value mean = ops::mean(x, {0}), each = ops::mean(x, {0, 1, 2}), ofSteps = ops::mean(x, {0, 2, 3});
  const Value kernel = ops::reshape(mean, {3, 2, 4, 5}), few = ops::reshape(mean, {6, 5, 4, 1}),
              point = ops::reshape(each, {1, 1, 4, 1}), turned = ops::reshape(mean, {3, 2, 5, 4});
  const Value mask = ops::greater(ofSteps, ops::mean(ofSteps)), bias = ofSteps * 0.01;
  const std::vector<std::pair<std::string, Value>> rows{
      {"Conv", ops::conv(x, kernel, {.strides = {2}, .padding = "same"})},
      {"DepthwiseConv", ops::depthwise_conv(x, few)},
      {"SeparableConv", ops::separable_conv(x, few, point, {.padding = "same"})},
      {"ConvTranspose", ops::conv_transpose(x, turned, {.strides = {2, 1}})},
      {"MaxPool", ops::max_pool(x, {2}, {.strides = {{1}}})},
      {"AveragePool", ops::average_pool(x, {2, 1}, {.padding = "same"})},
      {"DotProductAttention", ops::dot_product_attention(x, x, x, {.bias = bias, .mask = mask, .scale = 0.1})},
      {"DotProductAttention", ops::dot_product_attention(x, x, x, {.mask = mask, .is_causal = true})}};
  for (const auto &[className, result] : rows) {
    INFO(className);
    const Model model({x}, {result});
    const std::string text = model.to_json();
    const Model again = Model::from_config(Config::parse(text));
    CHECK_THAT(text, Contains(fmt::format("\"class_name\":\"{}\"", className)) ||
                         Contains(fmt::format("\"class_name\":\"{}\"", className)));
    CHECK(again.to_json() == text);
    const Tensor data = counted({2, 6, 5, 4}) * 0.01;
    CHECK(numbers(again.predict(data, {.verbose = 0})) == numbers(model.predict(data, {.verbose = 0})));
  }
}

TEST_CASE("Calls of operations between layers are written as Keras's operations", "[files]") {
  const Input x({2, 3});
  const Value flag = ops::isfinite(x), whole = ops::cast(x, int32) + 1;
  const std::vector<std::pair<const char *, Value>> rows{{"Exp2", ops::exp2(x)},
                                                         {"Log2", ops::log2(x)},
                                                         {"Log10", ops::log10(x)},
                                                         {"Cbrt", ops::cbrt(x)},
                                                         {"Tan", ops::tan(x)},
                                                         {"Arcsin", ops::arcsin(x)},
                                                         {"Arccos", ops::arccos(x)},
                                                         {"Arctan", ops::arctan(x)},
                                                         {"Sinh", ops::sinh(x)},
                                                         {"Cosh", ops::cosh(x)},
                                                         {"Arcsinh", ops::arcsinh(x)},
                                                         {"Arccosh", ops::arccosh(x)},
                                                         {"Arctanh", ops::arctanh(x)},
                                                         {"Trunc", ops::trunc(x)},
                                                         {"Arctan2", ops::arctan2(x, x)},
                                                         {"Hypot", ops::hypot(x, x)},
                                                         {"Isfinite", flag},
                                                         {"Logaddexp", ops::logaddexp(x, x)},
                                                         {"LogicalNot", ops::logical_not(flag)},
                                                         {"LogicalAnd", ops::logical_and(flag, flag)},
                                                         {"LogicalOr", ops::logical_or(flag, flag)},
                                                         {"LogicalXor", ops::logical_xor(flag, flag)},
                                                         {"LogicalAnd", flag & flag},
                                                         {"LogicalOr", flag | true},
                                                         {"BitwiseAnd", whole & 6},
                                                         {"BitwiseOr", 1 | whole},
                                                         {"BitwiseXor", whole ^ whole},
                                                         {"BitwiseNot", ~whole},
                                                         {"LeftShift", ops::left_shift(whole, 2)},
                                                         {"RightShift", ops::right_shift(9, whole)},
                                                         {"Mod", 7 % whole},
                                                         {"DivideNoNan", ops::divide_no_nan(1, x)},
                                                         {"Relu6", ops::relu6(x)},
                                                         {"Selu", ops::selu(x)},
                                                         {"HardSigmoid", ops::hard_sigmoid(x)},
                                                         {"HardSilu", ops::hard_silu(x)},
                                                         {"HardTanh", ops::hard_tanh(x)},
                                                         {"LogSigmoid", ops::log_sigmoid(x)},
                                                         {"Softsign", ops::softsign(x)},
                                                         {"SparsePlus", ops::sparse_plus(x)},
                                                         {"SparseSigmoid", ops::sparse_sigmoid(x)},
                                                         {"TanhShrink", ops::tanh_shrink(x)},
                                                         {"Celu", ops::celu(x, 2)},
                                                         {"Glu", ops::glu(x, 1)},
                                                         {"HardShrink", ops::hard_shrink(x, 2)},
                                                         {"SoftShrink", ops::soft_shrink(x, 2)},
                                                         {"Sparsemax", ops::sparsemax(x, 1)},
                                                         {"Squareplus", ops::squareplus(x, 2)},
                                                         {"Threshold", ops::threshold(x, 2, -1)}};
  for (const auto &[className, result] : rows) {
    INFO(className);
    const Model model({x}, {result});
    const std::string text = model.to_json();
    CHECK_THAT(text, Contains(fmt::format("\"class_name\":\"{}\"", className)) ||
                         Contains(fmt::format("\"class_name\":\"{}\"", className)));
    const Model again = Model::from_config(Config::parse(text));
    const Tensor data = counted({1, 2, 3});
    CHECK(again.predict(data, {.verbose = 0}).str() == model.predict(data, {.verbose = 0}).str());
  }
}

TEST_CASE("A recorded operation has its numbers where they stand, of the kind that they have", "[files]") {
  const Input x({2, 3}, {.dtype = int32});
  const std::vector<std::pair<Value, std::string>> rows{
      {2 - x, R"("args":[2,{)"},         {x - 2.0, R"(},2.0],)"},         {ops::maximum(x, true), R"(},true],)"},
      {0.5 < x, R"("args":[0.5,{)"},     {ops::full_like(x, 7), "},7],"}, {ops::where(x > 0, 1, 0.5), R"(},1,0.5],)"},
      {ops::where(x > 0, 1, x), "},1,{"}};
  for (const auto &[result, expected] : rows) {
    const Model model({x}, {result});
    const std::string text = model.to_json();
    CHECK_THAT(text, Contains(expected));
    const Model again = Model::from_config(Config::parse(text));
    CHECK(again.to_json() == text);
    const Tensor data = counted({1, 2, 3}).astype(int32);
    CHECK(again.predict(data, {.verbose = 0}).str() == model.predict(data, {.verbose = 0}).str());
  }
}

TEST_CASE("Items of a Value are those of NumPy: integers, slices forwards and backwards, ellipses and new axes",
          "[files]") {
  const auto item = [](const std::string &key) { return "[X, " + key + "]"; };
  const auto checkItem = [&](const std::string &key, const Shape &shape, const std::vector<double> &expected) {
    check({"GetItem", item(key).c_str(), "", shape, expected});
  };
  const std::string ellipsis = R"({"class_name": "__ellipsis__", "config": {}})";
  checkItem("[" + all + ", 0]", {1, 3}, {0, 1, 2});
  checkItem("[" + ellipsis + ", -1]", {1, 2}, {2, 5});
  checkItem("[" + all + ", -1, " + slice("1", "null", "null") + "]", {1, 2}, {4, 5});
  checkItem("[" + all + ", " + all + ", " + slice("null", "null", "2") + "]", {1, 2, 2}, {0, 2, 3, 5});
  checkItem("[" + all + ", " + all + ", " + slice("null", "null", "-1") + "]", {1, 2, 3}, {2, 1, 0, 5, 4, 3});
  checkItem("[" + all + ", " + all + ", " + slice("-1", "0", "-1") + "]", {1, 2, 2}, {2, 1, 5, 4});
  checkItem("[" + all + ", null, 1]", {1, 1, 3}, {3, 4, 5});
  checkItem("[" + all + ", " + slice("-9", "99", "1") + "]", {1, 2, 3}, {0, 1, 2, 3, 4, 5});
  checkItem("[" + all + ", " + slice("2", "1", "null") + "]", {1, 0, 3}, {});
  checkItem("[" + all + ", " + all + ", " + slice("1", "null", "9223372036854775807") + "]", {1, 2, 1}, {1, 4});
  checkItem("[" + all + ", " + all + ", " + slice("null", "null", "-9223372036854775808") + "]", {1, 2, 1}, {2, 5});
  checkItem(all, {1, 2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK_THROWS_WITH(read("GetItem", item("[" + all + ", 2]")), Contains("index 2 is out of bounds for axis 1"));
  CHECK_THROWS_WITH(read("GetItem", item("[0, 0, 0, 0]")),
                    Contains("has 4 items for axes, but the shape (None, 2, 3) has 3 axes"));
  CHECK_THROWS_WITH(read("GetItem", item("[" + slice("null", "null", "0") + "]")), Contains("step cannot be zero"));
  for (const char *other : {"[true]", R"([{"class_name": 3}])"})
    CHECK_THROWS_WITH(read("GetItem", item(other)), Contains("not an integer, slice, ellipsis or null"));
  CHECK_THROWS_WITH(read("GetItem", item(R"([{"class_name": "__slice__", "config": 3}])")),
                    Contains("expected an object"));
}

TEST_CASE("An error about an array, a pad or a normalization says what can be read", "[files]") {
  const std::string ragged = R"({"class_name": "__numpy__", "config": {"value": [[1, 2], [3]], "dtype": "float32"}})";
  CHECK_THROWS_WITH(read("Add", "[X, " + ragged + "]"), Contains("Add has an array") && Contains("not a nested list"));
  const std::string many =
      fmt::format(R"({{"class_name": "__numpy__", "config": {{"value": [{}0], "dtype": "int32"}}}})",
                  fmt::join(std::vector<std::string>(4096, "0, "), ""));
  CHECK_THROWS_WITH(read("Take", "[X, " + many + "]", R"("axis": 1)"), Contains("more than 4096 elements"));
  CHECK_THROWS_WITH(read("Pad", "[X]", R"("pad_width": [[0, 0], [1, 1]], "mode": "constant")"),
                    Contains("a pair for each of the 3 axes"));
  CHECK_THROWS_WITH(read("Pad", "[X]", R"("pad_width": -1)"), Contains("expected integers from 0"));
  CHECK_THROWS_WITH(read("Pad", "[X]", R"("pad_width": 1, "mode": "median")"),
                    Contains("expected one of \"constant\"") && Contains("\"median\""));
  CHECK_THROWS_WITH(read("Pad", "[X, 1]", R"("pad_width": [[0, 0], [1, 1], [0, 0]], "mode": "edge")"),
                    Contains("`constant_values` can only be provided"));
  CHECK_THROWS_WITH(read("Normalize", "[X]", R"("axis": [1, 2], "order": 1)"), Contains("norms of matrices"));
  CHECK_THROWS_WITH(read("Normalize", "[X]", R"("order": 0)"), Contains("must be an int >= 1"));
  CHECK_THROWS_WITH(read("BatchNorm", "[X, X, X]", R"("axis": 2)"), Contains("`mean` must be a vector of length"));
  CHECK_THROWS_WITH(read("Moments", "[X]", R"("axes": [1], "synchronized": true)"), Contains("synchronized"));
}

TEST_CASE("An operation's error names the argument that is missing, too much, or of another kind", "[files]") {
  CHECK_THROWS_WITH(read("Add", "[X]"), Contains("the operation Add lacks the argument `x2`"));
  CHECK_THROWS_WITH(read("Relu", "[X, 1]"), Contains("the operation Relu has the extra argument 1"));
  CHECK_THROWS_WITH(read("Relu", "[X]", R"("alpha": 2)"), Contains("`alpha` = 2, which it does not accept"));
  CHECK_THROWS_WITH(read("Reshape", "[X]", R"("newshape": "wide")"),
                    Contains("`newshape` = \"wide\"; expected an integer"));
  CHECK_THROWS_WITH(read("Repeat", "[X]", R"("repeats": 2, "axis": [1])"),
                    Contains("`axis` = [1]; expected an integer"));
  CHECK_THROWS_WITH(read("Split", "[X]", R"("indices_or_sections": "two", "axis": 1)"),
                    Contains("`indices_or_sections` = \"two\"; expected an integer"));
  CHECK_THROWS_WITH(read("Relu", "3"), Contains("expected a list"));
  CHECK_THROWS_WITH(read("Clip", "[X]", R"("x_min": 0)"), Contains("`x_max` = null; expected a number"));
  CHECK_THROWS_WITH(read("Relu", "[3]"), Contains("`x` = 3; expected a Value"));
  CHECK_THROWS_WITH(read("Soften", "[X]"), Contains("The operation Soften between layers cannot be read"));
}

TEST_CASE("A functional model of this library's operations goes through a config", "[files]") {
  const layers::Input x({2, 3}, {.name = "x"});
  const Value flat = ops::reshape(ops::transpose(x, {0, 2, 1}), {-1, 6});
  const Value all = ops::concatenate({ops::softmax(flat), ops::clip(flat, 0.5, 2), ops::gelu(flat), ops::silu(flat)});
  const Value more = ops::squeeze(ops::expand_dims(ops::leaky_relu(ops::elu(all, 0.5), 0.1), 1), 1);
  const Value last = ops::where(ops::greater(more, ops::zeros_like(more)), ops::log_softmax(more), ops::softplus(more));
  const Model model({x}, {last, ops::cast(ops::argmax(last), float32)});
  const Model again = Model::from_config(Config::parse(model.to_json()));
  CHECK(again.to_json() == model.to_json());
  const Tensors found = again.predict_all(counted({4, 2, 3}), {.verbose = 0});
  const Tensors expected = model.predict_all(counted({4, 2, 3}), {.verbose = 0});
  REQUIRE(found.size() == 2);
  CHECK(numbers(found[0]) == numbers(expected[0]));
  CHECK(numbers(found[1]) == numbers(expected[1]));
  CHECK_THROWS_WITH(Model({x}, {x + HUGE_VAL}).to_json(), Contains("a file cannot hold the operation 'add'"));
}

TEST_CASE("Lookups, updates and arrangements go through a config, each as one operation of Keras's", "[files]") {
  const layers::Input x({2, 3}, {.name = "x"}), v({}, {.name = "v"});
  const Value at = ops::cast(ops::argmax(x, 1), int32); // (batch, 3)
  const Value box = ops::slice(x, {0, 0, 1}, {none, 2, 2});
  const std::vector<Value> grids = ops::meshgrid({v, v}, "ij");
  const Values outputs{
      ops::take_along_axis(x, ops::expand_dims(at, 1), 1),
      ops::slice(x, {0, ops::size(x) - 99, 1}, {none, 1, 2}),
      ops::slice_update(x, {0, 0, ops::size(v)}, box),
      ops::scatter_update(x, constant(Tensor(std::vector<int32_t>{0, 1, 2, 1, 0, 0}, {2, 3})), 2.0 * v, "max"),
      ops::scatter(constant(Tensor(std::vector<int32_t>{1, 2}, {2, 1})), x, {3, 2, 3}),
      ops::segment_sum(x, at[{Slice(), 0}], 3),
      ops::segment_max(x, at[{Slice(), 1}], 3),
      ops::searchsorted(v, x, "right"),
      ops::bincount(at, 2),
      ops::cumprod(x, 1),
      ops::cumsum(at, 1, float32),
      ops::pad(x, {{0, 0}, {1, 2}, {0, 1}}, {.constant_values = 2}),
      ops::pad(x, {{0, 0}, {1, 1}, {2, 2}}, {.mode = "reflect"}),
      ops::diagonal(x, 1, 1, 2),
      ops::erfinv(x * 0.05),
      ops::image::resize(ops::expand_dims(x, -1), {4, 5}, {.antialias = true}),
      grids[1]};
  const Model model({x, v}, outputs);
  const Model again = Model::from_config(Config::parse(model.to_json()));
  CHECK(again.to_json() == model.to_json());
  const Tensors feeds{counted({2, 2, 3}), Tensor({-1, 3}, {2})};
  const Tensors expected = model.predict_all(feeds, {.verbose = 0}), found = again.predict_all(feeds, {.verbose = 0});
  REQUIRE(found.size() == outputs.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i].shape() == expected[i].shape());
    CHECK(numbers(found[i]) == numbers(expected[i]));
  }
  CHECK(numbers(found[1]) == std::vector<double>{1, 2, 7, 8});
  CHECK(numbers(found[8]) == std::vector<double>{0, 3, 0, 3});
}

TEST_CASE("Axes that move, turn and repeat, equations and statistics go through a config as one operation each",
          "[files]") {
  const layers::Input x({2, 3}, {.name = "x"});
  const std::vector<std::pair<const char *, Value>> outputs{{"Swapaxes", ops::swapaxes(x, 1, -1)},
                                                            {"Moveaxis", ops::moveaxis(x, 2, 1)},
                                                            {"Moveaxis", ops::moveaxis(x, {1, 2}, {2, 1})},
                                                            {"Flip", ops::flip(x)},
                                                            {"Flip", ops::flip(x, {1, 2})},
                                                            {"Roll", ops::roll(x, 1, 2)},
                                                            {"Roll", ops::roll(x, {1, -2}, {1, 2})},
                                                            {"Repeat", ops::repeat(x, 2, 1)},
                                                            {"Repeat", ops::repeat(x, 3)},
                                                            {"Tile", ops::tile(x, {1, 2, 1})},
                                                            {"Tril", ops::tril(x)},
                                                            {"Triu", ops::triu(x, 1)},
                                                            {"Einsum", ops::einsum("bij,bkj->bik", {x, x})},
                                                            {"Einsum", ops::einsum("bij->bji", {x})},
                                                            {"Var", ops::var(x, 1)},
                                                            {"Std", ops::std(x, {1, 2}, true)},
                                                            {"Logsumexp", ops::logsumexp(x, -1)},
                                                            {"Any", ops::any(x, 2)},
                                                            {"All", ops::all(x, {}, true)},
                                                            {"CountNonzero", ops::count_nonzero(x, 1)}};
  for (const auto &[className, output] : outputs) {
    CAPTURE(className);
    const Model model({x}, {output});
    const std::string text = model.to_json();
    CHECK_THAT(text, Contains(fmt::format("\"class_name\":\"{}\"", className)));
    const Model again = Model::from_config(Config::parse(text));
    CHECK(again.to_json() == text);
    const Tensor in = counted({2, 2, 3}), expected = model.predict(in, {.verbose = 0}),
                 found = again.predict(in, {.verbose = 0});
    CHECK(found.shape() == expected.shape());
    CHECK(found.dtype() == expected.dtype());
    CHECK(numbers(found) == numbers(expected));
  }
}

TEST_CASE("Two outputs of one layer have different names in the IR", "[files]") {
  const layers::Input x({3}, {.name = "x"}), y({3}, {.name = "y"});
  const layers::Dense shared(2, {.name = "shared"});
  const Model model({x, y}, {shared(x), shared(y)});
  const std::string text = model.ir(Stage::graph, {.batch_size = 2});
  CHECK_THAT(text, Contains("\"shared\"") && Contains("\"shared_1\""));
}

TEST_CASE("A mask that a file gives to a layer's call is the mask of its input", "[files]") {
  const auto tensor = [](const char *layer, const char *shape, const char *dtype) {
    return fmt::format(
        R"({{"class_name": "__keras_tensor__", "config": {{"shape": {}, "dtype": "{}", "keras_history": ["{}", 0, 0]}}}})",
        shape, dtype, layer);
  };
  const std::string operation = R"({{"module": "keras.src.ops.numpy", "class_name": "{}", "config": {{"name": "{}"}},
    "name": "{}", "inbound_nodes": [{{"args": [{}], "kwargs": {{}}}}]}})";
  const std::string text = fmt::format(
      R"({{"module": "keras", "class_name": "Functional", "config": {{"name": "m", "trainable": true, "layers": [
        {{"module": "keras.layers", "class_name": "InputLayer", "config": {{"batch_shape": [null, 2, 3], "dtype": "float32", "name": "x"}}, "name": "x", "inbound_nodes": []}},
        {}, {},
        {{"module": "keras.layers", "class_name": "GlobalAveragePooling1D", "config": {{"name": "mean"}}, "name": "mean",
          "inbound_nodes": [{{"args": [{}], "kwargs": {{"mask": {}}}}}]}}],
        "input_layers": [["x", 0, 0]], "output_layers": [["mean", 0, 0]]}}}})",
      fmt::format(fmt::runtime(operation), "GetItem", "first", "first",
                  input + R"(, [{"class_name": "__ellipsis__", "config": {}}, 0])"),
      fmt::format(fmt::runtime(operation), "Greater", "above", "above",
                  tensor("first", "[null, 2]", "float32") + ", 1"),
      input, tensor("above", "[null, 2]", "bool"));
  const Model model = Model::from_config(Config::parse(text));
  CHECK(numbers(model.predict(counted({1, 2, 3}), {.verbose = 0})) == std::vector<double>{3, 4, 5});
  const Model again = Model::from_config(Config::parse(model.to_json()));
  CHECK(numbers(again.predict(counted({1, 2, 3}), {.verbose = 0})) == std::vector<double>{3, 4, 5});
  CHECK(again.to_json() == model.to_json());
}

TEST_CASE("A model adds or drops a last axis of extent 1 where its Input's rank asks for it", "[files]") {
  const layers::Input flat({3}), column({3, 1});
  const Model doubled({flat}, {flat * 2.0}), halved({column}, {column * 0.5});
  const layers::Input x({3, 1}), y({3});
  const Model both({x, y}, {doubled(x), halved(y)});
  const Tensors found = both.predict_all(Tensors{counted({2, 3, 1}), counted({2, 3})}, {.verbose = 0});
  CHECK(found[0].shape() == Shape{2, 3});
  CHECK(numbers(found[0]) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(found[1].shape() == Shape{2, 3, 1});
  CHECK(numbers(found[1]) == std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5});
  CHECK_THROWS_WITH(doubled(layers::Input({3, 2})), Contains("Expected shape (None, 3)"));
}
