// Plans played on the CPU: values, predicates, threads, feeds, bindings.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/Player.h"
#include "runtime/TensorAccess.h"
#include "runtime/devices/CpuDevice.h"
#include "tests/runtime/TestPlan.h"
#include "tests/runtime/devices/FarDevice.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <thread>

using namespace halftone;
using namespace halftone::test;

namespace {

std::shared_ptr<CpuDevice> cpu(int threads) { return CpuDevice::create(threads).valueOrThrow(); }

Tensor ramp(int64_t n, float first) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), first);
  return Tensor(std::move(values), Shape{n});
}

Tensor flag(bool value) { return Tensor::full({}, value, DType::bool_); }

/// testExecutable() on a device, with @w = 10, 11, 12, ...
struct Bound {
  std::shared_ptr<CpuDevice> device;
  VariableStore store;
  VariableHandle w;
  std::shared_ptr<Player> player;
  explicit Bound(int64_t n, int threads = 1, std::shared_ptr<CpuDevice> given = {})
      : device(given ? given : cpu(threads)), store(device), w(store.create("net/w", ramp(n, 10)).valueOrThrow()),
        player(Player::bind(std::make_shared<const Executable>(testExecutable(n)), testKernels(), device, {{"w", w}})
                   .valueOrThrow()) {}
  std::vector<Tensor> play(const Tensor &x, bool go) { return player->play(std::vector{x, flag(go)}).valueOrThrow(); }
};

Status bindStatus(const Executable &exe, const VariableBinding &variables,
                  std::shared_ptr<const KernelLibrary> kernels = testKernels()) {
  return Player::bind(std::make_shared<const Executable>(exe), kernels, cpu(1), variables).status();
}

} // namespace

TEST_CASE("a plan computes, copies and obeys its predicates") {
  Bound bound(20);
  std::vector<Tensor> fetched = bound.play(ramp(20, 0), true);
  REQUIRE(fetched.size() == 2);
  for (int i = 0; i < 20; ++i) {
    CHECK(fetched[0].span<float>()[i] == (10 + 2 * i) * 0.5f + 1);
    CHECK(fetched[1].span<float>()[i] == 10 + i);
  }
  std::vector<float> w = bound.w->read().valueOrThrow().to_vector<float>();
  for (int i = 0; i < 20; ++i)
    CHECK(w[i] == (10 + 2 * i) * 0.5f + 2);

  std::vector<Tensor> next = bound.play(ramp(20, 0), false);
  CHECK(next[1].to_vector<float>() == w);
  CHECK(fetched[1].span<float>()[0] == 10); // fetches are fresh
  CHECK(bound.w->read().valueOrThrow().to_vector<float>() == std::vector<float>(20, 0));
}

TEST_CASE("the parts of a launch all run, under the launch's condition") {
  // Step 4, h + c -> w if go is true, gets a second part: h + h -> old.
  Executable exe = testExecutable(50);
  LaunchStep part = std::get<LaunchStep>(exe.plan.steps[4]);
  part.joined = true;
  part.buffers = {6, 6, 4};
  exe.plan.steps.insert(exe.plan.steps.begin() + 5, part);
  for (int threads : {1, 3}) {
    auto device = cpu(threads);
    VariableStore store(device);
    VariableHandle w = store.create("net/w", ramp(50, 10)).valueOrThrow();
    auto player =
        Player::bind(std::make_shared<const Executable>(exe), testKernels(), device, {{"w", w}}).valueOrThrow();
    std::vector<Tensor> fetched = player->play(std::vector{ramp(50, 0), flag(true)}).valueOrThrow();
    std::vector<float> updated = w->read().valueOrThrow().to_vector<float>();
    for (int i = 0; i < 50; ++i) {
      CHECK(updated[i] == (10 + 2 * i) * 0.5f + 2);
      CHECK(fetched[1].span<float>()[i] == 10 + 2 * i + 2);
    }
    fetched = player->play(std::vector{ramp(50, 0), flag(false)}).valueOrThrow();
    CHECK(fetched[1].to_vector<float>() == updated);
  }
}

