// Output of the tools on stdout and stderr, and the account of text that is lost.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

namespace halftone::tools {

/// To be called first in main. If the shell gave no stdin, stdout or stderr, opens a descriptor there that cannot be
/// read or written, so that no file of ours takes its number.
void openStandardStreams();

/// Writes to stdout. finish() reports text that does not arrive.
void writeOut(std::string_view text);
/// Writes to stderr; a failure is ignored.
void writeError(std::string_view text);

template <class... T> void print(fmt::format_string<T...> format, T &&...arguments) {
  writeOut(fmt::format(format, std::forward<T>(arguments)...));
}
template <class... T> void printError(fmt::format_string<T...> format, T &&...arguments) {
  writeError(fmt::format(format, std::forward<T>(arguments)...));
}

/// Notes for finish() that text for stdout was lost. The first reason counts.
void rememberLoss(const std::string &reason);

/// To be called last in main: flushes stdout. If text was lost, says so on stderr and turns the codes 0 and 1, which
/// are answers, into 3.
int finish(std::string_view tool, int code);

} // namespace halftone::tools
