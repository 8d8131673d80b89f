// Collectives of two emulated GPUs, each with a thread that represents a process.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/NcclCollectives.h"
#include "runtime/Player.h"
#include "tests/runtime/TestPlan.h"
#include "tests/runtime/communication/Threads.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include "tests/runtime/devices/cuda/PtxKernels.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <limits>

using namespace halftone;
using cuda::CudaDevice;
using test::Environment;

namespace {

/// Set before the library looks for NCCL.
[[maybe_unused]] const int chosen = setenv("HALFTONE_NCCL", HALFTONE_EMULATED_NCCL, 0);

/// Two GPUs of an emulated driver. Only one pair may exist at a time.
struct TwoGpus {
  explicit TwoGpus(Environment environment) : environment(withTwo(std::move(environment))) {
    const auto driver = test::openEmulated();
    REQUIRE(driver.isOk());
    for (int index = 0; index < 2; ++index)
      devices.push_back(CudaDevice::open(*driver, index).valueOrThrow());
  }
  static Environment withTwo(Environment environment) {
    environment.emplace_back("HALFTONE_EMULATOR_DEVICES", "2");
    return environment;
  }
  test::SetEnvironment environment;
  std::vector<std::shared_ptr<CudaDevice>> devices;
};

/// Runs `body` in one thread per rank, and returns the result of each.
template <class T> std::vector<T> inRanks(const std::function<T(std::shared_ptr<ProcessGroup>)> &body) {
  auto post = std::make_shared<test::Post>();
  std::vector<std::optional<T>> results(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      results[static_cast<size_t>(rank)] =
          body(std::make_shared<ProcessGroup>(std::make_unique<test::ThreadCommunicator>(post, rank, 2)));
    });
  for (std::thread &thread : threads)
    thread.join();
  return {*std::move(results[0]), *std::move(results[1])};
}

/// The results of a collective on values that a preceding copy writes, read by a subsequent copy.
template <class T>
StatusOr<std::vector<T>> combined(CudaDevice &device, const std::shared_ptr<ProcessGroup> &group, CollectiveKind kind,
                                  DType dtype, const std::vector<T> &own) {
  const auto bytes = static_cast<int64_t>(own.size() * sizeof(T));
  std::vector<DeviceMemory> memories;
  for (int i = 0; i < 4; ++i)
    memories.push_back(device.allocate(bytes).valueOrThrow());
  device.upload(memories[0].get(), std::as_bytes(std::span(own))).orThrow();
  auto queue = device.makeQueue(0).valueOrThrow();
  auto collectives = device.join(group);
  HALFTONE_RETURN_IF_ERROR(collectives.status());
  const SharedArray array{dtype, static_cast<int64_t>(own.size()), memories[1].get(), memories[2].get()};
  queue->begin();
  queue->copy(memories[1].get(), memories[0].get(), bytes, {});
  HALFTONE_RETURN_IF_ERROR((*collectives)->start(kind, {&array, 1}));
  HALFTONE_RETURN_IF_ERROR((*collectives)->wait());
  queue->copy(memories[3].get(), memories[2].get(), bytes, {});
  HALFTONE_RETURN_IF_ERROR(queue->finish());
  std::vector<T> result(own.size());
  HALFTONE_RETURN_IF_ERROR(device.download(std::as_writable_bytes(std::span(result)), memories[3].get()));
  return result;
}

template <class T>
void checkCombined(CollectiveKind kind, DType dtype, std::vector<T> first, std::vector<T> second,
                   std::vector<T> expected, const char *seed = "0") {
  const TwoGpus gpus({{"HALFTONE_EMULATOR_SEED", seed}});
  const auto results = inRanks<StatusOr<std::vector<T>>>([&](std::shared_ptr<ProcessGroup> group) {
    return combined(*gpus.devices[static_cast<size_t>(group->rank())], group, kind, dtype,
                    group->rank() ? second : first);
  });
  for (const auto &result : results) {
    INFO(result.status().str());
    REQUIRE(result.isOk());
    CHECK(*result == expected);
  }
}

} // namespace

TEST_CASE("Two GPUs get the sum of their values, of each dtype that NCCL has") {
  constexpr CollectiveKind sum = CollectiveKind::sum;
  checkCombined<float>(sum, DType::float32, {1, 2.5f, -3}, {4, 0.25f, 3}, {5, 2.75f, 0});
  checkCombined<double>(sum, DType::float64, {1, 1e300}, {1e-9, 1e300}, {1 + 1e-9, 2e300});
  checkCombined<uint16_t>(sum, DType::float16, {0x3c00, 0x7bff}, {0x3c00, 0x7bff}, {0x4000, 0x7c00});  // 1, 65504
  checkCombined<uint16_t>(sum, DType::bfloat16, {0x3f80, 0x7f80}, {0x3f80, 0x3f80}, {0x4000, 0x7f80}); // 1, inf
  checkCombined<int8_t>(sum, DType::int8, {100, -1}, {100, -1}, {-56, -2});
  checkCombined<uint8_t>(sum, DType::uint8, {200}, {100}, {44});
  checkCombined<int32_t>(sum, DType::int32, {7}, {-9}, {-2});
  checkCombined<uint32_t>(sum, DType::uint32, {4000000000u}, {1}, {4000000001u});
  checkCombined<int64_t>(sum, DType::int64, {1LL << 40}, {1}, {(1LL << 40) + 1});
  checkCombined<uint64_t>(sum, DType::uint64, {~0ull}, {1}, {0});
  checkCombined<float>(CollectiveKind::max, DType::float32, {1, -2, 7}, {4, -3, 7}, {4, -2, 7});
  checkCombined<float>(sum, DType::float32, {}, {}, {});
}

