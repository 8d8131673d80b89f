// The library of the emulated driver, opened as the product opens a driver, with its functions by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/snippets/CudaLibrary.h"
#include <cstdlib>
#include <string>
#include <vector>

namespace halftone::emulator {

class DriverLibrary : public CudaLibrary {
public:
  /// A driver in the state of a new process, with a current context. `environment` has pairs of names and values.
  explicit DriverLibrary(const std::vector<std::pair<std::string, std::string>> &environment = {})
      : CudaLibrary(HALFTONE_EMULATED_DRIVER), environment_(environment) {
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

  int initialised = 0; ///< the result of cuInit

  // The calls that every test needs. They throw unless the driver returns success.
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
  /// Launches one block of `threads` threads.
  template <typename... Arguments>
  int launch(void *function, void *stream, unsigned threads, Arguments... arguments) const {
    void *pointers[] = {static_cast<void *>(&arguments)...};
    return call("cuLaunchKernel", function, 1u, 1u, 1u, threads, 1u, 1u, 0u, stream, static_cast<void **>(pointers),
                static_cast<void **>(nullptr));
  }

private:
  std::vector<std::pair<std::string, std::string>> environment_;
};

} // namespace halftone::emulator
