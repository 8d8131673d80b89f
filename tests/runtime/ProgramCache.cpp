// Programs: one player per signature; the least recently used player is evicted first.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ProgramCache.h"
#include "runtime/devices/NullDevice.h"
#include "tests/runtime/TestPlan.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace halftone;

namespace {

/// A plan that copies its only feed "x" to its fetch.
StatusOr<std::shared_ptr<Player>> identity(const ProgramKey &key) {
  if (key.feeds.size() != 1)
    return Status(ErrorKind::compile_error, "expected one feed");
  auto exe = std::make_shared<Executable>();
  exe->name = "identity";
  exe->signature = {{{"x", key.feeds[0]}}, {{"y", key.feeds[0]}}};
  exe->plan.slots = {{SlotKind::feed, key.feeds[0], 0}, {SlotKind::fetch, key.feeds[0], 0}};
  exe->plan.steps = {CopyStep{0, 1, {}}};
  return Player::bind(exe, test::testKernels(), std::make_shared<NullDevice>(), {});
}

ProgramKey rows(int64_t n, std::vector<int64_t> groups = {}) { return {{{float32, {n, 2}}}, {std::move(groups)}}; }

} // namespace

TEST_CASE("A program key prints its types in their groups") {
  const std::vector<TensorType> types{{float32, {128, 784}}, {int32, {128}}};
  CHECK(ProgramKey{types}.str() == "(128x784xf32, 128xi32)");
  CHECK(ProgramKey{types, {{1, 1, 0}}}.str() == "(128x784xf32; 128xi32; )");
  CHECK(ProgramKey{}.str() == "()");
}

TEST_CASE("a program compiles each signature once") {
  ProgramCache program("f", identity);
  for (int round = 0; round < 3; ++round) {
    StatusOr<std::vector<Tensor>> y = program.play(std::vector{Tensor({1, 2, 3, 4}, {2, 2})});
    REQUIRE(y.isOk());
    CHECK((*y)[0].to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  }
  CHECK(program.compileCount() == 1);
  CHECK(program.play(std::vector{Tensor::zeros({3, 2})}).isOk());
  CHECK(program.play(std::vector{Tensor::zeros({3, 2}, float16)}).isOk());
  CHECK(program.play(std::vector{Tensor::zeros({3, 2})}, {{1, 0}}).isOk());
  CHECK(program.play(std::vector{Tensor::zeros({3, 2})}, {{1, 0}}).isOk());
  CHECK(program.compileCount() == 4);
  CHECK(program.keys().front() == rows(3, {1, 0}));
  for (const uint64_t scope : {0, 1, 0, 1}) // two states of one configuration
    CHECK(program.play(std::vector{Tensor::zeros({3, 2})}, {{1, 0}}, scope).isOk());
  CHECK(program.compileCount() == 5);
  CHECK(program.keys().size() == 5);
  const uint64_t later = ProgramKey::statesOfEpoch; // another configuration
  CHECK(program.play(std::vector{Tensor::zeros({3, 2})}, {{1, 0}}, later).isOk());
  CHECK(program.play(std::vector{Tensor::zeros({3, 2})}, {{1, 0}}, later).isOk());
  CHECK(program.compileCount() == 6);
  CHECK(program.keys().size() == 1); // no call can request an older one again
  program.clear();
  CHECK(program.keys().empty());
  CHECK(program.find(rows(3)).isOk());
  CHECK(program.compileCount() == 7);
}

TEST_CASE("A program serves threads of any settings unless its compile keeps the settings in the key") {
  bool readsSettings = false;
  ProgramCache program("f", [&](ProgramKey &key) {
    if (!readsSettings)
      key.threadSettings = ProgramKey::anySettings;
    return identity(key);
  });
  const auto play = [&](int64_t rows, uint64_t settings) {
    CHECK(program.play(std::vector{Tensor::zeros({rows, 2})}, {}, 0, Device::cpu(), settings).isOk());
    return program.compileCount();
  };
  CHECK(play(2, 5) == 1);
  CHECK(play(2, 7) == 1);
  readsSettings = true;
  CHECK(play(3, 5) == 2);
  CHECK(play(3, 7) == 3);
  CHECK(play(3, 5) == 3);
  CHECK(play(3, 7) == 3);
}

TEST_CASE("a failed compile is an error at each call and is not counted") {
  ProgramCache program("f", identity);
  Status status = program.find(ProgramKey{}).status();
  CHECK(status.kind() == ErrorKind::compile_error);
  CHECK(program.keys().empty());
  CHECK(program.compileCount() == 0);
  status = program.play(std::vector{Tensor()}).status();
  CHECK(status.kind() == ErrorKind::value_error);
  CHECK_THAT(status.message(), Catch::Contains("f: feed 0 is an undefined tensor"));
}

TEST_CASE("A program keeps the players of 1,000 signatures that are used in turn") {
  int64_t warnings = 0;
  ProgramCache program("jit", identity, [&](const std::string &) { ++warnings; });
  for (int round = 0; round < 2; ++round)
    for (int64_t n = 1; n <= 1000; ++n)
      REQUIRE(program.play(std::vector{Tensor::zeros({n, 2})}).isOk());
  CHECK(program.compileCount() == 1000);
  CHECK(warnings == 0);
}

TEST_CASE("the least recently used player goes, with one warning that names the dimension that varies") {
  std::vector<std::string> warnings;
  const auto most = static_cast<int64_t>(ProgramCache::Bounds().limit);
  ProgramCache program("predict", identity, [&](const std::string &text) { warnings.push_back(text); });
  for (int64_t n = 1; n <= most; ++n)
    REQUIRE(program.find(rows(n)).isOk());
  REQUIRE(program.find(rows(1)).isOk()); // uses 1 again, so 2 is the least recently used
  CHECK(warnings.empty());
  CHECK(program.compileCount() == most);
  REQUIRE(program.find(rows(most + 1)).isOk());
  REQUIRE(program.find(rows(most + 2)).isOk());
  CHECK(std::ssize(program.keys()) == most);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Contains("predict: more than 1024 input signatures") &&
                              Catch::Contains("feed 0 ('x'), dimension 0 (1025 values from 1 to 1025)"));
  CHECK(program.compileCount() == most + 2);
  REQUIRE(program.find(rows(1)).isOk());
  CHECK(program.compileCount() == most + 2);
  REQUIRE(program.find(rows(2)).isOk());
  CHECK(program.compileCount() == most + 3);
}

