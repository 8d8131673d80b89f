// Plans with collectives, played by threads that represent processes, and by a single process.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/PlanCollectives.h"
#include "runtime/Player.h"
#include "runtime/devices/CpuDevice.h"
#include "tests/runtime/TestPlan.h"
#include "tests/runtime/communication/Threads.h"
#include "tests/runtime/devices/FarDevice.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;

namespace {

constexpr int64_t elements = 3000;

/// The fetch y of sharingExecutable() with x = `x` and @w = 0, so h = x / 2 + 1; then the fetch of a second play.
StatusOr<std::vector<std::vector<float>>> playTwice(float x, std::shared_ptr<ProcessGroup> group,
                                                    const Executable &executable = sharingExecutable(elements)) {
  StatusOr<std::shared_ptr<CpuDevice>> device = CpuDevice::create(1);
  HALFTONE_RETURN_IF_ERROR(device.status());
  VariableStore store(*device);
  StatusOr<VariableHandle> w = store.create("net/w", Tensor::zeros({elements}));
  HALFTONE_RETURN_IF_ERROR(w.status());
  StatusOr<std::shared_ptr<Player>> player =
      Player::bind(std::make_shared<const Executable>(executable), testKernels(), *device, {{"w", *w}}, {}, group);
  HALFTONE_RETURN_IF_ERROR(player.status());
  std::vector<std::vector<float>> results;
  for (int play = 0; play < 2; ++play) {
    StatusOr<std::vector<Tensor>> fetched =
        (*player)->play(std::vector{Tensor::full({elements}, x), Tensor::full({}, 0, DType::bool_)});
    HALFTONE_RETURN_IF_ERROR(fetched.status());
    results.push_back((*fetched)[0].to_vector<float>());
  }
  return results;
}

} // namespace

TEST_CASE("Players of several processes get the sum of their values, at each play") {
  std::mutex mutex;
  std::vector<StatusOr<std::vector<std::vector<float>>>> results;
  auto post = std::make_shared<Post>();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      auto group = std::make_shared<ProcessGroup>(std::make_unique<ThreadCommunicator>(post, rank, 3));
      auto own = playTwice(static_cast<float>(2 * rank), group);
      const std::lock_guard lock(mutex);
      results.push_back(std::move(own));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &result : results) {
    REQUIRE(result.isOk());
    for (const std::vector<float> &play : *result)
      CHECK(play == std::vector<float>(elements, 6)); // 0 + 1, 1 + 1, 2 + 1
  }
}

TEST_CASE("Plans whose collectives combine other arrays are told apart by their labels, at the first play") {
  auto post = std::make_shared<Post>();
  std::vector<std::string> errors(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      auto group = std::make_shared<ProcessGroup>(std::make_unique<ThreadCommunicator>(post, rank, 2));
      const auto played = rank == 0 ? playTwice(1, group) : playTwice(1, group, dividingExecutable(elements, 1));
      errors[static_cast<size_t>(rank)] = played.status().message();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    CHECK_THAT(error, Catch::Contains("not in step") && Catch::Contains(" in 1 of 1: all_reduce sum of ") &&
                          Catch::Contains(" in 1 of 2: reduce_scatter of "));
}

TEST_CASE("A process alone gets its own values") {
  const auto results = playTwice(4, nullptr);
  REQUIRE(results.isOk());
  CHECK((*results)[0] == std::vector<float>(elements, 3));
  CHECK((*results)[1] == std::vector<float>(elements, 3));
}

TEST_CASE("Players of two processes get their parts of a sum, and gather them") {
  std::mutex mutex;
  auto post = std::make_shared<Post>();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      auto group = std::make_shared<ProcessGroup>(std::make_unique<ThreadCommunicator>(post, rank, 2));
      const auto own = playTwice(static_cast<float>(2 * rank), group, dividingExecutable(elements, rank));
      const std::lock_guard lock(mutex);
      REQUIRE(own.isOk());
      for (const std::vector<float> &play : *own)
        CHECK(play == std::vector<float>(elements, 3)); // 0 + 1, 1 + 1
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_CASE("A process alone gets 0 for the parts of others") {
  const auto results = playTwice(4, nullptr, dividingExecutable(elements, 1));
  REQUIRE(results.isOk());
  std::vector<float> expected(elements, 3);
  std::fill_n(expected.begin(), elements / 3, 0.0f);
  CHECK((*results)[1] == expected);
}

TEST_CASE("A plan for another rank, or for more processes, is refused") {
  auto post = std::make_shared<Post>();
  const auto refusal = [&](int rank, int size, int64_t planned) {
    auto group = std::make_shared<ProcessGroup>(std::make_unique<ThreadCommunicator>(post, rank, size));
    return playTwice(4, group, dividingExecutable(elements, planned)).status().message();
  };
  CHECK_THAT(refusal(0, 2, 1), Catch::EndsWith("the plan is for rank 1 of 2 processes, but this is rank 0 of 2"));
  CHECK_THAT(refusal(0, 3, 0), Catch::EndsWith("the plan is for rank 0 of 2 processes, but this is rank 0 of 3"));
}

TEST_CASE("A failure of the communication is the play's") {
  struct Failing final : Communicator {
    int rank() const override { return 0; }
    int size() const override { return 2; }
    Status exchange(std::string_view, std::span<const Outgoing>, std::span<const Incoming>) override {
      return {ErrorKind::runtime_error, "rank 1 has left"};
    }
  };
  const auto results = playTwice(4, std::make_shared<ProcessGroup>(std::make_unique<Failing>()));
  REQUIRE(!results.isOk());
  CHECK(results.status().message() == "rank 1 has left");
}

TEST_CASE("A group is refused on a device whose memory is not the host's") {
  auto far = FarDevice::create("far");
  VariableStore store(far);
  const VariableHandle w = store.create("net/w", Tensor::zeros({elements})).valueOrThrow();
  struct Two final : Communicator {
    int rank() const override { return 0; }
    int size() const override { return 2; }
    Status exchange(std::string_view, std::span<const Outgoing>, std::span<const Incoming>) override { return {}; }
  };
  const Status status = Player::bind(std::make_shared<const Executable>(sharingExecutable(elements)), testKernels(),
                                     far, {{"w", w}}, {}, std::make_shared<ProcessGroup>(std::make_unique<Two>()))
                            .status();
  REQUIRE(!status.isOk());
  CHECK(status.kind() == ErrorKind::not_implemented_error);
}
