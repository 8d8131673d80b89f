// The emulated driver's file, opened as the product opens a driver's, with its functions by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/driver/DriverTypes.h"
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace halftone::emulator {

class DriverLibrary {
public:
  /// A driver with its state as in a new process, and a current context. `environment` holds pairs of names and values.
  explicit DriverLibrary(const std::vector<std::pair<std::string, std::string>> &environment = {})
      : environment_(environment) {
    handle_ = dlopen(HALFTONE_EMULATED_DRIVER, RTLD_NOW | RTLD_LOCAL);
    if (!handle_)
      throw std::runtime_error(dlerror());
    for (const auto &[name, value] : environment_)
      setenv(name.c_str(), value.c_str(), 1);
    find<void()>("halftoneEmulatorReset")();
    initialised = call("cuInit", 0u);
    void *context = nullptr;
    if (!initialised && !call("cuDevicePrimaryCtxRetain", &context, 0))
      call("cuCtxSetCurrent", context);
  }
  ~DriverLibrary() {
    find<void()>("halftoneEmulatorReset")();
    for (const auto &[name, value] : environment_)
      unsetenv(name.c_str());
  }
  DriverLibrary(const DriverLibrary &) = delete;
  DriverLibrary &operator=(const DriverLibrary &) = delete;

  template <typename F> F *find(const char *name) const {
    void *found = dlsym(handle_, name);
    if (!found)
      throw std::runtime_error(std::string("no function ") + name);
    return reinterpret_cast<F *>(found);
  }
  /// Calls a function whose parameters have exactly the arguments' types.
  template <typename... Arguments> int call(const char *name, Arguments... arguments) const {
    return find<int(Arguments...)>(name)(arguments...);
  }

  int initialised = 0; ///< the result of cuInit

  // The calls that each test needs. They throw if the driver does not give success.
  DevicePointer allocate(size_t bytes) const {
    DevicePointer pointer = 0;
    must(call("cuMemAlloc_v2", &pointer, bytes));
    return pointer;
  }
  void *stream() const {
    void *made = nullptr;
    must(call("cuStreamCreate", &made, 1u));
    return made;
  }
  void *event() const {
    void *made = nullptr;
    must(call("cuEventCreate", &made, 0u));
    return made;
  }
  void *function(const std::string &ptx) const {
    void *module = nullptr, *found = nullptr;
    must(call("cuModuleLoadData", &module, static_cast<const void *>(ptx.c_str())));
    must(call("cuModuleGetFunction", &found, module, "test"));
    return found;
  }
  template <typename T> void upload(DevicePointer to, const std::vector<T> &values) const {
    must(call("cuMemcpyHtoD_v2", to, static_cast<const void *>(values.data()), values.size() * sizeof(T)));
  }
  template <typename T> std::vector<T> download(DevicePointer from, size_t count) const {
    std::vector<T> values(count);
    must(call("cuMemcpyDtoH_v2", static_cast<void *>(values.data()), from, count * sizeof(T)));
    return values;
  }
  /// Launches one block of `threads` threads.
  template <typename... Arguments>
  int launch(void *function, void *stream, unsigned threads, Arguments... arguments) const {
    void *pointers[] = {static_cast<void *>(&arguments)...};
    return call("cuLaunchKernel", function, 1u, 1u, 1u, threads, 1u, 1u, 0u, stream, static_cast<void **>(pointers),
                static_cast<void **>(nullptr));
  }
  static void must(int result) {
    if (result)
      throw std::runtime_error("the driver gave the error " + std::to_string(result));
  }

private:
  std::vector<std::pair<std::string, std::string>> environment_;
  void *handle_ = nullptr;
};

} // namespace halftone::emulator
