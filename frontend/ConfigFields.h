// Arguments as keys of a Keras config: one list of them writes a config and reads it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Config.h"
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace halftone::detail {

/// `key` in a config is `member` of the arguments.
template <class Args, class T> struct Field {
  const char *key;
  T Args::*member;
};

template <class T> void setField(Config &config, const char *key, const T &value) { config.set(key, value); }
template <class T> void setField(Config &config, const char *key, const std::optional<T> &value) {
  if (value)
    config.set(key, *value);
  else
    config.set_null(key);
}
template <class Args, class... T>
void writeFields(Config &config, const Args &args, const std::tuple<Field<Args, T>...> &fields) {
  std::apply([&](const auto &...field) { (setField(config, field.key, args.*field.member), ...); }, fields);
}

/// Reads a config. A key that nothing asked for is an error in the end.
class FieldReader {
public:
  explicit FieldReader(Config config) : config_(std::move(config)) {}
  /// Whether `key` is there; marks it as read.
  bool takes(const char *key);
  bool isNull(const char *key) const; // for a key that is there; so is isObject
  bool isObject(const char *key) const;
  /// key_error if the key is not there, type_error if its value is of another kind.
  template <class T> T get(const char *key) {
    T value{};
    load(key, value);
    return value;
  }
  /// Reads the fields whose keys are there. A name of null means an automatic name. type_error if a value
  /// is of another kind.
  template <class Args, class... T> void read(Args &args, const std::tuple<Field<Args, T>...> &fields) {
    std::apply([&](const auto &...field) { (readOne(field.key, args.*field.member), ...); }, fields);
  }
  template <class Args, class... T> Args all(const std::tuple<Field<Args, T>...> &fields) {
    Args args;
    read(args, fields);
    return args;
  }
  std::vector<std::string> left() const;
  /// value_error naming the keys that nothing asked for.
  void requireNothingLeft(const std::string &className) const;
  const Config &config() const { return config_; }

private:
  template <class T> void readOne(const char *key, T &value) {
    if (config_.contains(key))
      value = get<T>(key);
  }
  void readOne(const char *key, std::string &value) {
    if (takes(key) && !isNull(key))
      value = get<std::string>(key);
  }
  template <class T> void readOne(const char *key, std::optional<T> &value) {
    if (takes(key))
      value = isNull(key) ? std::nullopt : std::optional<T>(get<T>(key));
  }
  void load(const char *key, double &value);
  void load(const char *key, int64_t &value);
  void load(const char *key, bool &value);
  void load(const char *key, std::string &value);
  void load(const char *key, std::vector<double> &value);
  void load(const char *key, std::vector<int64_t> &value);
  Config config_;
  std::vector<std::string> taken_;
};

} // namespace halftone::detail
