// Error reporting below the frontend: a Status or a StatusOr, never an exception, never an abort.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Error.h"
#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace halftone {

/// Success, or an error with its kind, message, layer path, the user's source line and MLIR's diagnostics.
class [[nodiscard]] Status {
public:
  Status() = default; // success
  Status(ErrorKind kind, std::string message, std::string layerPath = {}, Where where = {},
         std::string diagnostics = {});
  /// Converts an error thrown by a public value type, for libraries that return a Status.
  explicit Status(const Error &error);
  static Status ok() { return {}; }
  bool isOk() const { return error_ == nullptr; }
  explicit operator bool() const { return isOk(); }
  /// Call it only on a failure.
  ErrorKind kind() const;
  const std::string &message() const;
  const std::string &layerPath() const;
  Where where() const; // valid while this Status lives
  const std::string &diagnostics() const;
  Error toError() const;
  /// Throws toError() on a failure. For the frontend and the public value types only.
  void orThrow() const;
  std::string str() const; // "ok", or Error::what()

private:
  std::shared_ptr<const Error::Rep> error_;
};

/// A value, or the error that occurred instead.
template <class T> class [[nodiscard]] StatusOr {
public:
  StatusOr(T value) : value_(std::move(value)) {}
  StatusOr(Status status) : status_(std::move(status)) { assert(!status_.isOk()); }
  bool isOk() const { return value_.has_value(); }
  explicit operator bool() const { return isOk(); }
  const Status &status() const { return status_; }
  T &operator*() & { return *value_; }
  const T &operator*() const & { return *value_; }
  T &&operator*() && { return std::move(*value_); }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }
  T valueOrThrow() && {
    status_.orThrow();
    return std::move(*value_);
  }

private:
  Status status_;
  std::optional<T> value_;
};

} // namespace halftone

/// Returns from the enclosing function if the Status `expression` is a failure.
#define HALFTONE_RETURN_IF_ERROR(expression)                                                                           \
  do {                                                                                                                 \
    if (::halftone::Status status_ = (expression); !status_.isOk())                                                    \
      return status_;                                                                                                  \
  } while (false)
