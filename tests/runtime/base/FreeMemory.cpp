// The free memory that the system reports, and requests that exceed it.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/FreeMemory.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace halftone;

TEST_CASE("free memory is a part of the machine's memory") {
  const int64_t present = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  CHECK(freeMemory() > 0);
  CHECK(fitsMemory(int64_t(1) << 20));
  CHECK_FALSE(fitsMemory(present * 1024));
  CHECK_THAT(memoryShortage(present * 1024),
             Catch::Matchers::StartsWith(fmt::format("{} bytes requested, ", present * 1024)));
}

// A sanitizer needs more address space than the limit leaves.
#if !defined(__has_feature) || !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
TEST_CASE("a limit of the process bounds the free memory") {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{rlim_t(8) << 30, rlim_t(8) << 30};
    _exit(::setrlimit(RLIMIT_AS, &limit) == 0 && freeMemory() < int64_t(8) << 30 && !fitsMemory(int64_t(9) << 30) ? 0
                                                                                                                  : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
#endif