TEST_CASE("Players whose arenas take more than the bound go, but for as many as always stay") {
  std::vector<std::string> warnings;
  const auto withArena = [](const ProgramKey &key) -> StatusOr<std::shared_ptr<Player>> {
    auto exe = std::make_shared<Executable>((*identity(key))->executable());
    exe->plan.arenaBytes = 1 << 20;
    return Player::bind(exe, test::testKernels(), std::make_shared<NullDevice>(), {});
  };
  ProgramCache program("predict", withArena, [&](const std::string &text) { warnings.push_back(text); },
                       {.limit = 100, .always = 3, .arenaBytes = 5 << 20});
  for (int64_t n = 1; n <= 5; ++n)
    REQUIRE(program.find(rows(n)).isOk());
  CHECK(warnings.empty());
  REQUIRE(program.find(rows(6)).isOk());
  CHECK(program.keys().size() == 5);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Contains("predict: the programs of 6 input signatures take 6 MiB"));
  ProgramCache few("predict", withArena, {}, {.limit = 100, .always = 3, .arenaBytes = 1 << 20});
  for (int64_t n = 1; n <= 5; ++n)
    REQUIRE(few.find(rows(n)).isOk());
  CHECK(few.keys().size() == 3);
}

TEST_CASE("If only the groups of feeds differ, the warning about too many players says so") {
  std::vector<std::string> warnings;
  ProgramCache program("f", identity, [&](const std::string &text) { warnings.push_back(text); }, {.limit = 2});
  for (const std::vector<int64_t> &groups : {std::vector<int64_t>{1}, {1, 0}, {0, 1}})
    REQUIRE(program.find(rows(1, groups)).isOk());
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Contains("more than 2 input signatures") && Catch::Contains("groups"));
}

TEST_CASE("a closed program lists its keys in the error for another key") {
  ProgramCache program("saved");
  Status status = program.find(rows(3)).status();
  CHECK(status.kind() == ErrorKind::key_error);
  CHECK_THAT(status.message(), Catch::Contains("saved: not compiled for (3x2xf32); compiled signatures: none"));
  program.insert(rows(1), identity(rows(1)).valueOrThrow());
  program.insert(rows(8), identity(rows(8)).valueOrThrow());
  CHECK(program.play(std::vector{Tensor::zeros({8, 2})}).isOk());
  CHECK_THAT(program.find(rows(3)).status().message(), Catch::Contains("compiled signatures: (8x2xf32), (1x2xf32)"));
  CHECK(program.compileCount() == 0);
}

TEST_CASE("threads that miss the same key at once compile it once") {
  ProgramCache program("f", identity);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int64_t n = 1; n <= 20; ++n)
        failures += !program.play(std::vector{Tensor::zeros({n, 2})}).isOk();
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(failures == 0);
  CHECK(program.compileCount() == 20);
}

