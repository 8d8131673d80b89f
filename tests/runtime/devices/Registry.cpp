// The devices of the process, and the default device of a thread.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/Registry.h"
#include "halftone/Error.h"
#include "tests/runtime/devices/FarDevice.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

using namespace halftone;

TEST_CASE("Device::find knows devices by name") {
  CHECK(Device::find("cpu") == Device::cpu());
  CHECK(Device::find("cpu:0") == Device::cpu());
  for (const char *spec :
       {"", "cpu:1", "cpu:", "cpu:x", "cpu0", "CPU", "gpu", "cuda:-1", "cuda:99", "cuda:1x", "cpu:99999999999"})
    CHECK_FALSE(Device::find(spec));
  CHECK(Device::cpu().str() == "cpu");
  CHECK(Device::cpu().kind() == Device::Kind::cpu);
  CHECK_FALSE(Device::cpu().description().empty());
  const std::vector<Device> list = Device::list();
  CHECK(std::find(list.begin(), list.end(), Device::cpu()) != list.end());
}

TEST_CASE("An absent CUDA device says why") {
  try {
    (void)Device::cuda(99);
    FAIL("cuda:99 was found");
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::device_error);
    CHECK_THAT(error.message(), Catch::StartsWith("cuda:99 is not available: "));
  }
}

/// The default device of a thread that starts with this value of HALFTONE_DEVICE, or the error.
static std::string defaultWith(const char *value) {
  value ? setenv("HALFTONE_DEVICE", value, 1) : unsetenv("HALFTONE_DEVICE");
  std::string result;
  std::thread([&] {
    try {
      result = default_device().str();
    } catch (const Error &error) {
      result = error.what();
    }
  }).join();
  unsetenv("HALFTONE_DEVICE");
  return result;
}

TEST_CASE("A driver that cannot be opened is named with the reason") {
  setenv("HALFTONE_CUDA_DRIVER", "/no/such/driver.so", 1);
  CHECK_THROWS_WITH(
      Device::cuda(),
      Catch::StartsWith("DeviceError: HALFTONE_CUDA_DRIVER=/no/such/driver.so: expected the file of a CUDA driver: "
                        "cannot open the CUDA driver /no/such/driver.so: "));
  CHECK_FALSE(Device::find("cuda"));
  unsetenv("HALFTONE_CUDA_DRIVER");
}

TEST_CASE("The default device comes from HALFTONE_DEVICE, else it is the CPU") {
  CHECK(defaultWith(nullptr) == "cpu");
  CHECK(defaultWith("") == "cpu");
  CHECK(defaultWith("cpu") == "cpu");
  CHECK_THAT(defaultWith("tpu"), Catch::StartsWith("ValueError: HALFTONE_DEVICE=tpu: expected cpu, cuda"));
  CHECK_THAT(defaultWith("cuda:99"),
             Catch::StartsWith("DeviceError: HALFTONE_DEVICE=cuda:99: expected a device of this machine: "));
}

TEST_CASE("The default device is a thread's own; a DeviceScope restores it, also when an error leaves the scope") {
  const auto runtime = test::FarDevice::create("cuda:96");
  REQUIRE(addDevice(runtime).isOk());
  const Device before = default_device(), far = Device::cuda(96);
  REQUIRE(before != far);
  {
    const DeviceScope scope(far);
    CHECK(default_device() == far);
    CHECK(defaultWith(nullptr) == "cpu"); // on another thread
    {
      const DeviceScope inner(Device::cpu());
      CHECK(default_device() == Device::cpu());
    }
    CHECK(default_device() == far);
    set_default_device(Device::cpu());
    CHECK(default_device() == Device::cpu());
  }
  CHECK(default_device() == before);
  try {
    const DeviceScope scope(far);
    throw Error(ErrorKind::value_error, "left early");
  } catch (const Error &) {
    CHECK(default_device() == before);
  }
  set_default_device(far);
  CHECK(default_device() == far);
  set_default_device(before);
  removeDevice("cuda:96");
}

TEST_CASE("A device that is added is found by its name until it is removed") {
  CHECK((*deviceRuntime(Device::cpu()))->name() == "cpu");
  CHECK((*deviceRuntime(Device::cpu())) == *deviceRuntime(Device::cpu()));
  std::vector<Device> known = Device::list();
  const auto runtime = test::FarDevice::create("cuda:98");
  REQUIRE(addDevice(runtime).isOk());
  const Device device = Device::cuda(98);
  CHECK(Device::find("cuda:98") == device);
  CHECK_FALSE(Device::find("cuda:97"));
  CHECK(device.str() == "cuda:98");
  CHECK(device.kind() == Device::Kind::cuda);
  CHECK(device.description() == "memory apart, work late");
  known.push_back(device);
  CHECK(Device::list() == known);
  CHECK(*deviceRuntime(device) == runtime);
  CHECK(deviceOf(*runtime) == device);
  CHECK(defaultWith("cuda:98") == "cuda:98");
  CHECK_THAT(addDevice(test::FarDevice::create("cuda:98")).message(), Catch::Contains("device cuda:98 already exists"));
  for (const char *name : {"cpu", "cpu:0", "far", "cuda:x"})
    CHECK(addDevice(test::FarDevice::create(name)).kind() == ErrorKind::value_error);
  removeDevice("cuda:98");
  CHECK_FALSE(Device::find("cuda:98"));
  CHECK(deviceRuntime(device).status().kind() == ErrorKind::device_error);
  known.pop_back();
  CHECK(Device::list() == known);
}
