// The remaining space on the stack of a thread.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/StackRoom.h"
#include "halftone/Error.h"
#include <catch2/catch.hpp>
#include <pthread.h>

using namespace halftone;

namespace {

/// Recurses without bound in frames of about 1 KiB, and returns the depth reached.
int64_t depth = 0;
volatile bool goesOn = true;
void recurse() {
  volatile char frame[1024] = {};
  requireStack("the test");
  ++depth;
  if (goesOn)
    recurse();
  frame[0] = frame[1];
}

struct Result {
  int64_t depth = 0;
  std::string error;
};
Result onStack(size_t bytes) {
  Result result;
  pthread_attr_t attributes;
  pthread_t thread;
  REQUIRE(::pthread_attr_init(&attributes) == 0);
  REQUIRE(::pthread_attr_setstacksize(&attributes, bytes) == 0);
  const auto run = [](void *result) -> void * {
    depth = 0;
    try {
      recurse();
    } catch (const Error &error) {
      *static_cast<Result *>(result) = {depth, error.message()};
    }
    return nullptr;
  };
  REQUIRE(::pthread_create(&thread, &attributes, run, &result) == 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
  return result;
}

} // namespace

/// Compares the depths on stacks of 1 MiB and 64 KiB. Frames under ThreadSanitizer are larger.
#if !defined(__has_feature) || !__has_feature(thread_sanitizer)
static constexpr int64_t leastRatio = 10;
#else
static constexpr int64_t leastRatio = 4;
#endif

TEST_CASE("A recursion without an end is an error that names what is nested, on a stack of any size") {
  const Result small = onStack(size_t(64) << 10), middle = onStack(size_t(1) << 20), large = onStack(size_t(64) << 20);
  for (const Result &each : {small, middle, large})
    CHECK_THAT(each.error, Catch::Contains("the test: nested too deeply for the stack of this thread"));
  CHECK(small.depth > 20);
  CHECK(middle.depth > leastRatio * small.depth);
  CHECK(large.depth > 5 * middle.depth);
  CHECK(large.depth < 9 << 10); // of a stack of 64 MiB, 8 MiB are used
}
