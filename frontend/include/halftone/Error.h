// The one exception type: Keras's error kinds and texts, the layer path and the user's line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Version.h"
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

namespace halftone {
class Status;

/// A place in the user's source. Not std::source_location: clang before 16 with libstdc++ has none.
struct Where {
  const char *file = "";
  unsigned line = 0;
  static constexpr Where current(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

enum class ErrorKind : uint8_t {
  type_error,
  value_error,
  key_error,
  attribute_error,
  not_implemented_error,
  runtime_error, // Keras's
  compile_error,
  device_error,
  io_error,
  internal_error // ours
};
HALFTONE_API const char *name(ErrorKind kind); // "ValueError"

/// Copying never throws. what() reads
///   ValueError: <text as in Keras>
///     layer: net/encoder/dense_1        (when a layer is to blame)
///     at: train.cpp:42                  (where the user constructed that layer or wrote that policy's name)
class HALFTONE_API Error : public std::exception {
public:
  Error(ErrorKind kind, std::string message, std::string layer_path = {}, Where where = {});
  const char *what() const noexcept override;
  ErrorKind kind() const noexcept;
  std::string message() const;     // Keras's text alone
  std::string layer_path() const;  // "" when no layer is to blame
  Where where() const noexcept;    // its text belongs to this error
  std::string diagnostics() const; // MLIR's text for compile_error, otherwise ""
private:
  friend class Status;
  struct Rep;
  explicit Error(std::shared_ptr<const Rep> rep);
  std::shared_ptr<const Rep> rep_;
};
} // namespace halftone