TEST_CASE("A collective runs behind the work before it and before the work behind it, in each order of streams") {
  std::vector<float> first(300001), second(first.size()), expected(first.size()); // in two chunks of the emulated NCCL
  for (size_t i = 0; i < first.size(); ++i) {
    first[i] = static_cast<float>(i);
    second[i] = static_cast<float>(2 * i + 1);
    expected[i] = first[i] + second[i];
  }
  for (const char *seed : {"0", "1", "2", "3"})
    checkCombined<float>(CollectiveKind::sum, DType::float32, first, second, expected, seed);
}

namespace {

/// The part of this rank of the sum of `own`, and then the whole sum, gathered from all parts.
StatusOr<std::pair<std::vector<float>, std::vector<float>>> dividedSum(CudaDevice &device,
                                                                       const std::shared_ptr<ProcessGroup> &group,
                                                                       const std::vector<float> &own,
                                                                       const std::vector<int64_t> &offsets) {
  const auto bytes = static_cast<int64_t>(own.size() * sizeof(float)), elements = std::ssize(own);
  const auto rank = static_cast<size_t>(group->rank());
  std::vector<float> part(static_cast<size_t>(offsets[rank + 1] - offsets[rank])), whole(own.size());
  std::vector<DeviceMemory> memories;
  for (int i = 0; i < 3; ++i)
    memories.push_back(device.allocate(bytes).valueOrThrow());
  device.upload(memories[0].get(), std::as_bytes(std::span(own))).orThrow();
  auto queue = device.makeQueue(0).valueOrThrow();
  auto collectives = device.join(group).valueOrThrow();
  const SharedArray scattered{DType::float32, elements, memories[0].get(), memories[1].get(), offsets},
      gathered{DType::float32, elements, memories[1].get(), memories[2].get(), offsets};
  queue->begin();
  for (const auto &[kind, array] :
       {std::pair(CollectiveKind::scattered_sum, scattered), {CollectiveKind::gather, gathered}}) {
    HALFTONE_RETURN_IF_ERROR(collectives->start(kind, {&array, 1}));
    HALFTONE_RETURN_IF_ERROR(collectives->wait());
  }
  HALFTONE_RETURN_IF_ERROR(queue->finish());
  HALFTONE_RETURN_IF_ERROR(device.download(std::as_writable_bytes(std::span(part)), memories[1].get()));
  HALFTONE_RETURN_IF_ERROR(device.download(std::as_writable_bytes(std::span(whole)), memories[2].get()));
  return std::pair(part, whole);
}

} // namespace

TEST_CASE("Two GPUs get their parts of a sum, and gather the parts of both") {
  const std::vector<std::vector<int64_t>> divisions{
      {0, 16, 40}, {0, 40, 40}, {0, 0, 40}, {0, 290000, 600001}}; // the last in two chunks of the emulated NCCL
  for (const std::vector<int64_t> &offsets : divisions) {
    std::vector<float> first(static_cast<size_t>(offsets.back())), second(first.size()), expected(first.size());
    for (size_t i = 0; i < first.size(); ++i) {
      first[i] = static_cast<float>(i);
      second[i] = static_cast<float>(2 * i + 1);
      expected[i] = first[i] + second[i];
    }
    const TwoGpus gpus({{"HALFTONE_EMULATOR_SEED", "1"}});
    const auto results =
        inRanks<StatusOr<std::pair<std::vector<float>, std::vector<float>>>>([&](std::shared_ptr<ProcessGroup> group) {
          const auto rank = static_cast<size_t>(group->rank());
          return dividedSum(*gpus.devices[rank], group, rank ? second : first, offsets);
        });
    for (size_t rank = 0; rank < 2; ++rank) {
      INFO(results[rank].status().str());
      REQUIRE(results[rank].isOk());
      CHECK(results[rank]->first ==
            std::vector<float>(expected.begin() + offsets[rank], expected.begin() + offsets[rank + 1]));
      CHECK(results[rank]->second == expected);
    }
  }
}

