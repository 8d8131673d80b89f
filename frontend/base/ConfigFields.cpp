// Writes arguments to a config and reads them back.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ConfigFields.h"
#include "frontend/base/ClassRegistry.h"
#include "halftone/Error.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/JsonText.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

using Json = nlohmann::ordered_json;

static void setJson(Config &config, const char *key, Json value) { ConfigAccess::set(config, key, std::move(value)); }
/// The config of an object as Keras saves it, or null for none.
template <class T>
static void setObject(Config &config, const char *key, const T &value, Config (*serialize)(const T &)) {
  if (!value.defined())
    config.set_null(key);
  else
    config.set(key, serialize(value));
}

void setField(Config &config, const char *key, const Number &value) { setJson(config, key, ConfigAccess::json(value)); }
void setField(Config &config, const char *key, const std::vector<int64_t> &value) { setJson(config, key, value); }
void setField(Config &config, const char *key, const std::vector<double> &value) { setJson(config, key, value); }
void setField(Config &config, const char *key, const std::vector<std::string> &value) { setJson(config, key, value); }
void setField(Config &config, const char *key, const std::variant<int64_t, std::string> &value) {
  std::visit([&](const auto &one) { config.set(key, one); }, value);
}
void setField(Config &config, const char *key, const Shape &value) {
  Json list = Json::array();
  for (int64_t dim : value)
    list.push_back(dim < 0 ? Json() : Json(dim));
  setJson(config, key, std::move(list));
}
void setField(Config &config, const char *key, const Axes &value) {
  if (value.list().size() == 1)
    config.set(key, value.list()[0]);
  else
    setField(config, key, value.list());
}
void setField(Config &config, const char *key, const Margins &value) {
  Json list = Json::array();
  for (const Margin &margin : value.list())
    list.push_back({margin.before, margin.after});
  setJson(config, key, std::move(list));
}
void setField(Config &config, const char *key, const Factor &value) {
  if (value.list().size() == 1)
    config.set(key, value.list()[0]);
  else
    setJson(config, key, value.list());
}
void setField(Config &config, const char *key, const Numbers &value) {
  if (value.list().empty())
    config.set_null(key);
  else if (value.list().size() == 1)
    config.set(key, value.list()[0]);
  else
    setJson(config, key, value.list());
}
/// Converts the elements from `begin` on to nested lists, for the axes from `axis` on.
static Json nested(const std::vector<double> &elements, const Shape &shape, int64_t axis, size_t &begin) {
  if (axis == shape.rank())
    return elements[begin++];
  Json list = Json::array();
  for (int64_t i = 0; i < shape[axis]; ++i)
    list.push_back(nested(elements, shape, axis + 1, begin));
  return list;
}
void setField(Config &config, const char *key, const Tensor &value) {
  size_t begin = 0;
  setJson(config, key,
          value.defined() ? nested(value.astype(DType::float64).to_vector<double>(), value.shape(), 0, begin) : Json());
}
void setField(Config &config, const char *key, const NumberOrTensor &value) {
  size_t begin = 0;
  const Tensor &values = value.values();
  Json numbers = nested(values.astype(DType::float64).to_vector<double>(), values.shape(), 0, begin);
  if (value.is_number() || value.is_list())
    return setJson(config, key, std::move(numbers));
  Json array, fields;
  fields["value"] = std::move(numbers);
  fields["dtype"] = std::string(name(values.dtype()));
  array["class_name"] = "__numpy__";
  array["config"] = std::move(fields);
  setJson(config, key, std::move(array));
}
void setField(Config &config, const char *key, DType value) { config.set(key, name(value)); }
void setField(Config &config, const char *key, const PolicyArg &value) {
  config.set(key, dtype_policies::serialize(value.get()));
}
void setField(Config &config, const char *key, const ActivationArg &value) {
  const std::string name = value.name();
  if (name == "function")
    throw Error(ErrorKind::value_error,
                fmt::format("`{}` is a function, which a config cannot hold: give the name of an activation, or "
                            "register the function with register_activation(\"package>name\", f) and give that name",
                            key));
  if (functionsOf<ActivationArg>().find(name))
    config.set(key, savedFunction(name));
  else
    config.set(key, std::string_view(name));
}
void setField(Config &config, const char *key, const Initializer &value) {
  setObject(config, key, value, &initializers::serialize);
}
void setField(Config &config, const char *key, const Regularizer &value) {
  setObject(config, key, value, &regularizers::serialize);
}
void setField(Config &config, const char *key, const Constraint &value) {
  setObject(config, key, value, &constraints::serialize);
}

