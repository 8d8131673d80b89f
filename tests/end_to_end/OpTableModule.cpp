// Creates modules of cases, and the values of their operands.
// SPDX-License-Identifier: Apache-2.0
#include "OpTable.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Convert.h"
#include "tools/halftone-run/Initial.h"
#include "tools/halftone-run/InputSpec.h"
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>

namespace halftone::test {
namespace {

std::string feedName(const OpOperand &operand) {
  const char *values = operand.values == Values::special ? "special"
                       : operand.values == Values::index ? "index"
                                                         : "moderate";
  return fmt::format("{}_{}{}", values, operand.type, operand.index);
}

/// The distinct operands, in the order of first use.
std::vector<OpOperand> distinctOperands(const std::vector<OpCase> &cases) {
  std::vector<OpOperand> operands;
  std::map<std::string, bool> seen;
  for (const OpCase &each : cases)
    for (const OpOperand &operand : each.operands)
      if (!std::exchange(seen[feedName(operand)], true))
        operands.push_back(operand);
  return operands;
}

constexpr double infinity = std::numeric_limits<double>::infinity();
// clang-format off
constexpr double specialReals[] = {
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0, 3.0, -3.0, infinity, -infinity,
    std::numeric_limits<double>::quiet_NaN(), 1e-8, -1e-8, 0x1p-24, 0x1p-25, 0x1p-14, -0x1p-126, 0x1p-149, 0x1p-133,
    65504.0, 65520.0, -65519.0, 448.0, 464.0, -57344.0, 61440.0, 3.3895313892515355e38, -3.4028234663852886e38,
    1e300, -1e-300, 0x1p-1074, 88.5, -87.5, -104.0, 11.0, -17.0, 0x1.000001p0, 0x1.002p0, 0x1.01p0, 100.0, 255.0,
    256.0, -129.0, 127.5, 2147483647.0, -2147483648.5, 4294967296.0, 9.3e18, -9.3e18, 1.9e19, 3.14159265358979,
    -1.5707963267948966, 1e5, 1e10, 0.999999, -0.9999999};
// clang-format on

double specialReal(int64_t i, tools::Random &random) {
  return i % 3 == 2 ? random.uniform(-4, 4) : specialReals[static_cast<size_t>(i - i / 3) % std::size(specialReals)];
}

/// The bounds of the type, small values, its width and nearby values.
int64_t specialWhole(int64_t i, int width, bool isUnsigned, tools::Random &random) {
  const uint64_t ones = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1, top = uint64_t(1) << (width - 1);
  const std::array<uint64_t, 16> list = {
      0,   1,        ones,    top, top - 1, 2, 3, 7, uint64_t(width), uint64_t(width) - 1, uint64_t(width) + 1,
      100, ones - 2, top + 1, 10,  0};
  uint64_t bits = i % 3 == 2 ? random.next() & ones : list[static_cast<size_t>(i - i / 3) % list.size()];
  if (!isUnsigned && width < 64 && (bits & top))
    bits |= ~ones;
  return static_cast<int64_t>(bits);
}

Tensor valuesOf(const OpOperand &operand) {
  const TensorType type = *tools::parseTensorType(operand.type);
  tools::Random random(17, feedName(operand));
  const int64_t shift = operand.index * 7,
                rotation = operand.index ? 1 + operand.index : 1; // so that other pairs of values are combined
  const bool isUnsigned = type.str().find("ui") != std::string::npos;
  const bool special = operand.values == Values::special;
  if (is_float(type.dtype)) {
    std::vector<double> values;
    for (int64_t i = 0; i < type.elements(); ++i)
      values.push_back(special ? specialReal(i * rotation + shift, random) : random.uniform(-2, 2));
    return tools::tensorOf(type, values);
  }
  std::vector<int64_t> values;
  for (int64_t i = 0; i < type.elements(); ++i)
    values.push_back(type.dtype == DType::bool_        ? int64_t(random.below(2))
                     : operand.values == Values::index ? int64_t(random.below(8)) - 1
                     : special ? specialWhole(i * rotation + shift, int(itemsize(type.dtype)) * 8, isUnsigned, random)
                               : int64_t(random.below(9)) - (isUnsigned ? 0 : 4));
  Tensor tensor = TensorAccess::allocate(type.dtype, Shape(type.shape));
  convert(DType::int64, values.data(), type.dtype, TensorAccess::mutableData(tensor), type.elements()).orThrow();
  return tensor;
}

} // namespace

std::string moduleOf(const std::vector<OpCase> &cases) {
  std::string arguments, body, names, types, values;
  std::map<std::string, std::string> numbers;
  for (const OpOperand &operand : distinctOperands(cases)) {
    const std::string name = feedName(operand), number = fmt::format("%a{}", numbers.size());
    arguments += fmt::format("{}{}: tensor<{}> {{halftone.name = \"{}\"}}", numbers.empty() ? "" : ", ", number,
                             operand.type, name);
    numbers[name] = number;
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    std::string text = cases[i].text;
    for (size_t operand = 0; operand < cases[i].operands.size(); ++operand)
      text.replace(text.find(fmt::format("${}", operand)), 2, numbers.at(feedName(cases[i].operands[operand])));
    const bool one = cases[i].results == 1;
    body += fmt::format("  %r{}{} = {} loc(\"{}\"(\"ops\":1:1))\n", i, one ? "" : fmt::format(":{}", cases[i].results),
                        text, cases[i].label);
    names += fmt::format("{}tensor<{}> {{halftone.name = \"{}\"}}", i ? ", " : "", cases[i].result, cases[i].label);
    types += fmt::format("{}tensor<{}>", i ? ", " : "", cases[i].result);
    values += fmt::format("{}%r{}{}", i ? ", " : "", i, one ? "" : fmt::format("#{}", cases[i].fetched));
  }
  return fmt::format("func.func @main({}) -> ({}) {{\n{}  return {} : {}\n}}\n", arguments, names, body, values, types);
}

std::vector<Tensor> feedsOf(const std::vector<OpCase> &cases) {
  std::vector<Tensor> feeds;
  for (const OpOperand &operand : distinctOperands(cases))
    feeds.push_back(valuesOf(operand));
  return feeds;
}

} // namespace halftone::test
