// Compares scalar bodies with the interpreter: each is emitted on constants, which arith and math fold.
// SPDX-License-Identifier: Apache-2.0
#include "../Modules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "runtime/base/Half.h"

using namespace mlir;
using namespace halftone;
using namespace halftone::dialect;
using namespace halftone::dialect::testing;

namespace {

// A constant as the interpreter represents it: a float, or an integer's bits in the signedness of `type`.
Attribute scalarConstant(const TensorData &x, int64_t i) {
  Type type = arithmeticType(x.type.getElementType());
  if (x.isFloat())
    return FloatAttr::get(type, x.low[i]);
  return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), x.integers[i], true, true));
}

// The scalar body of the single elementwise op in `text`, folded for every element. The body on a vector is only
// verified, because arith cannot fold every op on vectors.
std::vector<Attribute> fold(const std::string &text, const std::vector<TensorData> &operands, bool vectors) {
  auto source = parse(text);
  ElementwiseOpInterface op;
  source->walk([&](ElementwiseOpInterface found) { op = found; });
  REQUIRE(op);
  OpBuilder builder(context());
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module(ModuleOp::create(loc));
  builder.setInsertionPointToStart(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "f", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  int64_t size = operands[0].size();
  SmallVector<Value> results;
  for (int64_t i = 0; i < (vectors ? 1 : size); ++i) {
    SmallVector<Value> scalars;
    for (const TensorData &operand : operands) {
      auto attr = cast<TypedAttr>(scalarConstant(operand, i));
      if (vectors) {
        SmallVector<Attribute> elements;
        for (int64_t e = 0; e < size; ++e)
          elements.push_back(scalarConstant(operand, e));
        attr = DenseElementsAttr::get(VectorType::get({size}, attr.getType()), elements);
      }
      scalars.push_back(arith::ConstantOp::create(builder, loc, attr));
    }
    results.push_back(op.buildScalar(builder, loc, scalars));
    Type element = arithmeticType(getElementTypeOrSelf(op->getResult(0).getType()));
    CHECK(getElementTypeOrSelf(results.back().getType()) == element);
  }
  func::ReturnOp::create(builder, loc, results);
  function.setType(builder.getFunctionType({}, ValueRange(results).getTypes()));
  REQUIRE(succeeded(verify(*module)));
  if (vectors)
    return {};
  llvm::DenseMap<Value, Attribute> known;
  for (Operation &each : function.getBody().front().without_terminator()) {
    SmallVector<Attribute> constants;
    for (Value operand : each.getOperands())
      constants.push_back(known.at(operand));
    INFO(text << " " << each.getName().getStringRef().str());
    if (auto truncate = dyn_cast<arith::TruncFOp>(each)) { // arith folds it only if exact
      APFloat value = cast<FloatAttr>(constants[0]).getValue();
      bool inexact = false;
      value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
      known[truncate.getResult()] = FloatAttr::get(truncate.getType(), value);
      continue;
    }
    SmallVector<OpFoldResult> folded;
    REQUIRE(succeeded(each.fold(constants, folded)));
    REQUIRE(folded.size() == 1);
    auto value = dyn_cast<Value>(folded[0]);
    known[each.getResult(0)] = value ? known.at(value) : cast<Attribute>(folded[0]);
  }
  std::vector<Attribute> values;
  for (Value result : results)
    values.push_back(known.at(result));
  return values;
}

void check(const std::string &op, const std::string &attributes, const std::vector<TensorData> &operands,
           const std::string &resultType, const std::string &typeText) {
  std::string arguments, list;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string type;
    llvm::raw_string_ostream(type) << operands[i].type;
    arguments += (i ? ", %" : "%") + std::to_string(i) + ": " + type;
    list += (i ? ", %" : "%") + std::to_string(i);
  }
  std::string body = "%y = halftone." + op + " " + list + " " + attributes + " : " + typeText;
  std::string result = "tensor<" + resultType + ">";
  std::string text =
      "func.func @main(" + arguments + ") -> " + result + " {\n" + body + "\nreturn %y : " + result + "\n}";
  TensorData expected = evaluate(body, resultType, operands);
  DType dtype = *dtypeOf(expected.type.getElementType());
  CHECK(fold(text, operands, true).empty());
  std::vector<Attribute> values = fold(text, operands, false);
  REQUIRE(values.size() == static_cast<size_t>(expected.size()));
  for (int64_t i = 0; i < expected.size(); ++i) {
    INFO(body << " at " << i);
    if (expected.isFloat()) {
      double value = cast<FloatAttr>(values[i]).getValue().convertToDouble();
      INFO(value << " against " << expected.low[i]);
      CHECK(sameBits(roundTo(dtype, value), expected.low[i]));
    } else {
      const APInt value = cast<IntegerAttr>(values[i]).getValue();
      CHECK(value == APInt(value.getBitWidth(), expected.integers[i], true, true));
    }
  }
}

