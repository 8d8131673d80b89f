// How a helper gets its file, and how its end is told.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/HelperProcess.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

using namespace halftone;
using Catch::Matchers::Contains;

namespace {

/// A shell as the helper.
struct Shell {
  Helper helper{"halftone-nobody", "HALFTONE_TEST_HELPER", "reads nothing", "test reader"};
  int file = ::memfd_create("file", MFD_CLOEXEC), input = ::memfd_create("input", MFD_CLOEXEC);
  std::string output;

  Shell() {
    ::setenv("HALFTONE_TEST_HELPER", "/bin/sh", 1);
    REQUIRE(::write(file, "contents", 8) == 8);
    REQUIRE(::lseek(file, 0, SEEK_SET) == 0);
  }
  ~Shell() {
    ::unsetenv("HALFTONE_TEST_HELPER");
    ::close(file);
    ::close(input);
  }
  StatusOr<int> run(const std::string &script) {
    const auto take = [&](std::string_view piece) {
      output += piece;
      return output.size() < 1000 ? Status::ok() : Status(ErrorKind::value_error, "too much");
    };
    return runHelper(helper, {"-c", script}, file, input, take, "net.mlir");
  }
};

} // namespace

TEST_CASE("A helper reads its file as descriptor 3, and its output and exit status come back", "[helper]") {
  Shell shell;
  const StatusOr<int> code = shell.run("cat <&3; cat; exit 7");
  REQUIRE(code.isOk());
  CHECK(*code == 7);
  CHECK(shell.output == "contents");
}

TEST_CASE("The death of a helper is one error that names the file, the helper and the signal", "[helper]") {
  Shell shell;
  const Status status = shell.run("kill -SEGV $$").status();
  REQUIRE_FALSE(status.isOk());
  CHECK(status.kind() == ErrorKind::io_error);
  CHECK_THAT(status.message(), Catch::StartsWith("net.mlir: the test reader ended by signal 11 (Segmentation fault)"));
}

TEST_CASE("A helper ends if its output is refused", "[helper]") {
  Shell shell;
  CHECK(shell.run("yes").status().message() == "too much");
  const auto fails = [](std::string_view) -> Status { throw std::runtime_error("of the caller"); };
  CHECK_THROWS_WITH(runHelper(shell.helper, {"-c", "yes"}, shell.file, shell.input, fails, "net.mlir"),
                    "of the caller");
}

TEST_CASE("A helper that is not there is named, with the variable that can name another", "[helper]") {
  Shell shell;
  ::setenv("HALFTONE_TEST_HELPER", "/nowhere/helper", 1);
  CHECK_THAT(shell.run("").status().message(), Contains("net.mlir: cannot start /nowhere/helper: No such file"));
  ::unsetenv("HALFTONE_TEST_HELPER");
  CHECK_THAT(shell.run("").status().message(), Contains("program halftone-nobody, which reads nothing") &&
                                                   Contains("or its path in HALFTONE_TEST_HELPER"));
}
