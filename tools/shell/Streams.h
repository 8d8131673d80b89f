// Tool output on stdout and stderr, with a record of lost text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

namespace halftone::tools {

/// Call it first in main. Replaces each of stdin, stdout and stderr that is closed by a descriptor that cannot be read
/// or written, so that no other file gets its number.
void openStandardStreams();

/// Writes to stdout. If text is lost, finish() reports it.
void writeOut(std::string_view text);
/// Writes to stderr; a failure is ignored.
void writeError(std::string_view text);

template <class... T> void print(fmt::format_string<T...> format, T &&...arguments) {
  writeOut(fmt::format(format, std::forward<T>(arguments)...));
}
template <class... T> void printError(fmt::format_string<T...> format, T &&...arguments) {
  writeError(fmt::format(format, std::forward<T>(arguments)...));
}

/// Records, for finish(), that text for stdout was lost. Only the first reason is kept.
void rememberLoss(const std::string &reason);

/// Call it last in main. Flushes stdout. If text was lost, reports it on stderr and turns the exit codes 0 and 1, which
/// are answers, into 3.
int finish(std::string_view tool, int code);

} // namespace halftone::tools
