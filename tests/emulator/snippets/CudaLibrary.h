// The library of a CUDA driver, opened as the runtime opens it, with its functions by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/driver/DriverTypes.h"
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace halftone::emulator {

class CudaLibrary {
public:
  /// Throws std::runtime_error if the file cannot be opened.
  explicit CudaLibrary(const std::string &file) : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_)
      throw std::runtime_error(dlerror());
  }

  template <typename F> F *find(const char *name) const {
    void *found = dlsym(handle_, name);
    if (!found)
      throw std::runtime_error(std::string("no function ") + name);
    return reinterpret_cast<F *>(found);
  }
  /// Calls a function whose parameters have exactly the types of the arguments.
  template <typename... Arguments> int call(const char *name, Arguments... arguments) const {
    return find<int(Arguments...)>(name)(arguments...);
  }

  // The calls that every user needs. They throw unless the driver returns success.
  DevicePointer allocate(size_t bytes) const {
    DevicePointer pointer = 0;
    must(call("cuMemAlloc_v2", &pointer, bytes));
    return pointer;
  }
  template <typename T> void upload(DevicePointer to, const std::vector<T> &values) const {
    must(call("cuMemcpyHtoD_v2", to, static_cast<const void *>(values.data()), values.size() * sizeof(T)));
  }
  template <typename T> std::vector<T> download(DevicePointer from, size_t count) const {
    std::vector<T> values(count);
    must(call("cuMemcpyDtoH_v2", static_cast<void *>(values.data()), from, count * sizeof(T)));
    return values;
  }
  static void must(int result) {
    if (result)
      throw std::runtime_error("the driver gave the error " + std::to_string(result));
  }

private:
  void *handle_;
};

} // namespace halftone::emulator
