// Python's format specifications for numbers: [[fill]align][sign][z][#][0][width][grouping][.precision][type].
// SPDX-License-Identifier: Apache-2.0
#include "frontend/callbacks/PythonFormat.h"
#include "halftone/Error.h"
#include "runtime/policy/PythonText.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace halftone::detail {

namespace {

[[noreturn]] void refuse(const std::string &message) { throw Error(ErrorKind::value_error, message); }

struct Spec {
  std::string fill = " "; // one UTF-8 character
  char align = '>', sign = '-', grouping = 0, type = 0;
  bool isAlternate = false, hasNoNegativeZero = false;
  size_t width = 0;
  std::optional<int> precision;
};

/// The parts of a formatted number.
struct Parts {
  std::string sign, prefix, digits, rest; // "-", "0x", "1234", ".5e+03"
};

constexpr bool isAlign(char c) { return c == '<' || c == '>' || c == '=' || c == '^'; }
constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }

class SpecReader {
public:
  explicit SpecReader(std::string_view text) : left_(text) {}

  Spec read(const char *type) {
    Spec spec;
    bool hasFill = false, hasAlign = false;
    size_t first = left_.empty() ? 0 : 1; // the length of the first character in bytes
    while (first < left_.size() && (static_cast<unsigned char>(left_[first]) & 0xc0) == 0x80)
      ++first;
    if (left_.size() > first && isAlign(left_[first])) {
      spec.fill = left_.substr(0, first);
      left_.remove_prefix(first);
      hasFill = true;
    }
    if (!left_.empty() && isAlign(left_.front())) {
      spec.align = take();
      hasAlign = true;
    }
    if (!left_.empty() && (left_.front() == '+' || left_.front() == '-' || left_.front() == ' '))
      spec.sign = take();
    spec.hasNoNegativeZero = accept('z');
    spec.isAlternate = accept('#');
    if (!hasFill && accept('0')) {
      spec.fill = "0";
      spec.align = hasAlign ? spec.align : '=';
    }
    spec.width = static_cast<size_t>(number("width").value_or(0));
    if (!left_.empty() && (left_.front() == ',' || left_.front() == '_'))
      spec.grouping = take();
    if (accept('.')) {
      spec.precision = number("precision");
      if (!spec.precision)
        refuse("Format specifier missing precision");
    }
    if (left_.size() > 1)
      refuse(fmt::format("Invalid format specifier for object of type '{}'", type));
    spec.type = left_.empty() ? '\0' : take();
    return spec;
  }

private:
  char take() {
    const char c = left_.front();
    left_.remove_prefix(1);
    return c;
  }
  bool accept(char c) {
    const bool is = !left_.empty() && left_.front() == c;
    left_.remove_prefix(is ? 1 : 0);
    return is;
  }
  std::optional<int> number(const char *what) {
    constexpr int most = 255;
    if (left_.empty() || !isDigit(left_.front()))
      return std::nullopt;
    int value = 0;
    while (!left_.empty() && isDigit(left_.front()))
      if (value = value * 10 + (take() - '0'); value > most)
        refuse(fmt::format("the {} in a format specifier must be at most {}", what, most));
    return value;
  }

  std::string_view left_;
};

/// Inserts the separator between groups of `size` digits, from the right. If zeros fill the width, they are added
/// first, until the text has at least `least` characters.
std::string grouped(std::string digits, char separator, size_t size, size_t least) {
  if (!separator)
    return digits;
  const auto lengthOf = [&](size_t count) { return count + (count == 0 ? 0 : (count - 1) / size); };
  size_t count = digits.size();
  while (lengthOf(count) < least)
    ++count;
  digits.insert(0, count - digits.size(), '0');
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % size == 0)
      text += separator;
    text += digits[i];
  }
  return text;
}

std::string laidOut(const Spec &spec, const Parts &parts) {
  const size_t around = parts.sign.size() + parts.prefix.size() + parts.rest.size();
  const bool fillsZeros = spec.fill == "0" && spec.align == '=';
  const bool isBinary = spec.type == 'b' || spec.type == 'o' || spec.type == 'x' || spec.type == 'X';
  const std::string digits = grouped(parts.digits, spec.grouping, isBinary ? 4 : 3,
                                     fillsZeros && spec.width > around ? spec.width - around : 0);
  const size_t length = around + digits.size(), room = spec.width > length ? spec.width - length : 0;
  const auto filled = [&](size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i)
      text += spec.fill;
    return text;
  };
  const std::string head = parts.sign + parts.prefix, tail = digits + parts.rest;
  switch (spec.align) {
  case '<':
    return head + tail + filled(room);
  case '^':
    return filled(room / 2) + head + tail + filled(room - room / 2);
  case '=':
    return head + filled(room) + tail;
  default:
    return filled(room) + head + tail;
  }
}

std::string signOf(const Spec &spec, bool isNegative) {
  return isNegative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
}

/// Adds a decimal point after the leading digits if there is none.
std::string withPoint(std::string text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  return text.find('.') == text.npos ? text.insert(end, ".") : text;
}

