// Fixed addresses of fetches, and tensors that keep their values.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/FetchBuffers.h"
#include "runtime/TensorAccess.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/devices/ForwardingDevice.h"
#include "tests/runtime/devices/FarDevice.h"
#include <catch2/catch.hpp>
#include <numeric>

using namespace halftone;

namespace {

struct CopyCounter final : ForwardingQueue {
  using ForwardingQueue::ForwardingQueue;
  void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) override {
    ++copies;
    ForwardingQueue::copy(to, from, bytes, condition);
  }
  int copies = 0;
};

Executable fetching(const std::vector<int64_t> &elements) {
  Executable executable;
  executable.name = "report";
  for (const int64_t count : elements)
    executable.signature.fetches.push_back({"of " + std::to_string(count), {DType::float32, {count}}});
  return executable;
}

/// Writes numbers to the address of each fetch, ascending from `first` plus its index, and copies the fetches to their
/// tensors.
std::vector<Tensor> play(FetchBuffers &places, const Executable &executable, DeviceRuntime &device, DeviceQueue &queue,
                         float first) {
  StatusOr<std::vector<Tensor>> tensors = places.tensors();
  REQUIRE(tensors.isOk());
  for (size_t i = 0; i < tensors->size(); ++i) {
    std::vector<float> values(static_cast<size_t>(executable.signature.fetches[i].type.elements()));
    std::iota(values.begin(), values.end(), first + static_cast<float>(i));
    REQUIRE(device.upload(places.address(i), std::as_bytes(std::span(values))).isOk());
  }
  queue.begin();
  places.copyOut(queue);
  REQUIRE(queue.finish().isOk());
  return *tensors;
}

} // namespace

TEST_CASE("Fetches of up to 1 MiB on a device apart have addresses that stay; the small ones leave with one copy") {
  const auto device = test::FarDevice::create("cuda:0");
  constexpr int64_t large = FetchBuffers::maxFixedBytes / 4 + 1;
  const Executable executable = fetching({1, 300, 256, large, 0, large - 1, 3});
  StatusOr<FetchBuffers> places = FetchBuffers::make(executable, device);
  REQUIRE(places.isOk());
  CopyCounter queue(device->makeQueue(0).valueOrThrow());
  std::vector<std::vector<Tensor>> kept;
  std::vector<std::vector<std::byte *>> addresses;
  for (const float first : {1.0f, 10.0f, 100.0f}) {
    kept.push_back(play(*places, executable, *device, queue, first));
    addresses.emplace_back();
    for (size_t i = 0; i < executable.signature.fetches.size(); ++i)
      addresses.back().push_back(places->address(i));
  }
  CHECK(queue.copies == 3 * 3); // fetches of 1, 256, 0 and 3 floats; of 300 floats; of 1 MiB
  for (size_t i = 0; i < executable.signature.fetches.size(); ++i) {
    const bool isLarge = i == 3;
    CHECK((addresses[0][i] == addresses[2][i]) == !isLarge);
    for (size_t play = 0; play < kept.size(); ++play) {
      CHECK((TensorAccess::address(kept[play][i]) == addresses[play][i]) == isLarge);
      CHECK(reinterpret_cast<uintptr_t>(TensorAccess::address(kept[play][i])) % bufferAlignment == 0);
      const std::vector<float> values = kept[play][i].to_vector<float>();
      REQUIRE(std::ssize(values) == executable.signature.fetches[i].type.elements());
      const float first = (play == 0 ? 1.0f : play == 1 ? 10.0f : 100.0f) + static_cast<float>(i);
      if (!values.empty()) {
        CHECK(values.front() == first);
        CHECK(values.back() == first + static_cast<float>(values.size() - 1));
      }
    }
  }
}

TEST_CASE("Fetches on the host are made in their tensors") {
  const std::shared_ptr<DeviceRuntime> device = *CpuDevice::create(1);
  const Executable executable = fetching({1, 300});
  StatusOr<FetchBuffers> places = FetchBuffers::make(executable, device);
  REQUIRE(places.isOk());
  CopyCounter queue(device->makeQueue(0).valueOrThrow());
  const std::vector<Tensor> first = play(*places, executable, *device, queue, 1),
                            second = play(*places, executable, *device, queue, 5);
  CHECK(queue.copies == 0);
  CHECK(first[0].to_vector<float>() == std::vector<float>{1});
  CHECK(second[0].to_vector<float>() == std::vector<float>{5});
  CHECK(TensorAccess::address(second[1]) == places->address(1));
}

TEST_CASE("A device without room for the fetches of a plan names the plan and the fetch") {
  struct Full final : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    StatusOr<DeviceMemory> allocate(int64_t) override { return Status(ErrorKind::device_error, "no room"); }
    StatusOr<DeviceMemory> allocateUndefined(int64_t bytes) override { return allocate(bytes); }
    StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t bytes) override { return inner().makeQueue(bytes); }
  };
  const auto device = std::make_shared<Full>(test::FarDevice::create("cuda:0"));
  const Executable small = fetching({2}), large = fetching({FetchBuffers::maxFixedBytes});
  CHECK(FetchBuffers::make(small, device).status().message() == "report: its fetches: no room");
  StatusOr<FetchBuffers> places = FetchBuffers::make(large, device);
  REQUIRE(places.isOk());
  CHECK(places->tensors().status().message() == "report: fetch 'of 1048576': no room");
}