const double inf = INFINITY, notANumber = NAN;

std::string shaped(size_t count, const std::string &type) { return std::to_string(count) + "x" + type; }

void checkBinary(const std::string &op, const std::string &type, const std::vector<int64_t> &a,
                 const std::vector<int64_t> &b) {
  std::string tensor = shaped(a.size(), type);
  std::string result = op.starts_with("compare") ? shaped(a.size(), "i1") : tensor;
  check(op, "", {wholes(tensor, a), wholes(tensor, b)}, result, "tensor<" + tensor + ">");
}
void checkBinary(const std::string &op, const std::string &type, const std::vector<double> &a,
                 const std::vector<double> &b) {
  std::string tensor = shaped(a.size(), type);
  std::string result = op.starts_with("compare") ? shaped(a.size(), "i1") : tensor;
  check(op, "", {reals(tensor, a), reals(tensor, b)}, result, "tensor<" + tensor + ">");
}

} // namespace

TEST_CASE("scalar bodies of unary ops fold to the interpreter's results") {
  std::vector<double> any = {-2.5, -0.5, -0.0, 0.0, 0.5, 1.5, 3, inf, -inf, notANumber}, positive = {0.25, 1, 2, 9};
  for (std::string type : {"f32", "f64", "f16", "bf16"}) {
    for (const char *op : {"abs", "neg", "sign", "relu", "floor", "ceil", "round_even"})
      check(op, "", {reals(shaped(10, type), any)}, shaped(10, type), "tensor<" + shaped(10, type) + ">");
    check("is_finite", "", {reals(shaped(10, type), any)}, "10xi1", "tensor<" + shaped(10, type) + ">");
    for (const char *op : {"sqrt"})
      check(op, "", {reals(shaped(4, type), positive)}, shaped(4, type), "tensor<" + shaped(4, type) + ">");
  }
  for (std::string type : {"i8", "i32", "i64", "ui8", "ui64"}) {
    bool isSigned = type[0] == 'i';
    std::vector<int64_t> values = {0, 1, 5, isSigned ? -7 : 200, isSigned ? -128 : 255};
    if (type == "i64")
      values.push_back(INT64_MIN);
    for (const char *op : {"abs", "neg", "sign", "relu", "not"})
      check(op, "", {wholes(shaped(values.size(), type), values)}, shaped(values.size(), type),
            "tensor<" + shaped(values.size(), type) + ">");
  }
  check("not", "", {wholes("2xi1", {0, 1})}, "2xi1", "tensor<2xi1>");
}

TEST_CASE("scalar bodies of float binary ops fold to the interpreter's results") {
  std::vector<double> a = {1.5, -2, 7, 0.0, -0.0, inf, notANumber, 1, 3, -inf},
                      b = {0.5, 4, -2, -0.0, 0.0, inf, 1, notANumber, 3, 1};
  for (std::string type : {"f32", "f64", "f16"})
    for (const char *op : {"add", "sub", "mul", "div", "maximum", "minimum", "compare eq", "compare ne", "compare lt",
                           "compare le", "compare gt", "compare ge"})
      checkBinary(op, type, a, b);
  checkBinary("rem", "f32", std::vector<double>{7, -7, 5.5}, std::vector<double>{3, 3, -2});
}

