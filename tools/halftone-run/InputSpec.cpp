// Parses input specs and creates their tensors.
// SPDX-License-Identifier: Apache-2.0
#include "InputSpec.h"
#include "Initial.h"
#include "UsageError.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/Convert.h"
#include "runtime/base/MappedFile.h"
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <vector>

namespace halftone::tools {
namespace {

constexpr std::array storable = {DType::bool_,   DType::uint8,         DType::uint16,     DType::uint32,
                                 DType::uint64,  DType::int8,          DType::int16,      DType::int32,
                                 DType::int64,   DType::float16,       DType::bfloat16,   DType::float32,
                                 DType::float64, DType::float8_e4m3fn, DType::float8_e5m2};

const char *const forms = "TYPE=VALUES, TYPE=@FILE, @FILE.npy or TYPE=random, with TYPE like 2x3xf32";

bool parseDimension(std::string_view text, int64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

std::string describe(const Parameter &parameter) {
  return parameter.name.empty() ? "the input" : "input '" + parameter.name + "'";
}

std::vector<std::string> splitValues(std::string_view text) {
  std::vector<std::string> words;
  const char *separators = " \t\r\n,[]";
  for (size_t at = text.find_first_not_of(separators); at != text.npos;) {
    size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return words;
}

template <class T> bool parseWhole(const std::string &word, T &value) {
  const char *begin = word.c_str() + (word.size() > 1 && word[0] == '+');
  auto [end, error] = std::from_chars(begin, word.c_str() + word.size(), value);
  return error == std::errc() && end == word.c_str() + word.size();
}

/// Parses `word` into one element. Returns false if it is not a scalar that the dtype can represent.
bool parseElement(const std::string &word, DType dtype, std::byte *out) {
  if (dtype == DType::bool_) {
    bool truth = word == "true" || word == "1";
    *out = std::byte(truth);
    return truth || word == "false" || word == "0";
  }
  if (is_float(dtype)) {
    char *end = nullptr;
    if (dtype == DType::float32) { // parsed as float, so that the value is rounded once
      float value = std::strtof(word.c_str(), &end);
      std::memcpy(out, &value, sizeof value);
      return end == word.c_str() + word.size();
    }
    double value = std::strtod(word.c_str(), &end);
    return end == word.c_str() + word.size() && convert(DType::float64, &value, dtype, out, 1).isOk();
  }
  if (dtype == DType::uint64) {
    uint64_t value = 0;
    bool good = parseWhole(word, value);
    std::memcpy(out, &value, sizeof value);
    return good;
  }
  int64_t value = 0;
  if (!parseWhole(word, value) || !convert(DType::int64, &value, dtype, out, 1).isOk())
    return false;
  int64_t back = 0; // integers wrap: a value that does not convert back does not fit
  return convert(dtype, out, DType::int64, &back, 1).isOk() && back == value;
}

Tensor parseValues(const InputSpec &spec, const Parameter &parameter) {
  Tensor tensor = makeTensor(parameter.type).valueOrThrow();
  std::vector<std::string> words = splitValues(spec.text);
  const int64_t elements = parameter.type.elements(), size = itemsize(parameter.type.dtype);
  if (static_cast<int64_t>(words.size()) != elements && words.size() != 1)
    throw Error(ErrorKind::value_error, fmt::format("{}: expected {} values for {}, or one for all, got {}",
                                                    describe(parameter), elements, parameter.type.str(), words.size()));
  std::byte *data = TensorAccess::mutableData(tensor);
  std::vector<std::byte> element(static_cast<size_t>(size));
  for (int64_t i = 0; i < elements; ++i) {
    const std::string &word = words.size() == 1 ? words[0] : words[i];
    if ((i == 0 || words.size() != 1) && !parseElement(word, parameter.type.dtype, element.data()))
      throw UsageError(
          fmt::format("{}: '{}' is not a valid {}", describe(parameter), word, name(parameter.type.dtype)));
    std::memcpy(data + i * size, element.data(), element.size());
  }
  return tensor;
}

Tensor readRaw(const InputSpec &spec, const Parameter &parameter) {
  const StatusOr<std::shared_ptr<MappedFile>> file = MappedFile::open(spec.text);
  if (!file)
    throw Error(file.status().kind(), fmt::format("{}: {}", describe(parameter), file.status().message()));
  const int64_t bytes = std::ssize((*file)->bytes()), expected = parameter.type.bytes();
  if (bytes != expected)
    throw Error(ErrorKind::value_error, fmt::format("{}: {} holds {} bytes, but {} has {}", describe(parameter),
                                                    spec.text, bytes, parameter.type.str(), expected));
  Tensor tensor = makeTensor(parameter.type).valueOrThrow();
  std::ranges::copy((*file)->bytes(), TensorAccess::mutableData(tensor));
  if (parameter.type.dtype == DType::bool_)
    for (int64_t i = 0; i < bytes; ++i)
      if (auto value = TensorAccess::data(tensor)[i]; value != std::byte(0) && value != std::byte(1))
        throw Error(ErrorKind::value_error,
                    fmt::format("{}: {}: byte {} is {}, but a bool is 0 or 1", describe(parameter), spec.text, i,
                                std::to_integer<int>(value)));
  return tensor;
}

} // namespace

std::optional<TensorType> parseTensorType(std::string_view text) {
  TensorType type;
  for (size_t cross = text.find('x'); cross != text.npos; cross = text.find('x')) {
    int64_t extent = 0;
    if (!parseDimension(text.substr(0, cross), extent))
      return std::nullopt;
    type.shape.push_back(extent);
    text.remove_prefix(cross + 1);
  }
  for (DType dtype : storable)
    if (TensorType{dtype, {}}.str() == text) {
      type.dtype = dtype;
      return type;
    }
  return std::nullopt;
}

bool isShape(std::string_view text) { return parseTensorType(std::string(text) + "xf32").has_value(); }

InputSpec parseInputSpec(std::string_view text) {
  const std::string whole(text);
  auto bad = [&](const std::string &why) {
    return UsageError(fmt::format("input '{}': {}; expected [NAME=]SPEC, SPEC being {}", whole, why, forms));
  };
  InputSpec spec;
  auto takeType = [&] {
    size_t equals = text.find('=');
    std::optional<TensorType> type = parseTensorType(text.substr(0, equals));
    if (!type || equals == text.npos)
      return false;
    spec.type = type;
    text.remove_prefix(equals + 1);
    return true;
  };
  auto isBare = [](std::string_view rest) { return rest.starts_with('@') || rest == "random"; };
  if (size_t equals = text.find('='); text.starts_with('@') && equals != text.npos) {
    // "@symbol=SPEC", unless it is the name of a file
    std::string_view rest = text.substr(equals + 1);
    if (isBare(rest) || parseTensorType(rest.substr(0, rest.find('=')))) {
      spec.name = text.substr(0, equals);
      text = rest;
    }
  }
  if (!isBare(text) && !takeType()) {
    size_t equals = text.find('=');
    if (equals == text.npos || equals == 0 || !spec.name.empty())
      throw bad("neither a type nor a name is given");
    spec.name = text.substr(0, equals);
    text.remove_prefix(equals + 1);
    if (!isBare(text) && !takeType())
      throw bad(fmt::format("'{}' is not a type", text.substr(0, text.find('='))));
  }
  if (spec.type)
    if (Status status = verify(*spec.type); !status.isOk())
      throw bad(status.message());
  if (text == "random") {
    spec.source = InputSpec::Source::random;
  } else if (text.starts_with('@')) {
    spec.text = text.substr(1);
    if (spec.text.empty())
      throw bad("no file name after '@'");
    if (!spec.type && !spec.text.ends_with(".npy"))
      throw bad("a file without a type must be .npy");
    spec.source = spec.type ? InputSpec::Source::raw : InputSpec::Source::npy;
  } else {
    spec.text = text;
  }
  return spec;
}

Tensor readInput(const InputSpec &spec, const Parameter &expected, uint64_t seed) {
  auto check = [&](const TensorType &type) {
    if (type != expected.type)
      throw Error(ErrorKind::value_error,
                  fmt::format("{}: expected {}, got {}", describe(expected), expected.type.str(), type.str()));
  };
  if (spec.type)
    check(*spec.type);
  switch (spec.source) {
  case InputSpec::Source::values:
    return parseValues(spec, expected);
  case InputSpec::Source::raw:
    return readRaw(spec, expected);
  case InputSpec::Source::random:
    return randomTensor(expected, seed);
  case InputSpec::Source::npy:
    break;
  }
  Tensor tensor = Tensor::load_npy(spec.text);
  check(typeOf(tensor));
  return tensor;
}

Tensor randomTensor(const Parameter &parameter, uint64_t seed) {
  Random random(seed, parameter.name);
  std::vector<double> values(static_cast<size_t>(parameter.type.elements()));
  for (double &value : values)
    value = parameter.type.dtype == DType::bool_ ? double(random.below(2))
            : is_float(parameter.type.dtype)     ? random.uniform(-1, 1)
                                                 : double(random.below(10));
  return tensorOf(parameter.type, values);
}

} // namespace halftone::tools
