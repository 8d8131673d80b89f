// Functions of a library that is opened at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>
#include <string>

namespace halftone::cuda {

/// Finds functions by name, and remembers the first that is not there.
struct FunctionFinder {
  void *library;
  std::string missing{};
  template <class F> void operator()(F *&function, const char *name) {
    function = reinterpret_cast<F *>(dlsym(library, name));
    if (!function && missing.empty())
      missing = name;
  }
};

} // namespace halftone::cuda
