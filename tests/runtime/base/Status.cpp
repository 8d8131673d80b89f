// Status, and the public exception to which it converts.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Status.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace halftone;

static StatusOr<int> half(int value) {
  if (value % 2)
    return Status(ErrorKind::value_error, "odd");
  return value / 2;
}

static Status quarter(int value) {
  StatusOr<int> once = half(value);
  HALFTONE_RETURN_IF_ERROR(once.status());
  StatusOr<int> twice = half(*once);
  return twice.status();
}

TEST_CASE("A status is ok or carries one error") {
  CHECK(Status::ok().isOk());
  CHECK(Status().str() == "ok");
  CHECK_NOTHROW(Status().orThrow());
  std::string file = "train.cpp";
  Status status(ErrorKind::value_error, "text", "net/dense_1", {file.c_str(), 42}, "mlir says");
  file.assign("overwritten");
  CHECK_FALSE(status.isOk());
  CHECK_FALSE(static_cast<bool>(status));
  CHECK(status.kind() == ErrorKind::value_error);
  CHECK(status.message() == "text");
  CHECK(status.layerPath() == "net/dense_1");
  CHECK(status.diagnostics() == "mlir says");
  CHECK(std::string(status.where().file) == "train.cpp");
  CHECK(status.where().line == 42);
  CHECK(status.str() == "ValueError: text\n  layer: net/dense_1\n  at: train.cpp:42");
  const Error withZero(ErrorKind::value_error, std::string("a\0b", 3), "net/dense_1");
  CHECK(std::string(withZero.what()) == "ValueError: a\\x00b\n  layer: net/dense_1"); // a C string has no null bytes
  CHECK(withZero.message().size() == 3);
}

TEST_CASE("An error says the same as its status, and survives it") {
  Error error = Status(ErrorKind::compile_error, "no", "a/b", {"x.cpp", 3}, "diag").toError();
  CHECK(std::string(error.what()) == "CompileError: no\n  layer: a/b\n  at: x.cpp:3");
  CHECK(error.kind() == ErrorKind::compile_error);
  CHECK(error.message() == "no");
  CHECK(error.layer_path() == "a/b");
  CHECK(error.where().line == 3);
  CHECK(std::strcmp(error.where().file, "x.cpp") == 0);
  CHECK(error.diagnostics() == "diag");
  CHECK(std::is_nothrow_copy_constructible_v<Error>);
  CHECK(Status(error).str() == error.what());
}

TEST_CASE("what() leaves out the parts that are not known") {
  CHECK(std::string(Error(ErrorKind::type_error, "t").what()) == "TypeError: t");
  CHECK(std::string(Error(ErrorKind::type_error, "t", "l").what()) == "TypeError: t\n  layer: l");
  CHECK(std::string(Error(ErrorKind::key_error, "t", "", {"f.cpp", 7}).what()) == "KeyError: t\n  at: f.cpp:7");
}

TEST_CASE("Every error kind has its name") {
  const std::pair<ErrorKind, const char *> rows[] = {{ErrorKind::type_error, "TypeError"},
                                                     {ErrorKind::value_error, "ValueError"},
                                                     {ErrorKind::key_error, "KeyError"},
                                                     {ErrorKind::attribute_error, "AttributeError"},
                                                     {ErrorKind::not_implemented_error, "NotImplementedError"},
                                                     {ErrorKind::runtime_error, "RuntimeError"},
                                                     {ErrorKind::compile_error, "CompileError"},
                                                     {ErrorKind::device_error, "DeviceError"},
                                                     {ErrorKind::io_error, "IOError"},
                                                     {ErrorKind::internal_error, "InternalError"}};
  for (auto [kind, text] : rows)
    CHECK(std::string(name(kind)) == text);
}

TEST_CASE("StatusOr holds a value or an error") {
  CHECK(*half(4) == 2);
  CHECK(half(4).isOk());
  CHECK_FALSE(half(3).isOk());
  CHECK(half(8).valueOrThrow() == 4);
  CHECK_THROWS_AS(half(3).valueOrThrow(), Error);
  CHECK(quarter(8).isOk());
  CHECK(quarter(7).message() == "odd");
  CHECK(quarter(6).message() == "odd");
}
