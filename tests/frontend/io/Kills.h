// Kills processes that write a file repeatedly: the file must always be complete.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace halftone::test {

/// The number of processes that a test kills: HALFTONE_KILLS, otherwise `standard`.
inline int killCount(int standard) {
  const char *given = std::getenv("HALFTONE_KILLS");
  return given ? std::max(std::atoi(given), 1) : standard;
}

/// `write` writes a file that holds a value. `read` returns the value of the current file and checks that the file is
/// complete. Each of the `rounds` processes writes greater values than the previous one until it is killed. Returns the
/// number of processes that changed the file.
inline int killWriters(int rounds, const std::function<void(double)> &write, const std::function<double()> &read) {
  write(0);
  double last = 0;
  int changes = 0, longest = 4000; // microseconds until the kill: about half of the processes write a complete file
  for (int round = 0; round < rounds; ++round) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0)
      for (double value = last + 1;; ++value)
        write(value);
    ::usleep(static_cast<useconds_t>(round * 7919 % longest));
    REQUIRE(::kill(child, SIGKILL) == 0);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    const double value = read();
    REQUIRE(value >= last);
    changes += value > last;
    longest = value > last ? std::max(longest * 3 / 4, 2000) : std::min(longest * 3 / 2, 300000);
    last = value;
  }
  return changes;
}

} // namespace halftone::test