TEST_CASE("a plan gives the same bits for any number of threads") {
  const int64_t n = 5003;
  std::vector<std::vector<float>> results;
  for (int threads : {1, 2, 3, 7}) {
    Bound bound(n, threads);
    std::vector<float> all;
    for (int step = 0; step < 5; ++step) {
      for (const Tensor &tensor : bound.play(ramp(n, 0.1f * step), step != 3))
        all.insert(all.end(), tensor.span<float>().begin(), tensor.span<float>().end());
    }
    results.push_back(std::move(all));
  }
  for (const auto &result : results)
    CHECK(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(float)) == 0);
  CHECK(results[0].size() == 10 * n);
}

TEST_CASE("written variables get a new version, host writes are seen by the next play") {
  Bound bound(4);
  const uint64_t version = bound.w->version();
  bound.play(ramp(4, 0), true);
  CHECK(bound.w->version() > version);
  REQUIRE(bound.w->write(Tensor({1, 2, 3, 4}, {4})).isOk());
  CHECK(bound.play(ramp(4, 0), true)[1].to_vector<float>() == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("a player copies feeds that are not aligned") {
  Bound bound(16), same(16);
  std::vector<float> memory(16 + 1 + 16);
  std::iota(memory.begin(), memory.end(), -1.0f);
  for (size_t offset = 0; offset < 16; ++offset) {
    std::span<float> part(memory.data() + offset, 16);
    Tensor borrowed = Tensor::borrow(part, {16});
    Tensor copied(std::span<const float>(part), {16});
    CHECK(bound.play(borrowed, true)[0].to_vector<float>() == same.play(copied, true)[0].to_vector<float>());
  }
}

TEST_CASE("a wrong feed is named and changes nothing") {
  Bound bound(4);
  const uint64_t version = bound.w->version();
  const Tensor x = ramp(4, 0);
  auto check = [&](const std::vector<Tensor> &feeds, const char *expected) {
    Status status = bound.player->play(feeds).status();
    REQUIRE(!status.isOk());
    CHECK(status.kind() == ErrorKind::value_error);
    CHECK_THAT(status.message(), Catch::Contains("step: ") && Catch::Contains(expected));
  };
  check({x}, "expected 2 feeds, got 1");
  check({}, "expected 2 feeds, got 0");
  check({x, flag(true), x}, "expected 2 feeds, got 3");
  check({ramp(5, 0), flag(true)}, "feed 'x': expected 4xf32, got 5xf32");
  check({Tensor::zeros({4}, float16), flag(true)}, "feed 'x': expected 4xf32, got 4xf16");
  check({x.reshape({2, 2}), flag(true)}, "feed 'x': expected 4xf32, got 2x2xf32");
  check({x, Tensor::zeros({}, uint8)}, "feed 'go': expected i1, got ui8");
  check({x, Tensor()}, "feed 'go': expected i1, got an undefined tensor");
  CHECK(bound.w->version() == version);
  CHECK(bound.w->read().valueOrThrow().to_vector<float>() == ramp(4, 10).to_vector<float>());
  CHECK(bound.play(x, true).size() == 2);
}

TEST_CASE("the host's work before a play computes without a lock, and puts its values in place within the play's") {
  Bound bound(4);
  int prepared = 0, begun = 0;
  const auto isLocked = [&] {
    bool locked = false; // queried from another thread, since a mutex does not reveal its owner
    std::thread([&] { (locked = !bound.w->lock().try_lock()) || (bound.w->lock().unlock(), true); }).join();
    return locked;
  };
  const auto prepare = [&]() -> BeforePlay::Begin {
    CHECK_FALSE(isLocked());
    return [&, value = static_cast<float>(++prepared)]() -> StatusOr<bool> {
      CHECK(isLocked());
      if (++begun % 2 == 1) // as if another play had intervened
        return false;
      const Tensor w = ramp(4, value);
      HALFTONE_RETURN_IF_ERROR(bound.w->writeBytesLocked({TensorAccess::data(w), 16}));
      return true;
    };
  };
  auto player = Player::bind(std::make_shared<const Executable>(testExecutable(4)), testKernels(), bound.device,
                             {{"w", bound.w}}, {{{bound.w}, prepare}})
                    .valueOrThrow();
  for (float first : {2.0f, 4.0f}) // the second of two attempts
    CHECK(player->play(std::vector{ramp(4, 0), flag(true)}).valueOrThrow()[1].to_vector<float>() ==
          ramp(4, first).to_vector<float>());
  CHECK_FALSE(player->play(std::vector{ramp(5, 0), flag(true)}).isOk());
  CHECK(prepared == 4);
  CHECK(begun == 4);
}

TEST_CASE("an error of the host's work before a play leaves the variables as they were, and the player plays again") {
  Bound bound(4);
  bool fails = true;
  const auto prepare = [&]() -> BeforePlay::Begin {
    return [&]() -> StatusOr<bool> {
      if (fails)
        return Status(ErrorKind::runtime_error, "no rate");
      return true;
    };
  };
  auto player = Player::bind(std::make_shared<const Executable>(testExecutable(4)), testKernels(), bound.device,
                             {{"w", bound.w}}, {{{}, prepare}})
                    .valueOrThrow();
  const uint64_t version = bound.w->version();
  CHECK(player->play(std::vector{ramp(4, 0), flag(true)}).status().message() == "no rate");
  CHECK(bound.w->version() == version);
  fails = false;
  CHECK(player->play(std::vector{ramp(4, 0), flag(true)}).isOk());
}

TEST_CASE("bind names the kernel or variable that it cannot bind") {
  Executable exe = testExecutable(4);
  VariableStore store(cpu(1));
  VariableHandle w = store.create("net/w", ramp(4, 0)).valueOrThrow();
  CHECK(bindStatus(exe, {{"w", w}, {"other", w}}).isOk());

  Status status = bindStatus(exe, {});
  CHECK(status.kind() == ErrorKind::key_error);
  CHECK_THAT(status.message(), Catch::Contains("step: variable @w (net/w) is not bound"));
  CHECK(bindStatus(exe, {{"w", nullptr}}).kind() == ErrorKind::key_error);

  status = bindStatus(exe, {{"w", store.create("short", ramp(3, 0)).valueOrThrow()}});
  CHECK(status.kind() == ErrorKind::value_error);
  CHECK_THAT(status.message(), Catch::Contains("the plan expects 4xf32, got 3xf32"));

  status = bindStatus(exe, {{"w", w}},
                      std::make_shared<FunctionLibrary>(std::map<std::string, CpuKernelFunction>{{"add", addKernel}}));
  CHECK(status.kind() == ErrorKind::key_error);
  CHECK_THAT(status.message(), Catch::Contains("step: no code for kernel halve"));

  Executable twice = exe;
  twice.variables.push_back({"v", "net/v", exe.variables[0].type, true, false});
  status = bindStatus(twice, {{"w", w}, {"v", w}});
  CHECK(status.kind() == ErrorKind::value_error);
  CHECK_THAT(status.message(), Catch::Contains("net/w is bound to two symbols"));

  Executable huge = exe;
  huge.plan.arenaBytes = int64_t(1) << 59;
  CHECK(bindStatus(huge, {{"w", w}}).kind() == ErrorKind::device_error);
  huge.plan.steps.push_back(launchOf("mul", 4, {0}, {3}));
  status = bindStatus(huge, {{"w", w}});
  CHECK(status.kind() == ErrorKind::value_error);
  CHECK_THAT(status.message(), Catch::Contains("step 6: no kernel 'mul'"));
}

TEST_CASE("empty tensors flow through a plan") {
  Bound bound(0);
  std::vector<Tensor> fetched = bound.play(Tensor::zeros({0}), true);
  REQUIRE(fetched.size() == 2);
  CHECK(fetched[0].shape() == Shape{0});
}

TEST_CASE("players on one device and one store play from several threads") {
  const int64_t n = 300;
  auto device = cpu(3);
  VariableStore store(device);
  std::vector<VariableHandle> variables;
  std::vector<std::shared_ptr<Player>> players;
  auto exe = std::make_shared<const Executable>(testExecutable(n));
  for (int i = 0; i < 3; ++i) {
    variables.push_back(store.create("w", ramp(n, 10)).valueOrThrow());
    players.push_back(Player::bind(exe, testKernels(), device, {{"w", variables[i]}}).valueOrThrow());
  }
  Bound alone(n), other(n, 1, device); // `other` has a store of its own
  std::atomic<int> failures{0};
  auto playMany = [&](Player &player) {
    for (int round = 0; round < 100; ++round)
      failures += !player.play(std::vector{ramp(n, 1), flag(true)}).isOk();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&, i] { playMany(*players[i % 3]); });
  threads.emplace_back([&] { playMany(*other.player); });
  threads.emplace_back([&] {
    for (int round = 0; round < 100; ++round)
      failures += !variables[0]->read().isOk();
  });
  for (std::thread &thread : threads)
    thread.join();
  playMany(*alone.player);
  CHECK(failures == 0);
  CHECK(other.w->read().valueOrThrow().to_vector<float>() == alone.w->read().valueOrThrow().to_vector<float>());
  playMany(*alone.player); // the players of `players` have played twice as often
  for (const VariableHandle &variable : variables)
    CHECK(variable->read().valueOrThrow().to_vector<float>() == alone.w->read().valueOrThrow().to_vector<float>());
}

namespace {
/// testExecutable() on the far device, and on the CPU for comparison.
struct Far {
  std::shared_ptr<FarDevice> device = FarDevice::create("cuda:0");
  VariableStore store{device};
  VariableHandle w = store.create("net/w", ramp(20, 10)).valueOrThrow();
  std::shared_ptr<const Executable> executable = std::make_shared<const Executable>(testExecutable(20));
  std::shared_ptr<Player> player = Player::bind(executable, testKernels(), device, {{"w", w}}).valueOrThrow();
};
} // namespace

TEST_CASE("a plan plays on a device apart, and nothing waits for it") {
  Bound near(20);
  Far far;
  const DeviceCounters before = far.device->counters();
  std::vector<std::vector<Tensor>> expected, got;
  for (int i = 0; i < 100; ++i) {
    const std::vector<Tensor> feeds = {ramp(20, static_cast<float>(i)), flag(i % 3 != 0)};
    expected.push_back(near.player->play(feeds).valueOrThrow());
    got.push_back(far.player->play(feeds).valueOrThrow());
  }
  const DeviceCounters after = far.device->counters();
  CHECK(after.waits == before.waits);
  CHECK(after.downloads == before.downloads);
  CHECK(after.uploads - before.uploads == 200);
  CHECK(after.launches - before.launches ==
        near.device->counters().launches + 34); // also counts launches whose condition does not hold
  for (size_t i = 0; i < got.size(); ++i)
    for (size_t fetch = 0; fetch < 2; ++fetch)
      CHECK(got[i][fetch].to_vector<float>() == expected[i][fetch].to_vector<float>());
  CHECK(far.w->read().valueOrThrow().to_vector<float>() == near.w->read().valueOrThrow().to_vector<float>());
}

TEST_CASE("feeds on the device are read in place, and those of another are copied") {
  Far far;
  const auto third = FarDevice::create("cuda:1");
  const Tensor x = ramp(32, 0), go = flag(true);
  auto on = [](const std::shared_ptr<DeviceRuntime> &device, const Tensor &tensor) {
    return TensorAccess::on(device, tensor);
  };
  const std::vector<float> expected =
      far.player->play(std::vector{x.slice(4, 24), go}).valueOrThrow()[0].to_vector<float>();
  auto play = [&](const Tensor &feed) {
    REQUIRE(far.w->write(ramp(20, 10)).isOk());
    return far.player->play(std::vector{feed, on(far.device, go)}).valueOrThrow()[0].to_vector<float>();
  };
  CHECK(play(on(far.device, x).slice(4, 24)) == expected); // unaligned, so it is copied on the device
  const Tensor whole = on(far.device, x.slice(4, 24));
  const int64_t uploads = far.device->counters().uploads;
  CHECK(play(whole) == expected);
  CHECK(far.device->counters().uploads == uploads + 2); // the uploads of the variable and the flag
  CHECK(play(on(third, x).slice(4, 24)) == expected);
  CHECK(third->counters().downloads == 1);
}

TEST_CASE("a plan is not bound to variables of another device, and not played when they have moved") {
  Far far;
  const auto bound = Player::bind(far.executable, testKernels(), cpu(1), {{"w", far.w}});
  CHECK(bound.status().kind() == ErrorKind::value_error);
  CHECK_THAT(bound.status().message(), Catch::Contains("the plan runs on cpu, but variable net/w is on cuda:0"));
  REQUIRE(far.w->moveTo(cpu(1)).isOk());
  const Status status = far.player->play(std::vector{ramp(20, 0), flag(true)}).status();
  CHECK(status.kind() == ErrorKind::value_error);
  CHECK_THAT(status.message(), Catch::Contains("the plan runs on cuda:0, but variable net/w has moved to cpu"));
  CHECK(far.w->read().valueOrThrow().to_vector<float>() == ramp(20, 10).to_vector<float>());
}
