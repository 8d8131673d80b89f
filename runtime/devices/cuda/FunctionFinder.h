// Symbol lookup in a library that is loaded at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>
#include <string>

namespace halftone::cuda {

/// Looks up functions by name, and records the first missing one.
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
