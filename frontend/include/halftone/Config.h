// A JSON object as Keras configs are; opaque, so that no JSON library reaches user programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Version.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {
class HALFTONE_API Config {
public:
  Config() noexcept; // {}
  Config(const Config &);
  Config(Config &&) noexcept;
  Config &operator=(const Config &) &;
  Config &operator=(Config &&) & noexcept;
  ~Config();
  static Config parse(std::string_view json); // value_error with line and column, also above 200 levels of nesting
  std::string dump(int indent = -1) const;    // keys keep the order in which they were set
  bool contains(std::string_view key) const;
  std::vector<std::string> keys() const;
  void set(std::string_view key, const char *value);
  void set(std::string_view key, std::string_view value);
  void set(std::string_view key, bool value);
  void set(std::string_view key, int64_t value);
  void set(std::string_view key, int value) { set(key, static_cast<int64_t>(value)); }
  void set(std::string_view key, double value); // value_error for NaN and infinity
  void set(std::string_view key, const Config &value);
  void set_null(std::string_view key);
  std::string get_string(std::string_view key) const; // get_*: key_error if absent, type_error if another kind
  bool get_bool(std::string_view key) const;
  int64_t get_int(std::string_view key) const;
  double get_double(std::string_view key) const;
  Config get_object(std::string_view key) const;
  std::vector<Config> get_list(std::string_view key) const; // of objects

private:
  friend struct ConfigAccess;
  struct Rep;
  std::shared_ptr<Rep> rep_;
};
} // namespace halftone
