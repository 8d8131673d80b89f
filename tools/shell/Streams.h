// What tools write to stdout and stderr, and what becomes of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

namespace halftone::tools {

/// First of all in main: where the shell gave no stdin, stdout or stderr, something stands that cannot be read or
/// written, so that no file of ours takes its place.
void openStandardStreams();

/// To stdout. Text that does not arrive is remembered for finish().
void writeOut(std::string_view text);
/// To stderr, whatever becomes of it there.
void writeError(std::string_view text);

template <class... T> void print(fmt::format_string<T...> format, T &&...arguments) {
  writeOut(fmt::format(format, std::forward<T>(arguments)...));
}
template <class... T> void printError(fmt::format_string<T...> format, T &&...arguments) {
  writeError(fmt::format(format, std::forward<T>(arguments)...));
}

/// Remembers that text for stdout was lost, for the first reason given.
void rememberLoss(const std::string &reason);

/// Last of all in main: flushes stdout. Where text was lost, says so on stderr and turns the codes 0 and 1, which are
/// answers, into 3.
int finish(std::string_view tool, int code);

} // namespace halftone::tools