TEST_CASE("scalar bodies of integer binary ops fold to the interpreter's results") {
  std::vector<const char *> all = {"add",        "sub",        "mul",        "div",        "rem",        "maximum",
                                   "minimum",    "and",        "or",         "xor",        "shl",        "shr",
                                   "compare eq", "compare ne", "compare lt", "compare le", "compare gt", "compare ge"};
  for (const char *op : all) {
    checkBinary(op, "i8", std::vector<int64_t>{127, -128, -7, 7, 5, -128, 1}, {1, -1, 2, -2, 0, 100, 7});
    checkBinary(op, "i32", std::vector<int64_t>{INT32_MAX, INT32_MIN, -7, 9}, {2, -1, 0, 33});
    checkBinary(op, "i64", std::vector<int64_t>{INT64_MAX, INT64_MIN, -7, 9}, {2, -1, 0, 65});
    checkBinary(op, "ui8", std::vector<int64_t>{255, 200, 7, 1}, {1, 100, 0, 8});
    checkBinary(op, "ui64", std::vector<int64_t>{-1, -2, 7, 1}, {1, 3, 0, 64});
  }
  checkBinary("pow", "i8", std::vector<int64_t>{3, -3, 2, -1, 1, -128, 0, 0, -1},
              {5, 3, 8, -128, -5, -1, -128, 0, -127});
  checkBinary("pow", "i64", std::vector<int64_t>{3, -7, 10, INT64_MIN}, {39, 22, 19, 2});
  checkBinary("pow", "ui8", std::vector<int64_t>{3, 255, 2, 0}, {200, 255, 7, 0});
  for (const char *op : {"and", "or", "xor", "compare lt", "compare ge", "compare eq"})
    checkBinary(op, "i1", std::vector<int64_t>{0, 0, 1, 1}, {0, 1, 0, 1});
}

TEST_CASE("scalar bodies of select and casts fold to the interpreter's results") {
  check("select", "", {wholes("2xi1", {1, 0}), reals("2xf32", {1, 2}), reals("2xf32", {3, 4})}, "2xf32",
        "tensor<2xf32>");
  auto cast = [](const std::string &to, const TensorData &x, const std::string &attributes = "") {
    std::string from, result = shaped(x.size(), to);
    llvm::raw_string_ostream(from) << x.type;
    check("cast", attributes, {x}, result, from + " to tensor<" + result + ">");
  };
  std::vector<double> edges = {-1.75, 1.75, 0x1p68, -0x1p68, notANumber, inf, -inf,
                               200.5, -0.0, 127,    128,     255,        256, -0.5};
  for (std::string to : {"i8", "i32", "i64", "ui8", "ui32", "ui64", "i1"}) {
    cast(to, reals("14xf32", edges));
    cast(to, reals("14xf64", edges));
    cast(to, wholes("4xi32", {-1, 0, 300, INT32_MIN}));
    cast(to, wholes("3xui8", {0, 1, 255}));
    cast(to, wholes("2xi1", {0, 1}));
  }
  int64_t tie = (int64_t(1) << 40) + (int64_t(1) << 32), far = (int64_t(1) << 62) + (int64_t(1) << 54);
  for (std::string to : {"f16", "bf16", "f32", "f64"}) {
    cast(to, wholes("9xi64", {0, -5, tie, tie + 1, tie - 1, -tie - 1, far + 1, far, INT64_MIN}));
    cast(to, wholes("4xui64", {-1, 1, tie + 1, far + 1}));
    cast(to, wholes("4xi32", {INT32_MIN, 16777217, 2049, -1}));
    cast(to, wholes("2xi1", {0, 1}));
    cast(to, reals("8xf64", {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, 1 + 0x1p-8 + 0x1p-40, -1 - 0x1p-11 - 0x1p-40, 1e300,
                             notANumber, -inf, 0x1p-134 + 0x1p-160}));
    cast(to, reals("4xf64", {1e300, -1e300, inf, notANumber}), "{saturate = true}");
    cast(to, reals("4xf32", {0x1p127, -0x1p127, -inf, notANumber}), "{saturate = true}");
  }
  cast("f8E4M3FN", reals("4xf32", {1000, -1000, inf, notANumber}), "{saturate = true}");
}
