// Reads a file, and runs halftone-bytecode if it contains bytecode.
// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/ModuleFileText.h"
#include "runtime/base/ChildProgram.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/OpenFile.h"
#include "runtime/base/WriteFile.h"
#include "tools/shell/ModuleText.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace halftone::tools {
namespace {

/// The maximum size of bytecode printed as text: numbers become hexadecimal, and shared names and locations are
/// repeated.
size_t maxText(size_t bytes) { return (size_t{64} << 20) + 16 * bytes; }

Status cannotRead(const std::string &name, const std::string &reason) {
  return {ErrorKind::io_error, fmt::format("cannot read {}: {}", name, reason)};
}

StatusOr<std::string> readAll(const std::string &path, const std::string &name) {
  StatusOr<std::string> contents = std::string();
  if (path == "-") {
    OpenFile file(STDIN_FILENO);
    std::string chunk(1 << 16, '\0');
    int64_t count = 0;
    while ((count = readInto(file, chunk)) > 0)
      contents->append(chunk, 0, static_cast<size_t>(count));
    const int reason = errno;
    (void)file.release();
    if (count < 0)
      return cannotRead(name, std::strerror(reason));
  } else {
    contents = readFile(path, detail::maxModuleBytes);
    HALFTONE_RETURN_IF_ERROR(contents.status());
  }
  if (contents->empty())
    return cannotRead(name, "it is empty");
  return contents;
}

/// The text of a bytecode module, as printed by halftone-bytecode.
StatusOr<std::string> textOf(const std::string &bytecode, const std::vector<std::string> &dialects,
                             const std::string &name) {
  const ChildProgram reader{"halftone-bytecode", "HALFTONE_BYTECODE", "reads MLIR's bytecode"};
  const OpenFile file(::memfd_create("module", MFD_CLOEXEC)), nothing(::memfd_create("nothing", MFD_CLOEXEC));
  if (!file || !nothing)
    return cannotRead(name, std::strerror(errno));
  HALFTONE_RETURN_IF_ERROR(writeAt(file.number(), 0, bytecode, name));
  std::string text;
  const auto take = [&](std::string_view chunk) {
    if (text.size() + chunk.size() > maxText(bytecode.size()))
      return Status(ErrorKind::value_error,
                    fmt::format("{}: {} bytes of bytecode that expand to more than {} MiB of text", name,
                                bytecode.size(), maxText(bytecode.size()) >> 20));
    text += chunk;
    return Status::ok();
  };
  const StatusOr<int> code = runChildProgram(reader, dialects, file.number(), nothing.number(), take, name);
  HALFTONE_RETURN_IF_ERROR(code.status());
  if (*code != 0)
    return Status(ErrorKind::value_error, fmt::format("{}: {}", name, text.empty() ? "cannot be read" : text));
  if (const Status status = checkModuleText(text, name); !status)
    return Status(status.kind(), fmt::format("{}: {}", name, status.message())); // without the line of the printed text
  return text;
}

} // namespace

StatusOr<std::string> loadModuleText(const std::string &path, const std::vector<std::string> &dialects) {
  const std::string name = path == "-" ? "<stdin>" : path;
  StatusOr<std::string> contents = readAll(path, name);
  HALFTONE_RETURN_IF_ERROR(contents.status());
  if (isBytecode(*contents))
    return textOf(*contents, dialects, name);
  HALFTONE_RETURN_IF_ERROR(checkModuleText(*contents, name));
  return contents;
}

Status checkTextFile(const std::string &path) {
  const StatusOr<std::string> contents = readAll(path, path);
  HALFTONE_RETURN_IF_ERROR(contents.status());
  return checkModuleText(*contents, path);
}

} // namespace halftone::tools
