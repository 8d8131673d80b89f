// The null device records launches and computes nothing.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/NullDevice.h"
#include "runtime/Player.h"
#include "tests/runtime/TestPlan.h"
#include <catch2/catch.hpp>

using namespace halftone;

TEST_CASE("a plan played on the null device shows its launches") {
  auto device = std::make_shared<NullDevice>();
  VariableStore store(device);
  const float seven[] = {7, 7, 7};
  StatusOr<VariableHandle> w = store.create("net/w", Tensor(std::span<const float>(seven), {3}));
  REQUIRE(w.isOk());
  auto exe = std::make_shared<const Executable>(test::testExecutable(3));
  StatusOr<std::shared_ptr<Player>> player = Player::bind(exe, test::testKernels(), device, {{"w", *w}});
  REQUIRE(player.isOk());
  device->takeRecords();

  const Tensor x({1, 2, 3}, {3});
  Tensor go = Tensor::zeros({}, DType::bool_);
  StatusOr<std::vector<Tensor>> fetched = (*player)->play(std::vector{x, go});
  REQUIRE(fetched.isOk());
  std::vector<NullDevice::Record> records = device->takeRecords();
  REQUIRE(records.size() == 2);
  CHECK(records[0].kernel == "add");
  CHECK(records[0].grid == 1);
  CHECK(records[0].extents == std::vector<int64_t>{3});
  CHECK(records[0].scratchBytes == 32);
  REQUIRE(records[0].buffers.size() == 3);
  CHECK(records[0].buffers[1] == (*w)->data());
  CHECK(records[1].kernel == "halve");
  CHECK(records[1].buffers[0] == records[0].buffers[2]);
  CHECK((*fetched)[0].to_vector<float>() == std::vector<float>{0, 0, 0}); // never computed
  CHECK((*fetched)[1].to_vector<float>() == std::vector<float>{7, 7, 7}); // copied

  REQUIRE((*player)->play(std::vector{x, Tensor::ones({}, DType::bool_)}).isOk());
  records = device->takeRecords();
  REQUIRE(records.size() == 3);
  CHECK(records[2].kernel == "add");
  CHECK(device->takeRecords().empty());
}