bool FieldReader::takes(const char *key) {
  taken_.emplace_back(key);
  return config_.contains(key);
}
bool FieldReader::isNull(const char *key) const { return ConfigAccess::json(config_).at(key).is_null(); }
bool FieldReader::isList(const char *key) const { return ConfigAccess::json(config_).at(key).is_array(); }
bool FieldReader::isObject(const char *key) const { return ConfigAccess::json(config_).at(key).is_object(); }
std::vector<std::string> FieldReader::left() const {
  std::vector<std::string> keys = config_.keys();
  std::erase_if(keys,
                [&](const std::string &key) { return std::find(taken_.begin(), taken_.end(), key) != taken_.end(); });
  return keys;
}
void FieldReader::requireNothingLeft(const std::string &className) const {
  std::string found;
  for (const std::string &key : left())
    found += fmt::format("{}'{}': {}", found.empty() ? "" : ", ", key, jsonText(*ConfigAccess::find(config_, key)));
  if (!found.empty())
    throw Error(ErrorKind::value_error, fmt::format("{}: Argument(s) not recognized: {{{}}}", className, found));
}

/// The value of `key`. key_error if it is absent.
static const Json &valueOf(const Config &config, const char *key) {
  if (const Json *value = ConfigAccess::find(config, key))
    return *value;
  throw Error(ErrorKind::key_error,
              fmt::format("The config has no key '{}'; its keys are [{}]", key, fmt::join(config.keys(), ", ")));
}

void FieldReader::require(const char *key) const { valueOf(config_, key); }
void FieldReader::requireFixed(const char *key, const Config &only) {
  if (!takes(key))
    return;
  const Json &given = ConfigAccess::json(config_).at(key), &expected = ConfigAccess::json(only).at(key);
  if (given != expected)
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("`{}` is {}: it can only be {}", key, jsonText(given), jsonText(expected)));
}

void FieldReader::load(const char *key, double &value) {
  takes(key);
  value = config_.get_double(key);
}
void FieldReader::load(const char *key, int64_t &value) {
  takes(key);
  value = config_.get_int(key);
}
void FieldReader::load(const char *key, bool &value) {
  takes(key);
  value = config_.get_bool(key);
}
void FieldReader::load(const char *key, std::string &value) {
  takes(key);
  value = config_.get_string(key);
}

