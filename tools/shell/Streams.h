// Output of the tools on stdout and stderr, and a record of text that is lost.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

namespace halftone::tools {

/// Call it first in main. For each of stdin, stdout and stderr that the shell did not open, opens a descriptor that
/// cannot be read or written, so that no other file gets its descriptor.
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

/// Notes for finish() that text for stdout is lost. The first reason counts.
void rememberLoss(const std::string &reason);

/// Call it last in main: it flushes stdout. If text is lost, it reports so on stderr and turns the codes 0 and 1, which
/// are answers, into 3.
int finish(std::string_view tool, int code);

} // namespace halftone::tools
