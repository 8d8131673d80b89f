// Reads the arguments of an operation in a file: operands by position or by name, and its config.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Ops.h"
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace halftone::detail {

/// Operands are requested in Keras's order. Each getter throws an Error that names the operation and the argument:
/// value_error for a missing operand, not_implemented_error for a missing config entry and for a value of another kind.
class OperationArguments {
public:
  using Json = nlohmann::ordered_json;
  /// `arguments` is {"args", "kwargs"}, where {"input": i} stands for inputs[i]. Where a Value is expected, an array in
  /// the file is accepted too.
  OperationArguments(std::string className, std::vector<Value> inputs, const Json &arguments, Json config);

  Operand operand(const char *name);
  Value value(const char *name);
  /// Undefined if it is null or absent.
  Value maybeValue(const char *name);
  /// The Values of one argument that is a list.
  std::vector<Value> values(const char *name);
  /// All remaining positional operands.
  std::vector<Value> rest();
  /// The starts of one argument that is a Value, or a list of integers and Values.
  Starts starts(const char *name);
  /// An operand as JSON.
  Json literal(const char *name);
  bool has(const char *name) const; // an operand that is not null
  bool hasMore() const { return next_ < positional_.size() || !keywords_.empty(); }

  /// A config entry; null if it is absent.
  Json config(const char *key);
  int64_t integer(const char *key, std::optional<int64_t> byDefault = {});
  double number(const char *key, std::optional<double> byDefault = {});
  Number exactNumber(const char *key);
  std::optional<double> maybeNumber(const char *name); // an operand
  bool flag(const char *key);                          // false if absent
  std::string text(const char *key);
  std::vector<int64_t> integers(const char *key);       // an integer, a list, or none for null
  std::optional<int64_t> maybeInteger(const char *key); // none for null
  bool isList(const char *key) const;
  bool isText(const char *key) const;
  bool isNull(const char *key) const; // also if absent

  /// not_implemented_error that names the first argument that was never requested.
  void requireNothingLeft() const;

private:
  Json take(const char *name);
  Value inputOf(const Json &argument, const char *name) const;
  [[noreturn]] void refuse(const char *name, const Json &found, const char *expected) const;

  std::string className_;
  std::vector<Value> inputs_;
  std::vector<Json> positional_;
  size_t next_ = 0; // of positional_
  Json keywords_, config_;
};

} // namespace halftone::detail
