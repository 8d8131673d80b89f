// Prefixes errors with the location that was being read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Error.h"
#include "runtime/base/Environment.h"
#include <string>

namespace halftone::detail {

/// Rethrows the error with "place: " before its message. An environment error is unchanged.
[[noreturn]] inline void rethrowAt(const std::string &location, const Error &error) {
  if (isOfEnvironment(error.message()))
    throw error;
  throw Error(error.kind(), location + ": " + error.message(), error.layer_path(), error.where());
}

} // namespace halftone::detail
