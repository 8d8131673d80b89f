// The driver: clear errors for unusable drivers and GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Driver.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace halftone;
using test::Environment;
using test::SetEnvironment;

namespace {

/// The error of opening the emulated driver, or its GPU 0, in this environment.
std::string refusal(Environment variables) {
  const SetEnvironment environment(std::move(variables));
  StatusOr<std::shared_ptr<const cuda::Driver>> driver = test::openEmulated();
  const Status status = driver.isOk() ? (*driver)->gpu(0).status() : driver.status();
  REQUIRE(!status.isOk());
  CHECK(status.kind() == ErrorKind::device_error);
  return status.message();
}

} // namespace

TEST_CASE("A driver that is of no use is refused with the reason") {
  CHECK_THAT(refusal({{"HALFTONE_EMULATOR_DEVICES", "0"}}), Catch::EndsWith("finds no GPU"));
  CHECK_THAT(refusal({{"HALFTONE_EMULATOR_STUB", "1"}}),
             Catch::EndsWith("is a stub library for linking; is the NVIDIA driver installed?"));
  const std::string old = refusal({{"HALFTONE_EMULATOR_DRIVER", "11040"}});
  CHECK_THAT(old, Catch::StartsWith("driver too old: "));
  CHECK_THAT(old, Catch::EndsWith("(CUDA 11.4), expected 525 or newer (CUDA 12.0)"));
  CHECK_THAT(refusal({{"HALFTONE_EMULATOR_CAPABILITY", "75"}}),
             Catch::EndsWith("has compute capability 7.5, expected 8.0 or newer"));
}

TEST_CASE("A GPU without memory pools is refused with its name, what is missing and what helps") {
  CHECK(refusal({{"HALFTONE_EMULATOR_POOLS", "0"}}) ==
        "Halftone emulated GPU sm_80 has no memory pools (CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED is 0), in which "
        "Halftone allocates; a virtual GPU has them if its host enables unified memory, a whole GPU and a MIG instance "
        "have them");
}

TEST_CASE("A file that is no driver is refused with its name") {
  const Status absent = cuda::Driver::open("/no/such/libcuda.so.1").status();
  CHECK(absent.kind() == ErrorKind::device_error);
  CHECK_THAT(absent.message(), Catch::StartsWith("cannot open the CUDA driver /no/such/libcuda.so.1: "));
  CHECK(cuda::Driver::open("libc.so.6").status().message() ==
        "libc.so.6 is not a CUDA driver: it has no function cuInit");
}

TEST_CASE("An index out of range is refused with the number of GPUs") {
  StatusOr<std::shared_ptr<const cuda::Driver>> driver = test::openEmulated();
  REQUIRE(driver.isOk());
  CHECK((*driver)->count() == 1);
  for (const int index : {-1, 1, 99}) {
    CHECK((*driver)->gpu(index).status().kind() == ErrorKind::device_error);
    CHECK((*driver)->gpu(index).status().message() == "there is 1 GPU, numbered from 0");
  }
}

TEST_CASE("A driver tells its GPUs and the texts of its errors") {
  const SetEnvironment environment({{"HALFTONE_EMULATOR_CAPABILITY", "86"}});
  StatusOr<std::shared_ptr<const cuda::Driver>> driver = test::openEmulated();
  REQUIRE(driver.isOk());
  StatusOr<cuda::Driver::Gpu> gpu = (*driver)->gpu(0);
  REQUIRE(gpu.isOk());
  CHECK(gpu->capability == 86);
  CHECK(gpu->bytes == int64_t(4) << 30);
  CHECK(gpu->maxSharedBytes == 99 << 10);
  CHECK((*driver)->text(cuda::Result::out_of_memory) == "out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
  CHECK((*driver)->text(static_cast<cuda::Result>(12345)) == "error 12345 of the CUDA driver");
}

TEST_CASE("A driver that was opened before fork() is refused in the child") {
  StatusOr<std::shared_ptr<const cuda::Driver>> driver = test::openEmulated();
  REQUIRE(driver.isOk());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0)
    _exit((*driver)->gpu(0).status().message() ==
                  "the driver was opened before fork(), and a child process cannot use it"
              ? 0
              : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK((*driver)->gpu(0).isOk());
}
