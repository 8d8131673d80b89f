// Concatenates literals to larger constants, and reads the arrays of recorded calls.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Literals.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Error.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace halftone::detail {

namespace {

using Json = nlohmann::ordered_json;
constexpr size_t maxElements = 4096;

struct Lists {
  const std::string &owner;
  std::vector<int64_t> dims{};
  std::vector<double> values{};

  [[noreturn]] void refuse() const {
    throw Error(ErrorKind::value_error,
                fmt::format("{} has an array among its arguments that is not a nested list of numbers", owner));
  }
  /// Sets `dims` from the first element of each list.
  void measure(const Json &json) {
    if (!json.is_array())
      return;
    dims.push_back(std::ssize(json));
    if (!json.empty())
      measure(json[0]);
  }
  void add(const Json &json, size_t axis) {
    const bool isList = axis < dims.size();
    if (json.is_array() != isList || (isList && std::ssize(json) != dims[axis]))
      refuse();
    if (isList) {
      for (const Json &each : json)
        add(each, axis + 1);
      return;
    }
    if (!json.is_number() && !json.is_boolean())
      refuse();
    values.push_back(json.is_boolean() ? static_cast<double>(json.get<bool>()) : json.get<double>());
    if (values.size() > maxElements)
      throw Error(ErrorKind::not_implemented_error,
                  fmt::format("{} has an array of more than {} elements among its arguments: put it into a layer's "
                              "weight",
                              owner, maxElements));
  }
};

} // namespace

Value vectorOf(const std::vector<double> &values, DType dtype) {
  constexpr size_t most = 64; // elements per literal
  std::vector<Value> chunks;
  for (size_t begin = 0; begin < values.size(); begin += most) {
    const std::vector<double> chunk(values.begin() + static_cast<int64_t>(begin),
                                    values.begin() + static_cast<int64_t>(std::min(begin + most, values.size())));
    chunks.push_back(tracing().literal(Tensor(chunk, {std::ssize(chunk)}).astype(dtype)));
  }
  return chunks.size() == 1 ? chunks[0] : tracing().concat(chunks, 0);
}

bool isRecordedArray(const Json &json) {
  if (!json.is_object())
    return false;
  const auto kind = json.find("class_name"), config = json.find("config");
  return kind != json.end() && (*kind == "__numpy__" || *kind == "__tensor__") && config != json.end() &&
         config->is_object() && config->contains("value") && config->value("dtype", Json()).is_string();
}

nlohmann::ordered_json arrayForRecord(const std::string &owner, const Tensor &array) {
  const auto refuse = [&](const std::string &what) {
    throw Error(ErrorKind::value_error,
                fmt::format("{} reads a constant of shape {} and dtype {}, {}: put it into a layer's weight", owner,
                            array.shape().str(), name(array.dtype()), what));
  };
  if (array.size() > static_cast<int64_t>(maxElements))
    refuse(fmt::format("and a file holds at most {} elements as an argument", maxElements));
  const std::vector<int64_t> dims = array.shape().dims();
  if (const auto empty = std::ranges::find(dims, 0); empty != dims.end() && std::next(empty) != dims.end())
    refuse("and nested lists cannot represent an extent after an extent of 0");
  const std::vector<double> values = array.astype(DType::float64).to_vector<double>();
  const bool isWide = array.dtype() == DType::int64 || array.dtype() == DType::uint64;
  for (const double value : values)
    if (!std::isfinite(value) || (isWide && std::abs(value) >= 0x1p53)) // 2^53 + 1 rounds to it
      refuse(fmt::format("with the element {}, which a file cannot represent exactly", value));
  size_t next = 0;
  const std::function<Json(size_t)> nested = [&](size_t axis) -> Json {
    if (axis == dims.size())
      return array.dtype() == DType::bool_ ? Json(values[next++] != 0) : Json(values[next++]);
    Json list = Json::array();
    for (int64_t i = 0; i < dims[axis]; ++i)
      list.push_back(nested(axis + 1));
    return list;
  };
  Json config;
  config["value"] = nested(0);
  config["dtype"] = std::string(name(array.dtype()));
  return {{"class_name", "__numpy__"}, {"config", std::move(config)}};
}

Value recordedArray(const std::string &owner, const Json &json) {
  const Json &config = json.at("config"), &value = config.at("value");
  const DType dtype = standardize_dtype(config.at("dtype").get<std::string>());
  Lists lists{owner};
  lists.measure(value);
  lists.add(value, 0);
  const Shape shape(lists.dims);
  if (!Trace::current())
    return symbolicInput(shape, dtype, "array");
  return lists.values.empty() ? tracing().splat(0.0, shape, dtype)
                              : tracing().reshape(vectorOf(lists.values, dtype), shape);
}

} // namespace halftone::detail
