// Status and the conversion to the public exception.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Status.h"
#include <fmt/format.h>

using namespace halftone;

const char *halftone::name(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::type_error:
    return "TypeError";
  case ErrorKind::value_error:
    return "ValueError";
  case ErrorKind::key_error:
    return "KeyError";
  case ErrorKind::attribute_error:
    return "AttributeError";
  case ErrorKind::not_implemented_error:
    return "NotImplementedError";
  case ErrorKind::runtime_error:
    return "RuntimeError";
  case ErrorKind::compile_error:
    return "CompileError";
  case ErrorKind::device_error:
    return "DeviceError";
  case ErrorKind::io_error:
    return "IOError";
  case ErrorKind::internal_error:
    break;
  }
  return "InternalError";
}

struct Error::Rep {
  ErrorKind kind;
  std::string message, layerPath, file, diagnostics, what;
  unsigned line;

  Rep(ErrorKind kind, std::string message, std::string layerPath, Where where, std::string diagnostics)
      : kind(kind), message(std::move(message)), layerPath(std::move(layerPath)), file(where.file ? where.file : ""),
        diagnostics(std::move(diagnostics)), line(where.line) {
    what = fmt::format("{}: {}", name(kind), this->message);
    if (!this->layerPath.empty())
      what += fmt::format("\n  layer: {}", this->layerPath);
    if (!file.empty())
      what += fmt::format("\n  at: {}:{}", file, line);
    for (size_t zero = what.find('\0'); zero != what.npos; zero = what.find('\0', zero))
      what.replace(zero, 1, "\\x00"); // the text ends at its first null byte
  }
};

Error::Error(ErrorKind kind, std::string message, std::string layer_path, Where where)
    : rep_(std::make_shared<const Rep>(kind, std::move(message), std::move(layer_path), where, std::string())) {}
Error::Error(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

/// A moved-from Error has no content of its own.
template <class Rep> static const Rep &wholeOf(const std::shared_ptr<const Rep> &rep) {
  static const Rep &none = *new Rep(ErrorKind::internal_error, "a moved-from Error was read", "", {}, "");
  return rep ? *rep : none;
}

const char *Error::what() const noexcept { return wholeOf(rep_).what.c_str(); }
ErrorKind Error::kind() const noexcept { return wholeOf(rep_).kind; }
std::string Error::message() const { return wholeOf(rep_).message; }
std::string Error::layer_path() const { return wholeOf(rep_).layerPath; }
Where Error::where() const noexcept { return {wholeOf(rep_).file.c_str(), wholeOf(rep_).line}; }
std::string Error::diagnostics() const { return wholeOf(rep_).diagnostics; }

Status::Status(ErrorKind kind, std::string message, std::string layerPath, Where where, std::string diagnostics)
    : error_(std::make_shared<const Error::Rep>(kind, std::move(message), std::move(layerPath), where,
                                                std::move(diagnostics))) {}
Status::Status(const Error &error)
    : error_(error.rep_ ? error.rep_ : std::make_shared<const Error::Rep>(wholeOf(error.rep_))) {}

ErrorKind Status::kind() const { return error_->kind; }
const std::string &Status::message() const { return error_->message; }
const std::string &Status::layerPath() const { return error_->layerPath; }
Where Status::where() const { return {error_->file.c_str(), error_->line}; }
const std::string &Status::diagnostics() const { return error_->diagnostics; }
Error Status::toError() const { return Error(error_); }

void Status::orThrow() const {
  if (!isOk())
    throw toError();
}

std::string Status::str() const { return isOk() ? "ok" : error_->what; }
