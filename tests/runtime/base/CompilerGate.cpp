// Threads inside the compiler at the exit of the process.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/CompilerGate.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace halftone;

namespace {

/// The status of a child that runs f and leaves by exit(0), unless f ends it otherwise. An alarm kills a child that
/// hangs.
template <class F> int statusOfChild(F f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    f();
    std::exit(0);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}
void waitUntil(const std::atomic<bool> &flag) {
  while (!flag)
    std::this_thread::yield();
}

std::atomic<bool> isInside{false}, isDone{false};

} // namespace

TEST_CASE("A gate is held once it is asked for, also within another one") {
  const CompilerGate gate;
  REQUIRE(gate.status().isOk());
  const CompilerGate inner;
  CHECK(inner.status().isOk());
  CHECK(!isProcessEnding());
}

TEST_CASE("exit() waits for a thread inside, and refuses a gate to the functions that it calls") {
  CHECK(statusOfChild([] {
          std::atexit([] { // called last, after the wait
            const CompilerGate gate;
            const bool isRefused = gate.status().kind() == ErrorKind::runtime_error;
            _exit(isDone && isRefused && isProcessEnding() ? 3 : 4);
          });
          std::thread([] {
            const CompilerGate gate;
            isInside = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            isDone = true;
          }).detach();
          waitUntil(isInside);
          static std::atomic<uint64_t> calls{0};
          noticeStaticObjects(calls); // so exit() waits before it calls the function above
        }) == 3 << 8);
}

TEST_CASE("A thread that asks for a gate while the process ends does not end it by an error") {
  CHECK(statusOfChild([] {
          std::thread([] {
            for (;;) {
              const CompilerGate gate;
              gate.status().orThrow();
              isInside = true;
            }
          }).detach();
          waitUntil(isInside);
        }) == 0);
}

TEST_CASE("The destructors of thread_local objects are refused a gate, and other threads are not") {
  struct Last {
    std::atomic<bool> *isRefused = nullptr;
    ~Last() {
      const CompilerGate gate;
      *isRefused = !gate.status().isOk();
    }
  };
  std::atomic<bool> isRefused{false}, wasHeld{false};
  std::thread([&] {
    static thread_local Last last;
    last.isRefused = &isRefused;
    const CompilerGate gate;
    wasHeld = gate.status().isOk();
  }).join();
  CHECK(wasHeld);
  CHECK(isRefused);
  const CompilerGate gate;
  CHECK(gate.status().isOk());
  CHECK(!isProcessEnding());
}

TEST_CASE("exit() does not wait for a thread that runs users' code outside of its gates") {
  CHECK(statusOfChild([] {
          static std::atomic<bool> isOutside{false};
          std::thread([] {
            const CompilerGate gate, inner;
            const OutsideCompilerGate outside;
            isOutside = true;
            for (;;)
              std::this_thread::sleep_for(std::chrono::seconds(1));
          }).detach();
          waitUntil(isOutside);
        }) == 0);
  const CompilerGate gate;
  {
    const OutsideCompilerGate outside;
    const CompilerGate again;
    CHECK(again.status().isOk());
  }
  CHECK(gate.status().isOk());
  CHECK(CompilerGate().status().isOk());
}
