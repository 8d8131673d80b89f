// Maps arguments to keys of a Keras config; one list of fields serves reading and writing.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Arguments.h"
#include "halftone/Config.h"
#include "halftone/Policy.h"
#include "halftone/Quantization.h"
#include "halftone/Spatial.h"
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace halftone::detail {

template <> inline constexpr const char *choice_words<initializers::FanMode>[] = {"fan_in", "fan_out", "fan_avg"};
template <>
inline constexpr const char *choice_words<initializers::Distribution>[] = {"uniform", "truncated_normal",
                                                                           "untruncated_normal"};

template <class T> void setField(Config &config, const char *key, const T &value) {
  if constexpr (std::is_enum_v<T>)
    config.set(key, Choice<T>(value).word());
  else
    config.set(key, value);
}
template <class Enum> void setField(Config &config, const char *key, const Choice<Enum> &value) {
  config.set(key, value.word());
}
void setField(Config &config, const char *key, const Number &value);
void setField(Config &config, const char *key, const std::vector<int64_t> &value);
void setField(Config &config, const char *key, const std::vector<std::string> &value);
void setField(Config &config, const char *key, const Shape &value);   // null for an unknown dimension
void setField(Config &config, const char *key, const Axes &value);    // one axis as an integer, several as a list
void setField(Config &config, const char *key, const Margins &value); // a list of two integers for each axis
void setField(Config &config, const char *key, const Factor &value);  // one number, or a list of two
void setField(Config &config, const char *key, const Numbers &value); // one number, a list of several, or null
void setField(Config &config, const char *key, const std::vector<double> &value);
void setField(Config &config, const char *key, const std::variant<int64_t, std::string> &value);
void setField(Config &config, const char *key, const Tensor &value); // nested lists; null if it is undefined
void setField(Config &config, const char *key,
              const NumberOrTensor &value); // a number, nested lists, or Keras's "__numpy__"
void setField(Config &config, const char *key, DType value);
void setField(Config &config, const char *key, const PolicyArg &value);
void setField(Config &config, const char *key, const QuantizationConfig &value); // null for none
// null for none. value_error for a user function, which a config cannot hold.
void setField(Config &config, const char *key, const ActivationArg &value);
void setField(Config &config, const char *key, const Initializer &value);
void setField(Config &config, const char *key, const Regularizer &value);
void setField(Config &config, const char *key, const Constraint &value);
inline void setField(Config &config, const char *key, std::nullptr_t) { config.set_null(key); }
template <class T> void setField(Config &config, const char *key, const std::optional<T> &value) {
  if (value)
    setField(config, key, *value);
  else
    config.set_null(key);
}

class FieldReader;
enum class Presence : uint8_t { optional, required };

/// Maps `key` of a config to `member` of the arguments.
template <class Args, class T> struct Field {
  const char *key;
  T Args::*member;
  Presence presence = Presence::optional; // required: a missing key is a key_error
  void write(Config &config, const Args &args) const { setField(config, key, args.*member); }
  void read(FieldReader &reader, Args &args) const;
};
/// Integers that are a list, or a single integer, in a config.
template <class Args, class T> struct ListField {
  const char *key;
  T Args::*member; // Integers or optional Integers; null for none
  Presence presence = Presence::optional;
  void write(Config &config, const Args &args) const {
    if constexpr (std::is_same_v<T, Integers>)
      setField(config, key, (args.*member).list());
    else if (args.*member)
      setField(config, key, (args.*member)->list());
    else
      config.set_null(key);
  }
  void read(FieldReader &reader, Args &args) const { Field<Args, T>{key, member, presence}.read(reader, args); }
};
/// A key that is absent from a config if the argument is not given.
template <class Args, class T> struct GivenField {
  const char *key;
  std::optional<T> Args::*member;
  void write(Config &config, const Args &args) const {
    if (args.*member)
      setField(config, key, *(args.*member));
  }
  void read(FieldReader &reader, Args &args) const;
};
/// A Keras argument with only one supported value. A config with another value is a not_implemented_error.
template <class T> struct FixedField {
  const char *key;
  T value;
  template <class Args> void write(Config &config, const Args &) const { setField(config, key, value); }
  template <class Args> void read(FieldReader &reader, Args &) const;
};

template <class Args, class... F> void writeFields(Config &config, const Args &args, const std::tuple<F...> &fields) {
  std::apply([&](const auto &...field) { (field.write(config, args), ...); }, fields);
}

/// Reads a config. A key that was never read is an error at the end.
class FieldReader {
public:
  explicit FieldReader(Config config) : config_(std::move(config)) {}
  /// Returns whether `key` is present, and marks it as read.
  bool takes(const char *key);
  void require(const char *key) const; // key_error if the key is absent
  bool isNull(const char *key) const;  // the key must be present; also for isList and isObject
  bool isList(const char *key) const;
  bool isObject(const char *key) const;
  /// key_error if the key is absent, type_error if its value is of another kind.
  template <class T> T get(const char *key) {
    T value{};
    load(key, value);
    return value;
  }
  /// Reads the fields whose keys are present. A null name means an automatic name. type_error if a value is of another
  /// kind.
  template <class Args, class... F> void read(Args &args, const std::tuple<F...> &fields) {
    std::apply([&](const auto &...field) { (field.read(*this, args), ...); }, fields);
  }
  template <class Args, class... F> Args all(const std::tuple<F...> &fields) {
    Args args;
    read(args, fields);
    return args;
  }
  template <class T> void readOne(const char *key, T &value) {
    if (takes(key))
      load(key, value);
  }
  void readOne(const char *key, std::string &value) {
    if (takes(key) && !isNull(key))
      value = get<std::string>(key);
  }
  /// A null data_format means the default of Keras's settings, channels_last.
  void readOne(const char *key, Choice<DataFormat> &value) {
    if (takes(key) && !isNull(key))
      load(key, value);
  }
  template <class T> void readOne(const char *key, std::optional<T> &value) {
    if (takes(key))
      value = isNull(key) ? std::nullopt : std::optional<T>(get<T>(key));
  }
  void readOne(const char *key, std::optional<Factor> &value) {
    if (!takes(key))
      return;
    value.reset();
    if (!isNull(key))
      load(key, value.emplace(0.0));
  }
  /// not_implemented_error unless the key is absent or has the same value as in `only`.
  void requireFixed(const char *key, const Config &only);
  std::vector<std::string> left() const;
  /// value_error naming the keys that were never read.
  void requireNothingLeft(const std::string &className) const;
  const Config &config() const { return config_; }

private:
  void load(const char *key, double &value);
  void load(const char *key, int64_t &value);
  void load(const char *key, bool &value);
  void load(const char *key, std::string &value);
  void load(const char *key, std::vector<double> &value);
  void load(const char *key, std::vector<int64_t> &value);
  void load(const char *key, std::vector<std::string> &value);
  void load(const char *key, std::variant<int64_t, std::string> &value);
  void load(const char *key, Shape &value);
  void load(const char *key, Axes &value);
  void load(const char *key, Margins &value);
  void load(const char *key, Factor &value);
  void load(const char *key, Numbers &value);
  void load(const char *key, Tensor &value); // float32
  void load(const char *key, NumberOrTensor &value);
  template <class Enum>
    requires std::is_enum_v<Enum>
  void load(const char *key, Enum &value) {
    value = static_cast<Enum>(indexOfWord(key, choice_words<Enum>));
  }
  template <class Enum> void load(const char *key, Choice<Enum> &value) { value = get<Enum>(key); }
  size_t indexOfWord(const char *key, std::span<const char *const> words);
  void load(const char *key, DType &value);
  void load(const char *key, PolicyArg &value);
  void load(const char *key, QuantizationConfig &value);
  void load(const char *key, ActivationArg &value);
  void load(const char *key, Initializer &value);
  void load(const char *key, Regularizer &value);
  void load(const char *key, Constraint &value);
  Config config_;
  std::vector<std::string> taken_;
};

template <class Args, class T> void Field<Args, T>::read(FieldReader &reader, Args &args) const {
  if (presence == Presence::required)
    reader.require(key);
  reader.readOne(key, args.*member);
}
template <class Args, class T> void GivenField<Args, T>::read(FieldReader &reader, Args &args) const {
  reader.readOne(key, args.*member);
}
template <class T> template <class Args> void FixedField<T>::read(FieldReader &reader, Args &) const {
  Config only;
  setField(only, key, value);
  reader.requireFixed(key, only);
}

/// {"module", "class_name", "config", "registered_name"}, as Keras saves objects.
Config serializedObject(const char *module, const std::string &className, const Config &config);
struct SavedObject {
  std::string className;
  FieldReader fields;
};
/// Splits such an object. key_error if a part is missing, value_error for a class that a user registered.
SavedObject savedObject(const Config &config);
/// "package>Class" of an object of a registered user class, otherwise "".
std::string registeredNameIn(const Config &config);
/// "Class" of an object whose class is not part of Keras and was not registered in Python, otherwise "".
std::string foreignClassIn(const Config &config);

} // namespace halftone::detail
