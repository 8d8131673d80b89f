// Variables: addresses, versions, host access.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/VariableStore.h"
#include "runtime/devices/NullDevice.h"
#include "tests/runtime/devices/FarDevice.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

using namespace halftone;

namespace {
std::shared_ptr<DeviceRuntime> device() { return std::make_shared<NullDevice>(); }
} // namespace

TEST_CASE("a variable begins as zeros or as a copy") {
  VariableStore store(device());
  StatusOr<VariableHandle> zeros = store.create("net/bias", TensorType{float16, {3}});
  REQUIRE(zeros.isOk());
  CHECK((*zeros)->path() == "net/bias");
  CHECK((*zeros)->version() == 0);
  CHECK(reinterpret_cast<uintptr_t>((*zeros)->data()) % bufferAlignment == 0);
  StatusOr<Tensor> value = (*zeros)->read();
  REQUIRE(value.isOk());
  CHECK(value->dtype() == float16);
  CHECK(value->shape() == Shape{3});
  CHECK(static_cast<float>(value->span<float16_t>()[2]) == 0);

  Tensor initial({1, 2, 3, 4}, {2, 2});
  StatusOr<VariableHandle> copied = store.create("net/kernel", initial);
  REQUIRE(copied.isOk());
  initial.mutable_span<float>()[0] = 99;
  CHECK((*copied)->read().valueOrThrow().to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(&(*copied)->lock() == &(*zeros)->lock());
}

TEST_CASE("writing a variable keeps its address and raises its version") {
  VariableHandle w;
  {
    VariableStore store(device());
    w = store.create("w", Tensor({1, 2}, {2})).valueOrThrow();
  } // outlives its store
  const std::byte *address = w->data();
  const uint64_t version = w->version();
  REQUIRE(w->write(Tensor({3, 4}, {2})).isOk());
  CHECK(w->version() == version + 1);
  CHECK(w->data() == address);
  Tensor before = w->read().valueOrThrow();
  REQUIRE(w->write(Tensor({5, 6}, {2})).isOk());
  CHECK(before.to_vector<float>() == std::vector<float>{3, 4}); // a copy
  std::byte bytes[8];
  REQUIRE(w->readBytes(bytes).isOk());
  const float five = 5;
  CHECK(std::memcmp(bytes, &five, 4) == 0);
  REQUIRE(w->writeBytes(std::vector<std::byte>(8)).isOk());
  CHECK(w->read().valueOrThrow().to_vector<float>() == std::vector<float>{0, 0});
}

TEST_CASE("a wrong value leaves the variable as it was") {
  VariableStore store(device());
  VariableHandle w = store.create("net/w", Tensor({1, 2}, {2})).valueOrThrow();
  const uint64_t version = w->version();
  auto check = [&](Status status, const char *expected) {
    REQUIRE(!status.isOk());
    CHECK(status.kind() == ErrorKind::value_error);
    CHECK_THAT(status.message(), Catch::Contains("variable net/w") && Catch::Contains(expected));
  };
  check(w->write(Tensor({1, 2, 3}, {3})), "expected 2xf32, got 3xf32");
  check(w->write(Tensor({1, 2}, {1, 2})), "expected 2xf32, got 1x2xf32");
  check(w->write(Tensor::zeros({2}, float16)), "expected 2xf32, got 2xf16");
  check(w->write(Tensor()), "got an undefined tensor");
  check(w->writeBytes({}), "expected 8 bytes, got 0");
  std::byte bytes[9];
  check(w->readBytes(bytes), "has 8 bytes, but the destination has room for 9");
  CHECK(w->version() == version);
  CHECK(w->read().valueOrThrow().to_vector<float>() == std::vector<float>{1, 2});
}

TEST_CASE("a variable whose type or value is impossible is refused") {
  VariableStore store(device());
  auto check = [&](Status status, ErrorKind kind, const char *expected) {
    REQUIRE(!status.isOk());
    CHECK(status.kind() == kind);
    CHECK_THAT(status.message(), Catch::Contains("variable v: ") && Catch::Contains(expected));
  };
  check(store.create("v", TensorType{float32, {-2}}).status(), ErrorKind::value_error, "negative");
  check(store.create("v", TensorType{DType::string, {}}).status(), ErrorKind::value_error, "no size");
  check(store.create("v", TensorType{float32, {int64_t(1) << 53}}).status(), ErrorKind::device_error, "out of memory");
  check(store.create("v", Tensor()).status(), ErrorKind::value_error, "undefined");
}

TEST_CASE("a variable moves to another device with its value") {
  const std::shared_ptr<DeviceRuntime> host = device();
  const auto far = test::FarDevice::create("cuda:0");
  VariableStore store(host);
  const VariableHandle w = store.create("net/w", Tensor({1, 2, 3}, {3})).valueOrThrow();
  const VariableHandle other = store.on(far).create("net/b", Tensor({4}, {1})).valueOrThrow();
  CHECK(&w->lock() == &other->lock());
  CHECK(&other->device() == far.get());
  REQUIRE(w->shadow("f", 64).isOk());
  const uint64_t version = w->version();
  REQUIRE(w->moveTo(far).isOk());
  CHECK(&w->device() == far.get());
  CHECK(w->version() == version + 1);
  CHECK(w->shadowCounts().shadows == 0);
  CHECK(w->read().valueOrThrow().to_vector<float>() == std::vector<float>{1, 2, 3});
  REQUIRE(w->write(Tensor({4, 5, 6}, {3})).isOk());
  CHECK(w->read().valueOrThrow().to_vector<float>() == std::vector<float>{4, 5, 6});
  REQUIRE(w->moveTo(far).isOk()); // it is already there
  CHECK(w->version() == version + 2);
  REQUIRE(w->moveTo(host).isOk());
  CHECK(w->read().valueOrThrow().to_vector<float>() == std::vector<float>{4, 5, 6});
  CHECK(other->read().valueOrThrow().to_vector<float>() == std::vector<float>{4});
}

TEST_CASE("variables that are written together get all values, or none when one does not fit") {
  VariableStore store(device());
  std::vector<VariableHandle> all{store.create("a", Tensor({1, 2}, {2})).valueOrThrow(),
                                  store.create("b", Tensor::scalar<int32_t>(3)).valueOrThrow(),
                                  store.create("c", Tensor::zeros({0, 2})).valueOrThrow()};
  const auto values = [&] {
    const std::vector<Tensor> read = readTogether(all).valueOrThrow();
    REQUIRE(read.size() == 3);
    CHECK(read[2].shape() == Shape{0, 2});
    return std::pair(read[0].to_vector<float>(), read[1].item<int32_t>());
  };
  CHECK(values() == std::pair(std::vector<float>{1, 2}, 3));
  const uint64_t version = all[0]->version();
  const std::vector<Tensor> fitting{Tensor({4, 5}, {2}), Tensor::scalar<int32_t>(6), Tensor::zeros({0, 2})};
  REQUIRE(writeTogether(all, fitting).isOk());
  CHECK(values() == std::pair(std::vector<float>{4, 5}, 6));
  CHECK(all[0]->version() == version + 1);
  for (const Tensor &wrong : {Tensor::scalar(1.0f), Tensor::zeros({1}, int32), Tensor()}) {
    std::vector<Tensor> refused = fitting;
    refused[0] = Tensor({7, 8}, {2});
    refused[1] = wrong;
    const Status status = writeTogether(all, refused);
    REQUIRE_FALSE(status.isOk());
    CHECK(status.kind() == ErrorKind::value_error);
    CHECK(status.message().starts_with("variable b: expected "));
  }
  CHECK(writeTogether(all, {fitting[0]}).message() == "1 values for 3 variables");
  CHECK(values() == std::pair(std::vector<float>{4, 5}, 6));
  CHECK(readTogether({}).valueOrThrow().empty());
  CHECK(writeTogether({}, {}).isOk());
}

TEST_CASE("variables of several stores are read and written in one moment, whatever their order") {
  constexpr int64_t elements = 1 << 16; // large enough to be observed half written
  VariableStore first(device()), second(device());
  const VariableHandle a = first.create("a", Tensor::zeros({elements})).valueOrThrow();
  const VariableHandle b = second.create("b", Tensor::zeros({elements})).valueOrThrow();
  REQUIRE(&a->lock() != &b->lock());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 1; i <= 300; ++i) {
      const Tensor value = Tensor::full({elements}, i);
      (void)writeTogether({a, b}, {value, value});
    }
    done = true;
  });
  int64_t torn = 0;
  while (!done) {
    const std::vector<Tensor> seen = readTogether({b, a, b}).valueOrThrow();
    torn += seen[0].to_vector<float>() != seen[1].to_vector<float>();
  }
  writer.join();
  CHECK(torn == 0);
  CHECK(readTogether({b, a}).valueOrThrow()[0].span<float>()[elements - 1] == 300);
}
