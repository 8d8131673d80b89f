// Cubins on disk: used by later processes, never for another GPU, and made anew when they are damaged.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/CubinCache.h"
#include "tests/TemporaryFolder.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include "tests/runtime/devices/cuda/PtxKernels.h"
#include <catch2/catch.hpp>

using namespace halftone;
using test::EmulatedGpu;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> filesIn(const TemporaryFolder &folder) {
  std::vector<fs::path> files;
  for (const auto &entry : fs::recursive_directory_iterator(folder.path))
    if (entry.is_regular_file())
      files.push_back(entry.path());
  return files;
}

/// Loads the kernel in a new process's state, and checks that it runs.
void loadAndRun(const TemporaryFolder &folder, test::Environment environment = {}) {
  const EmulatedGpu gpu(std::move(environment), {}, folder.path.string());
  const auto library = gpu.load("add", test::addingKernel());
  const DeviceMemory sums = gpu.memory(std::vector<int>{1, 2, 3});
  const std::string key = "add";
  const int64_t ten = 10;
  std::vector<void *> buffers = {sums.get()};
  const auto queue = gpu.queue();
  queue->begin();
  queue->launch({*library->find("add"), &key, 3, buffers, std::span(&ten, 1), 0, 0, {}});
  REQUIRE(queue->finish().isOk());
  CHECK(gpu.values<int>(sums, 3) == std::vector<int>{11, 12, 13});
}

} // namespace

TEST_CASE("A cubin is made once, and later processes find it") {
  TemporaryFolder folder;
  loadAndRun(folder);
  REQUIRE(filesIn(folder).size() == 1);
  const fs::path file = filesIn(folder)[0];
  const auto written = fs::last_write_time(file);
  loadAndRun(folder);
  CHECK(filesIn(folder) == std::vector<fs::path>{file});
  CHECK(fs::last_write_time(file) == written);
}

TEST_CASE("Another GPU, another driver and other PTX have cubins of their own") {
  TemporaryFolder folder;
  loadAndRun(folder);
  loadAndRun(folder, {{"HALFTONE_EMULATOR_CAPABILITY", "86"}});
  CHECK(filesIn(folder).size() == 2);
  loadAndRun(folder, {{"HALFTONE_EMULATOR_DRIVER", "12040"}});
  CHECK(filesIn(folder).size() == 3);
  const EmulatedGpu gpu({}, {}, folder.path.string());
  (void)gpu.load("count", test::countingKernel(true));
  CHECK(filesIn(folder).size() == 4);
}

TEST_CASE("A cubin that the driver does not take is made anew") {
  TemporaryFolder folder;
  StatusOr<std::shared_ptr<const cuda::Driver>> driver = test::openEmulated();
  REQUIRE(driver.isOk());
  StatusOr<cuda::Driver::Gpu> facts = (*driver)->gpu(0);
  REQUIRE(facts.isOk());
  const std::string ptx = test::addingKernel().code;
  {
    cuda::CubinCache cubins(folder.path.string(), **driver, *facts);
    CHECK_FALSE(cubins.find(ptx));
    cubins.insert(ptx, "no cubin");
    CHECK(cubins.find(ptx) == "no cubin");
  }
  loadAndRun(folder);
  const std::optional<std::string> made = cuda::CubinCache(folder.path.string(), **driver, *facts).find(ptx);
  REQUIRE(made);
  CHECK(made->size() > ptx.size());
}

TEST_CASE("Code that does not compile leaves no cubin") {
  TemporaryFolder folder;
  const EmulatedGpu gpu({}, {}, folder.path.string());
  KernelCode code = test::addingKernel();
  code.code += "rubbish";
  const Status status = gpu->load({{"k", code}}).status();
  CHECK(status.kind() == ErrorKind::value_error);
  CHECK_THAT(status.message(), Catch::StartsWith("kernel k: the driver does not compile it: "));
  CHECK(filesIn(folder).empty());
}
