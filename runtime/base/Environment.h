// The environment variables HALFTONE_*: the one place that reads them, and the form of their errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <cstdlib>
#include <string>
#include <string_view>

namespace halftone {

/// The value of an environment variable; "" if it is not set, and in programs that run with another user's rights.
inline std::string environmentValue(const char *name) {
  const char *value = ::secure_getenv(name);
  return value ? value : "";
}

/// "HALFTONE_X=value: expected ...". `expected` ends with the reason where there is one.
inline Status environmentError(ErrorKind kind, const char *name, const std::string &expected) {
  return {kind, std::string(name) + "=" + environmentValue(name) + ": expected " + expected};
}

/// Whether the message is of environmentError(). Such an error is about no file and no layer that was being worked on,
/// so nothing puts their names before it.
inline bool isOfEnvironment(std::string_view message) { return message.starts_with("HALFTONE_"); }

} // namespace halftone