/// Fixed-point or scientific notation, depending on the value and the precision. Type None keeps a digit after the
/// point, and switches to an exponent one digit earlier than type g.
std::string general(const Spec &spec, double value) {
  const int precision = std::max(spec.precision.value_or(6), 1);
  const bool isNone = !spec.type;
  const std::string scientific = fmt::format("{:.{}e}", value, precision - 1);
  const size_t e = scientific.find('e');
  const int exponent = std::stoi(scientific.substr(e + 1));
  const auto stripped = [&](std::string digits) {
    if (spec.isAlternate)
      return withPoint(std::move(digits));
    if (digits.find('.') != digits.npos) {
      digits.erase(digits.find_last_not_of('0') + 1);
      digits.erase(digits.find_last_not_of('.') + 1);
    }
    return digits;
  };
  if (exponent < -4 || exponent >= precision - (isNone ? 1 : 0))
    return stripped(scientific.substr(0, e)) + scientific.substr(e);
  std::string text = stripped(fmt::format("{:.{}f}", value, precision - 1 - exponent));
  return isNone && text.find('.') == text.npos ? text + ".0" : text;
}

/// The magnitude of a value, in lower case.
std::string magnitude(const Spec &spec, double value) {
  const int precision = spec.precision.value_or(6);
  std::string text;
  switch (spec.type) {
  case '\0':
    text = spec.precision ? general(spec, value) : pythonRepr(value);
    break;
  case 'e':
  case 'E':
    text = fmt::format("{:.{}e}", value, precision);
    break;
  case 'f':
  case 'F':
  case '%':
    text = fmt::format("{:.{}f}", spec.type == '%' ? value * 100 : value, precision);
    break;
  default:
    text = general(spec, value);
  }
  return spec.isAlternate ? withPoint(std::move(text)) : text;
}

std::string formattedFloat(const Spec &spec, double value) {
  const bool isUpper = spec.type == 'E' || spec.type == 'F' || spec.type == 'G';
  bool isNegative = std::signbit(value) && !std::isnan(value);
  Parts parts;
  if (std::isfinite(value)) {
    std::string text = magnitude(spec, std::abs(value));
    if (isUpper)
      std::ranges::replace(text, 'e', 'E');
    const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    parts.digits = text.substr(0, end);
    parts.rest = text.substr(end);
    if (spec.hasNoNegativeZero && text.substr(0, text.find_first_of("eE")).find_first_of("123456789") == text.npos)
      isNegative = false;
  } else {
    parts.rest = std::isnan(value) ? isUpper ? "NAN" : "nan" : isUpper ? "INF" : "inf";
  }
  if (spec.type == '%')
    parts.rest += '%';
  parts.sign = signOf(spec, isNegative);
  return laidOut(spec, parts);
}

bool isFloatType(char type) { return type && std::string_view("eEfFgG%n").find(type) != std::string_view::npos; }

void checkGrouping(const Spec &spec, std::string_view allowed) {
  if (spec.grouping && spec.type && allowed.find(spec.type) == allowed.npos)
    refuse(fmt::format("Cannot specify '{}' with '{}'.", spec.grouping, spec.type));
}

} // namespace

std::string pythonFormat(double value, std::string_view text) {
  const Spec spec = SpecReader(text).read("float");
  if (spec.type && !isFloatType(spec.type))
    refuse(fmt::format("Unknown format code '{}' for object of type 'float'", spec.type));
  checkGrouping(spec, "eEfFgG%");
  return formattedFloat(spec, value);
}

std::string pythonFormat(int64_t value, std::string_view text) {
  const Spec spec = SpecReader(text).read("int");
  if (isFloatType(spec.type) && spec.type != 'n') {
    checkGrouping(spec, "eEfFgG%");
    return formattedFloat(spec, static_cast<double>(value));
  }
  if (spec.type && std::string_view("bdoxXcn").find(spec.type) == std::string_view::npos)
    refuse(fmt::format("Unknown format code '{}' for object of type 'int'", spec.type));
  checkGrouping(spec, spec.grouping == ',' ? "d" : "dboxX");
  if (spec.precision)
    refuse("Precision not allowed in integer format specifier");
  if (spec.hasNoNegativeZero)
    refuse("Negative zero coercion (z) not allowed in format specifier with integer presentation type");
  Parts parts;
  if (spec.type == 'c') {
    if (spec.sign != '-' || spec.isAlternate)
      refuse("Sign and alternate form (#) not allowed with integer format specifier 'c'");
    if (value < 1 || value > 127)
      refuse("integer format specifier 'c' expects an ASCII character");
    parts.rest = std::string(1, static_cast<char>(value));
    return laidOut(spec, parts);
  }
  const uint64_t size = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  parts.sign = signOf(spec, value < 0);
  const bool isPlain = !spec.type || spec.type == 'd' || spec.type == 'n';
  parts.digits = fmt::format(fmt::runtime(fmt::format("{{:{}}}", isPlain ? 'd' : spec.type)), size);
  if (spec.isAlternate && !isPlain)
    parts.prefix = {'0', spec.type};
  return laidOut(spec, parts);
}

} // namespace halftone::detail
