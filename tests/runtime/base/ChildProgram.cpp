// How a child program receives its file, and how its end is reported.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ChildProgram.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

using namespace halftone;
using Catch::Matchers::Contains;

namespace {

/// A shell as the child program.
struct Shell {
  ChildProgram child{"halftone-nobody", "HALFTONE_TEST_CHILD", "reads nothing"};
  int file = ::memfd_create("file", MFD_CLOEXEC), input = ::memfd_create("input", MFD_CLOEXEC);
  std::string output;

  Shell() {
    ::setenv("HALFTONE_TEST_CHILD", "/bin/sh", 1);
    REQUIRE(::write(file, "contents", 8) == 8);
    REQUIRE(::lseek(file, 0, SEEK_SET) == 0);
  }
  ~Shell() {
    ::unsetenv("HALFTONE_TEST_CHILD");
    ::close(file);
    ::close(input);
  }
  StatusOr<int> run(const std::string &script) {
    const auto take = [&](std::string_view piece) {
      output += piece;
      return output.size() < 1000 ? Status::ok() : Status(ErrorKind::value_error, "too much");
    };
    return runChildProgram(child, {"-c", script}, file, input, take, "net.mlir");
  }
};

} // namespace

TEST_CASE("A child program reads its file as descriptor 3, and its output and exit status come back", "[child]") {
  Shell shell;
  const StatusOr<int> code = shell.run("cat <&3; cat; exit 7");
  REQUIRE(code.isOk());
  CHECK(*code == 7);
  CHECK(shell.output == "contents");
}

TEST_CASE("The death of a child program is one error that names the file, the child and the signal", "[child]") {
  Shell shell;
  const Status status = shell.run("kill -SEGV $$").status();
  REQUIRE_FALSE(status.isOk());
  CHECK(status.kind() == ErrorKind::io_error);
  CHECK_THAT(status.message(), Catch::StartsWith("net.mlir: halftone-nobody ended by signal 11 (Segmentation fault)"));
}

TEST_CASE("A child program ends if its output is refused", "[child]") {
  Shell shell;
  CHECK(shell.run("yes").status().message() == "too much");
  const auto fails = [](std::string_view) -> Status { throw std::runtime_error("of the caller"); };
  CHECK_THROWS_WITH(runChildProgram(shell.child, {"-c", "yes"}, shell.file, shell.input, fails, "net.mlir"),
                    "of the caller");
}

TEST_CASE("A child program that is not there is named, with the variable that can name another", "[child]") {
  Shell shell;
  ::setenv("HALFTONE_TEST_CHILD", "/nowhere/child", 1);
  CHECK_THAT(shell.run("").status().message(), Contains("HALFTONE_TEST_CHILD=/nowhere/child: expected the program "
                                                        "halftone-nobody: it cannot be started: No such file"));
  ::unsetenv("HALFTONE_TEST_CHILD");
  CHECK_THAT(shell.run("").status().message(), Contains("program halftone-nobody, which reads nothing") &&
                                                   Contains("or its path in HALFTONE_TEST_CHILD"));
}
