// The only reader of the HALFTONE_* environment variables, and the format of their errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <cstdlib>
#include <string>
#include <string_view>

namespace halftone {

/// The value of an environment variable; "" if it is not set, and in programs that run with another user's rights
/// (setuid).
inline std::string environmentValue(const char *name) {
  const char *value = ::secure_getenv(name);
  return value ? value : "";
}

/// "HALFTONE_X=value: expected ...". `expected` ends with the reason if there is one.
inline Status environmentError(ErrorKind kind, const char *name, const std::string &expected) {
  return {kind, std::string(name) + "=" + environmentValue(name) + ": expected " + expected};
}

/// Returns true if environmentError() produced the message. Such an error does not concern the file or layer being
/// processed, so their names are not prepended to it.
inline bool isOfEnvironment(std::string_view message) { return message.starts_with("HALFTONE_"); }

} // namespace halftone