TEST_CASE("A plan on two GPUs sums their values at each play, and the host waits for nothing") {
  constexpr int64_t n = 1001;
  constexpr int plays = 4;
  for (const char *seed : {"0", "1", "2"}) {
    const TwoGpus gpus({{"HALFTONE_EMULATOR_SEED", seed}});
    using Values = std::vector<std::vector<float>>;
    const auto results = inRanks<StatusOr<Values>>([&](std::shared_ptr<ProcessGroup> group) -> StatusOr<Values> {
      const std::shared_ptr<CudaDevice> device = gpus.devices[static_cast<size_t>(group->rank())];
      VariableStore store(device);
      const VariableHandle w = store.create("net/w", Tensor::zeros({n})).valueOrThrow();
      const auto kernels = device->load(test::planKernels()).valueOrThrow();
      auto player = Player::bind(std::make_shared<const Executable>(test::sharingExecutable(n)), kernels, device,
                                 {{"w", w}}, {}, group);
      HALFTONE_RETURN_IF_ERROR(player.status());
      const int64_t waits = device->counters().waits;
      std::vector<Tensor> fetched;
      for (int play = 0; play < plays; ++play) {
        auto fetches = (*player)->play(
            std::vector{Tensor::full({n}, 2.0 * group->rank() + 4 * play), Tensor::full({}, 0, DType::bool_)});
        HALFTONE_RETURN_IF_ERROR(fetches.status());
        fetched.push_back((*fetches)[0]);
      }
      if (device->counters().waits != waits || device->counters().graphLaunches != plays - 1 + plays - 1 + plays - 1)
        return Status(ErrorKind::internal_error, "waits: " + std::to_string(device->counters().waits - waits) +
                                                     ", graphs: " + std::to_string(device->counters().graphLaunches));
      Values values;
      for (const Tensor &fetch : fetched)
        values.push_back(fetch.to_vector<float>());
      return values;
    });
    for (const auto &result : results) {
      INFO(result.status().str());
      REQUIRE(result.isOk());
      for (int play = 0; play < plays; ++play) // (x / 2 + 1) of both
        CHECK((*result)[static_cast<size_t>(play)] == std::vector<float>(n, 3.0f + 4.0f * static_cast<float>(play)));
    }
  }
}

TEST_CASE("Two processes with one GPU are refused in NCCL's words") {
  const TwoGpus gpus({});
  const auto results = inRanks<Status>([&](std::shared_ptr<ProcessGroup> group) {
    auto opened = CudaDevice::open(cuda::Driver::open(HALFTONE_EMULATED_DRIVER).valueOrThrow(), 0);
    return opened.isOk() ? (*opened)->join(group).status() : opened.status();
  });
  for (const Status &status : results) {
    CHECK(status.kind() == ErrorKind::runtime_error);
    CHECK_THAT(status.message(), Catch::Contains("cuda:0: NCCL: joining cuda:0 of rank ") &&
                                     Catch::Contains("invalid usage") && Catch::Contains("Duplicate GPU detected"));
  }
}

TEST_CASE("A dtype that NCCL lacks is refused") {
  const TwoGpus gpus({});
  const auto results = inRanks<Status>([&](std::shared_ptr<ProcessGroup> group) {
    return combined<int16_t>(*gpus.devices[static_cast<size_t>(group->rank())], group, CollectiveKind::sum,
                             DType::int16, {1})
        .status();
  });
  for (const Status &status : results)
    CHECK(status.message() == "collectives between GPUs do not support dtype int16");
}

TEST_CASE("A rank that does not come to a collective fails the other's work, and all that follows") {
  const TwoGpus gpus({{"HALFTONE_EMULATOR_NCCL_SECONDS", "1"}});
  const auto results = inRanks<std::pair<Status, Status>>([&](std::shared_ptr<ProcessGroup> group) {
    CudaDevice &device = *gpus.devices[static_cast<size_t>(group->rank())];
    if (group->rank() == 1)
      return std::pair(device.join(group).status(), Status());
    const std::vector<float> own(8, 1);
    const Status first = combined<float>(device, group, CollectiveKind::sum, DType::float32, own).status();
    auto collectives = device.join(group).valueOrThrow();
    const SharedArray nothing;
    return std::pair(first, collectives->start(CollectiveKind::sum, {&nothing, 1}));
  });
  CHECK(results[1].first.isOk());
  for (const Status &status : {results[0].first, results[0].second}) {
    CHECK(status.kind() == ErrorKind::device_error);
    CHECK_THAT(status.message(), Catch::StartsWith("cuda:0: "));
  }
  CHECK_THAT(test::emulatorFault(), Catch::Contains("another rank did not come to a collective"));
}

TEST_CASE("If the GPU of one process cannot take part, all processes are told why and none waits") {
  const TwoGpus gpus({});
  test::failCall("cuStreamCreate", 1, 999); // at either rank
  const auto joined = inRanks<StatusOr<std::shared_ptr<DeviceCollectives>>>([&](std::shared_ptr<ProcessGroup> group) {
    return gpus.devices[static_cast<size_t>(group->rank())]->join(group);
  });
  for (size_t rank = 0; rank < 2; ++rank) {
    REQUIRE_FALSE(joined[rank].isOk());
    CHECK_THAT(joined[rank].status().message(),
               Catch::Contains("the GPUs of the processes cannot join: rank ") && Catch::Contains("reports: cuda:") &&
                   Catch::Contains(": creating a stream: unknown error (CUDA_ERROR_UNKNOWN)"));
  }
}