[[noreturn]] static void refuseKind(const char *key, const char *expected, const Json &found) {
  throw Error(ErrorKind::type_error,
              fmt::format("The value of '{}' must be {}; it is {}", key, expected, jsonText(found)));
}
template <class T>
static std::vector<T> listOf(const Config &config, const char *key, bool (*fits)(const Json &),
                             const char *expected = "a list of numbers") {
  const Json &list = valueOf(config, key);
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), fits))
    refuseKind(key, expected, list);
  return list.get<std::vector<T>>();
}
void FieldReader::load(const char *key, std::vector<double> &value) {
  takes(key);
  value = listOf<double>(config_, key, [](const Json &value) { return value.is_number(); });
}
void FieldReader::load(const char *key, std::vector<int64_t> &value) {
  takes(key);
  value = listOf<int64_t>(config_, key, [](const Json &value) { return value.is_number_integer(); });
}
void FieldReader::load(const char *key, std::vector<std::string> &value) {
  takes(key);
  value = listOf<std::string>(config_, key, [](const Json &value) { return value.is_string(); }, "a list of strings");
}
void FieldReader::load(const char *key, std::variant<int64_t, std::string> &value) {
  takes(key);
  const Json &given = valueOf(config_, key);
  if (given.is_string())
    value = given.get<std::string>();
  else if (given.is_number_integer())
    value = given.get<int64_t>();
  else
    refuseKind(key, "an integer or a string", given);
}
void FieldReader::load(const char *key, Shape &value) {
  takes(key);
  const Json &list = valueOf(config_, key);
  const bool infers = std::string_view(key) == "target_shape"; // Reshape finds the extent of an axis of -1
  const auto fits = [&](const Json &dim) {
    return dim.is_null() || (dim.is_number_integer() && (infers || dim.get<int64_t>() >= 0));
  };
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), fits))
    refuseKind(key, infers ? "a list of integers and nulls" : "a list of integers from 0 and nulls", list);
  std::vector<int64_t> dims;
  for (const Json &dim : list)
    dims.push_back(dim.is_null() ? -1 : dim.get<int64_t>());
  value = Shape(std::move(dims));
}
void FieldReader::load(const char *key, Axes &value) {
  takes(key);
  const Json &axes = valueOf(config_, key);
  value = Axes(axes.is_array() ? get<std::vector<int64_t>>(key) : std::vector{get<int64_t>(key)});
}
size_t FieldReader::indexOfWord(const char *key, std::span<const char *const> words) {
  const auto name = get<std::string>(key);
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto found = std::ranges::find_if( // Keras ignores case
      words, [&](std::string_view known) { return std::ranges::equal(name, known, {}, small, small); });
  if (found == words.end())
    throw Error(ErrorKind::value_error, fmt::format("The `{}` argument must be one of {{\"{}\"}}. Received: {}", key,
                                                    fmt::join(words, "\", \""), name));
  return static_cast<size_t>(found - words.begin());
}
/// The margin of one axis: an integer, or a list of two.
static Margin marginOf(const char *key, const Json &value) {
  if (value.is_number_integer())
    return value.get<int64_t>();
  if (!value.is_array() || value.size() != 2 || !value[0].is_number_integer() || !value[1].is_number_integer())
    refuseKind(key, "an integer, or a list of integers and of lists of two integers", value);
  return {value[0].get<int64_t>(), value[1].get<int64_t>()};
}
void FieldReader::load(const char *key, Margins &value) {
  takes(key);
  const Json &given = valueOf(config_, key);
  std::vector<Margin> list;
  if (given.is_array())
    for (const Json &entry : given)
      list.push_back(marginOf(key, entry));
  else
    list.push_back(marginOf(key, given));
  value = Margins(std::move(list));
}
void FieldReader::load(const char *key, Factor &value) {
  takes(key);
  const bool isList = valueOf(config_, key).is_array();
  value = Factor(isList ? get<std::vector<double>>(key) : std::vector{get<double>(key)});
}
void FieldReader::load(const char *key, Numbers &value) {
  takes(key);
  const Json &given = valueOf(config_, key);
  if (given.is_array() && given.empty())
    throw Error(ErrorKind::value_error, fmt::format("`{}` is an empty list", key));
  value = given.is_null()    ? Numbers()
          : given.is_array() ? Numbers(get<std::vector<double>>(key))
                             : Numbers(get<double>(key));
}
/// Appends the numbers in `value`, whose nesting must match `dims`; the first list at each depth adds its length.
template <class T>
static void flatten(const char *key, const Json &value, size_t depth, std::vector<int64_t> &dims,
                    std::vector<T> &elements) {
  if (value.is_number() && depth == dims.size()) {
    elements.push_back(value.get<T>());
    return;
  }
  if (!value.is_array() || (depth == dims.size() && !elements.empty()))
    refuseKind(key, "a number, or nested lists of numbers with equal lengths", value);
  if (depth == dims.size())
    dims.push_back(static_cast<int64_t>(value.size()));
  if (dims[depth] != static_cast<int64_t>(value.size()))
    refuseKind(key, "a number, or nested lists of numbers with equal lengths", value);
  for (const Json &entry : value)
    flatten(key, entry, depth + 1, dims, elements);
}
void FieldReader::load(const char *key, Tensor &value) {
  takes(key);
  std::vector<int64_t> dims;
  std::vector<float> elements;
  if (!isNull(key)) {
    flatten(key, valueOf(config_, key), 0, dims, elements);
    value = Tensor(std::move(elements), Shape(std::move(dims)));
  }
}
void FieldReader::load(const char *key, NumberOrTensor &value) {
  takes(key);
  Json numbers = valueOf(config_, key);
  DType dtype = DType::float64;
  const bool isList = numbers.is_array();
  if (numbers.is_object()) {
    const SavedObject array = savedObject(config_.get_object(key));
    if (array.className != "__numpy__" && array.className != "__tensor__")
      refuseKind(key, "a number, nested lists of numbers, or an array", numbers);
    dtype = standardize_dtype(array.fields.config().get_string("dtype"));
    numbers = Json(valueOf(array.fields.config(), "value"));
  }
  std::vector<int64_t> dims;
  std::vector<double> elements;
  flatten(key, numbers, 0, dims, elements);
  value = NumberOrTensor(Tensor(std::move(elements), Shape(std::move(dims))).astype(dtype), isList);
}
void FieldReader::load(const char *key, DType &value) { value = standardize_dtype(get<std::string>(key)); }