TEST_CASE("the function from which a program is compiled cannot run that program") {
  std::vector<Status> inner;
  ProgramCache *self = nullptr;
  ProgramCache program("f", [&](const ProgramKey &key) {
    inner.push_back(self->find(key).status());
    inner.push_back(self->play(std::vector{Tensor::zeros({2, 2})}).status());
    return identity(key);
  });
  self = &program;
  CHECK(program.find(rows(3)).isOk());
  REQUIRE(inner.size() == 2);
  for (const Status &status : inner) {
    CHECK(status.kind() == ErrorKind::runtime_error);
    CHECK(status.message() ==
          "f: was called by a function that is being traced for it: a program cannot run while it is being traced");
  }
  CHECK(program.find(rows(3)).isOk());
  CHECK(program.compileCount() == 1);
}

TEST_CASE("Of threads whose programs need each other's, at least one is refused and none waits for ever") {
  constexpr size_t count = 3;
  std::vector<std::unique_ptr<ProgramCache>> programs;
  std::atomic<size_t> compiling{0};
  for (size_t i = 0; i < count; ++i)
    programs.push_back(std::make_unique<ProgramCache>(
        "f" + std::to_string(i), [&, i](const ProgramKey &key) -> StatusOr<std::shared_ptr<Player>> {
          for (++compiling; compiling < count;) // each thread has its program before it requests the next one
            std::this_thread::yield();
          HALFTONE_RETURN_IF_ERROR(programs[(i + 1) % count]->find(key).status());
          return identity(key);
        }));
  std::vector<Status> results(count);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] { results[i] = programs[i]->find(rows(2)).status(); });
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &status : results) {
    CHECK(status.kind() == ErrorKind::runtime_error);
    CHECK_THAT(status.message(), Catch::Contains("was called by a function that is being traced for it"));
  }
}

TEST_CASE("A thread that needs a program which another thread compiles gets it, also within a compile of its own") {
  std::atomic<bool> isCompiling{false};
  ProgramCache slow("slow", [&](const ProgramKey &key) {
    isCompiling = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return identity(key);
  });
  ProgramCache user("user", [&](const ProgramKey &key) -> StatusOr<std::shared_ptr<Player>> {
    while (!isCompiling)
      std::this_thread::yield();
    HALFTONE_RETURN_IF_ERROR(slow.find(key).status());
    return identity(key);
  });
  Status first, second;
  std::thread one([&] { first = slow.find(rows(2)).status(); });
  std::thread two([&] { second = user.find(rows(2)).status(); });
  one.join();
  two.join();
  CHECK(first.isOk());
  CHECK(second.isOk());
  CHECK(slow.compileCount() == 1);
}

TEST_CASE("A program that is known plays while another key compiles") {
  std::atomic<bool> isCompiling{false}, mayEnd{false};
  ProgramCache program("f", [&](const ProgramKey &key) {
    if (key.feeds[0].shape[0] == 3)
      for (isCompiling = true; !mayEnd;)
        std::this_thread::yield();
    return identity(key);
  });
  REQUIRE(program.find(rows(2)).isOk());
  std::thread other([&] { (void)program.find(rows(3)); });
  while (!isCompiling)
    std::this_thread::yield();
  CHECK(program.play(std::vector{Tensor::zeros({2, 2})}).isOk());
  mayEnd = true;
  other.join();
  CHECK(program.compileCount() == 2);
}

TEST_CASE("A child that was forked during a compile finds no thread to wait for") {
  std::atomic<bool> isCompiling{false}, mayEnd{false};
  ProgramCache program("f", [&](const ProgramKey &key) {
    if (!isCompiling)
      for (isCompiling = true; !mayEnd;)
        std::this_thread::yield();
    return identity(key);
  });
  std::thread other([&] { (void)program.find(rows(2)); });
  while (!isCompiling)
    std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(program.find(rows(2)).isOk() ? 0 : 1);
  }
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  mayEnd = true;
  other.join();
}

TEST_CASE("A program of a variable's substitute is another one than that of the variable") {
  ProgramCache program("f", identity);
  const auto substitutes = std::make_shared<const VariableSubstitutes>(),
             others = std::make_shared<const VariableSubstitutes>();
  ProgramKey key = rows(2);
  const std::shared_ptr<Player> own = program.find(key).valueOrThrow();
  key.substitutes = substitutes;
  const std::shared_ptr<Player> first = program.find(key).valueOrThrow();
  CHECK(first != own);
  CHECK(program.find(key).valueOrThrow() == first);
  key.substitutes = others;
  CHECK(program.find(key).valueOrThrow() != first);
  CHECK(program.find(rows(2)).valueOrThrow() == own);
  CHECK(program.compileCount() == 3);
}
