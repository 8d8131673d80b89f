// Writes to stdout and stderr without throwing.
// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/Streams.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace halftone::tools {
namespace {

auto &loss = *new std::string; // the first reason; empty if no text was lost

} // namespace

void openStandardStreams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY); // takes the lowest free descriptor
}

void rememberLoss(const std::string &reason) {
  if (loss.empty())
    loss = reason;
}

void writeOut(std::string_view text) {
  errno = 0;
  if (!text.empty() && std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    rememberLoss(std::strerror(errno));
}

void writeError(std::string_view text) {
  if (std::fflush(stdout) != 0) // flushed first, so that a shared file has the program's order
    rememberLoss(std::strerror(errno));
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

int finish(std::string_view tool, int code) {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    rememberLoss(std::strerror(errno ? errno : EIO));
  if (loss.empty())
    return code;
  printError("{}: IOError: cannot write to stdout: {}\n", tool, loss);
  constexpr int badInput = 3;
  return code <= 1 ? badInput : code;
}

} // namespace halftone::tools