/// Reads null (the default), a name, or an object as Keras saves it.
template <class T> static T namedOrSaved(const Config &config, const char *key, T (*deserialize)(const Config &)) {
  const Json &value = valueOf(config, key);
  if (value.is_null())
    return T();
  if (value.is_string())
    return T(value.get<std::string>());
  if (!value.is_object())
    refuseKind(key, "a name, an object or null", value);
  return deserialize(config.get_object(key));
}
void FieldReader::load(const char *key, PolicyArg &value) {
  takes(key);
  value = namedOrSaved<PolicyArg>(config_, key,
                                  [](const Config &saved) { return PolicyArg(dtype_policies::deserialize(saved)); });
}
void FieldReader::load(const char *key, ActivationArg &value) {
  takes(key);
  value = namedOrSaved<ActivationArg>(config_, key, [](const Config &saved) -> ActivationArg {
    const std::string function = functionIn(saved);
    if (function.empty())
      throw Error(ErrorKind::value_error, fmt::format("Expected the name of an activation; found {}", saved.dump()));
    return {function};
  });
}
void FieldReader::load(const char *key, Initializer &value) {
  takes(key);
  value = namedOrSaved(config_, key, &initializers::deserialize);
}
void FieldReader::load(const char *key, Regularizer &value) {
  takes(key);
  value = namedOrSaved(config_, key, &regularizers::deserialize);
}
void FieldReader::load(const char *key, Constraint &value) {
  takes(key);
  value = namedOrSaved(config_, key, &constraints::deserialize);
}

