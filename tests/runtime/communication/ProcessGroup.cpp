// Work started by threads, and the thread that communicates with the other processes.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/communication/ProcessGroup.h"
#include "Threads.h"
#include "runtime/communication/CommunicatorAbi.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>

using namespace halftone;
using namespace halftone::test;

namespace {

std::unique_ptr<ProcessGroup> alone() {
  return std::make_unique<ProcessGroup>(std::make_unique<ThreadCommunicator>(std::make_shared<Post>(), 0, 1));
}

} // namespace

TEST_CASE("Work runs in the order in which it was started, and wait() returns when it is done") {
  const std::unique_ptr<ProcessGroup> group = alone();
  std::vector<int> order;
  std::atomic<int> done = 0; // later work runs while the test checks
  std::vector<uint64_t> numbers;
  for (int i = 0; i < 100; ++i)
    numbers.push_back(group->start("work", [&order, &done, i](Collectives &) {
      order.push_back(i);
      ++done;
      return Status();
    }));
  CHECK(group->wait(numbers[50]).isOk());
  CHECK(done > 50);
  CHECK(group->wait(numbers.back()).isOk());
  for (int i = 0; i < 100; ++i)
    CHECK(order[static_cast<size_t>(i)] == i);
}

TEST_CASE("After a failure no later work runs, and each wait for it returns the failure") {
  const std::unique_ptr<ProcessGroup> group = alone();
  std::atomic<int> ran = 0;
  CHECK(group->run("work", [&](Collectives &) { return Status(); }).isOk());
  CHECK(group->run("work", [&](Collectives &) { return Status(ErrorKind::runtime_error, "rank 1 left"); }).message() ==
        "rank 1 left");
  const Status later = group->run("work", [&](Collectives &) {
    ++ran;
    return Status();
  });
  CHECK(later.message() == "rank 1 left");
  CHECK(ran == 0);
}

TEST_CASE("Work that runs beside other work is not waited for") {
  const std::unique_ptr<ProcessGroup> group = alone();
  const auto sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); };
  const auto work = [&](Collectives &) {
    sleep();
    return Status();
  };
  CHECK(group->run("work", work).isOk());
  const GroupTimes whole = group->times();
  CHECK(whole.count == 1);
  CHECK(whole.seconds >= 0.06);
  CHECK(whole.waited >= 0.06);
  const uint64_t number = group->start("work", work);
  while (group->times().count < 2)
    sleep();
  CHECK(group->wait(number).isOk());
  CHECK(group->times().seconds >= 0.12);
  CHECK(group->times().waited - whole.waited < 0.03);
}

TEST_CASE("The communicator knows whether a thread waits for an exchange") {
  auto own = std::make_unique<ThreadCommunicator>(std::make_shared<Post>(), 0, 1);
  const ThreadCommunicator &communicator = *own;
  ProcessGroup group(std::move(own));
  std::atomic<bool> isAwaited = true, isDone = false;
  const uint64_t behindOtherWork = group.start("work", [&](Collectives &) {
    isAwaited = communicator.isAwaited();
    isDone = true;
    return Status();
  });
  while (!isDone)
    std::this_thread::yield();
  CHECK(!isAwaited);
  CHECK(group.wait(behindOtherWork).isOk());
  CHECK(group
            .run("work",
                 [&](Collectives &) {
                   while (!communicator.isAwaited()) // started by the group's thread, possibly before this thread waits
                     std::this_thread::yield();
                   return Status(ErrorKind::runtime_error, "rank 1 left");
                 })
            .message() == "rank 1 left");
  CHECK(!communicator.isAwaited());
}

TEST_CASE("Several threads may start and wait at once") {
  const std::unique_ptr<ProcessGroup> group = alone();
  int64_t sum = 0; // the group runs one task at a time
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i)
        (void)group->run("work", [&](Collectives &) {
          ++sum;
          return Status();
        });
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(sum == 2000);
}

TEST_CASE("Processes that start other work get an error that names both, with the calls around it") {
  auto post = std::make_shared<Post>();
  std::vector<Status> ends(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      ProcessGroup group(std::make_unique<ThreadCommunicator>(post, rank, 2));
      const auto meet = [](Collectives &all) { return all.gather("").status(); };
      const ExchangeScope fit("fit()");
      Status first = group.run("begins", meet);
      const ExchangeScope inner(rank == 0 ? "a step" : "evaluate()");
      ends[static_cast<size_t>(rank)] = first.isOk() ? group.run(rank == 0 ? "" : "begins", meet) : first;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(ends[0].message() == "the processes are not in step: rank 0 is in fit(): a step (exchange 2), rank 1 in fit(): "
                             "evaluate(): begins (exchange 2)");
  CHECK(ends[1].message() ==
        "the processes are not in step: rank 1 is in fit(): evaluate(): begins (exchange 2), rank 0 in "
        "fit(): a step (exchange 2)");
}

TEST_CASE("A label keeps the number of its exchange, however long its words are") {
  struct Hearing final : Communicator {
    std::string heard;
    int rank() const override { return 0; }
    int size() const override { return 2; }
    Status exchange(std::string_view label, std::span<const Outgoing>, std::span<const Incoming>) override {
      heard = label;
      return {};
    }
  };
  auto own = std::make_unique<Hearing>();
  const Hearing &hearing = *own;
  ProcessGroup group(std::move(own));
  CHECK(group.run(std::string(1000, 'x'), [](Collectives &all) { return all.gather("").status(); }).isOk());
  CHECK(hearing.heard.size() < static_cast<size_t>(labelBytes));
  CHECK_THAT(hearing.heard, Catch::StartsWith("xxx") && Catch::EndsWith(" (exchange 1)"));
}