static Config absMaxQuantizer(int least, int most) {
  Config quantizer =
      ConfigAccess::make(Json{{"value_range", {least, most}}, {"epsilon", 1e-07}, {"output_dtype", "int8"}});
  return serializedObject("keras.quantizers", "AbsMaxQuantizer", quantizer);
}
void setField(Config &config, const char *key, const QuantizationConfig &value) {
  if (!value.defined() || value.mode == "gptq" || value.mode == "awq")
    return config.set_null(key);
  Config fields;
  if (value.mode != "float8") {
    fields.set_null("weight_quantizer");
    fields.set_null("activation_quantizer");
    if (value.quantizes_activations)
      fields.set("activation_quantizer", absMaxQuantizer(-127, 127));
  }
  if (value.mode == "int4" && value.block_size < 0)
    fields.set_null("block_size");
  else if (value.mode == "int4")
    fields.set("block_size", value.block_size);
  const char *className = value.mode == "int8"   ? "Int8QuantizationConfig"
                          : value.mode == "int4" ? "Int4QuantizationConfig"
                                                 : "Float8QuantizationConfig";
  config.set(key, serializedObject("keras.quantizers", className, fields));
}
/// Returns true if a saved config quantizes activations. Only Keras's default quantizer is supported for this.
static bool quantizesActivations(FieldReader &fields) {
  fields.requireFixed("weight_quantizer", ConfigAccess::make(Json{{"weight_quantizer", nullptr}}));
  if (!fields.takes("activation_quantizer") || fields.isNull("activation_quantizer"))
    return false;
  SavedObject quantizer = savedObject(fields.config().get_object("activation_quantizer"));
  const Json range{{"value_range", {-127, 127}}}, epsilon{{"epsilon", 1e-07}}, dtype{{"output_dtype", "int8"}};
  quantizer.fields.requireFixed("value_range", ConfigAccess::make(range));
  quantizer.fields.requireFixed("epsilon", ConfigAccess::make(epsilon));
  quantizer.fields.requireFixed("output_dtype", ConfigAccess::make(dtype));
  quantizer.fields.requireNothingLeft(quantizer.className);
  return true;
}
void FieldReader::load(const char *key, QuantizationConfig &value) {
  takes(key);
  value = {};
  const Json &saved = valueOf(config_, key);
  if (saved.is_null())
    return;
  if (!saved.is_object())
    refuseKind(key, "an object or null", saved);
  auto [className, fields] = savedObject(config_.get_object(key));
  if (className == "Int8QuantizationConfig") {
    value = quantizers::Int8QuantizationConfig(quantizesActivations(fields));
  } else if (className == "Int4QuantizationConfig") {
    const bool activations = quantizesActivations(fields);
    std::optional<int64_t> block;
    fields.readOne("block_size", block);
    value = quantizers::Int4QuantizationConfig(block, activations);
  } else if (className == "Float8QuantizationConfig") {
    value = quantizers::Float8QuantizationConfig();
  } else if (className == "GPTQConfig" || className == "AWQConfig") {
    value = {.mode = className == "GPTQConfig" ? "gptq" : "awq"}; // the other fields describe Keras's calibration
    return;
  } else {
    throw Error(
        ErrorKind::not_implemented_error,
        fmt::format("`{}` is of the class {}: it can be an Int8QuantizationConfig, an Int4QuantizationConfig or "
                    "a Float8QuantizationConfig",
                    key, className));
  }
  fields.requireNothingLeft(className);
}

Config serializedObject(const char *module, const std::string &className, const Config &config) {
  Config object;
  object.set("module", module);
  object.set("class_name", className);
  object.set("config", config);
  object.set_null("registered_name");
  return object;
}
SavedObject savedObject(const Config &config) {
  const std::string className = config.get_string("class_name");
  if (const std::string registered = registeredNameIn(config); !registered.empty())
    throw Error(ErrorKind::value_error, fmt::format("'{}' is a user-defined class, which cannot be read", registered));
  return {className, FieldReader(config.get_object("config"))};
}
std::string registeredNameIn(const Config &config) {
  if (!config.contains("registered_name") || ConfigAccess::json(config).at("registered_name").is_null())
    return "";
  const std::string registered = config.get_string("registered_name");
  return registered.find('>') == std::string::npos ? "" : registered;
}

std::string foreignClassIn(const Config &config) {
  const Json &json = ConfigAccess::json(config);
  const std::string module = json.contains("module") && json["module"].is_string() ? json["module"] : "";
  const bool isNamed = json.contains("registered_name") && json["registered_name"].is_string();
  return isNamed && registeredNameIn(config).empty() && !module.starts_with("keras") ? config.get_string("class_name")
                                                                                     : "";
}

} // namespace halftone::detail
