// Reports the libraries that create static objects that exit() destroys. exits.py preloads it into Exits.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdio>
#include <dlfcn.h>

namespace {
std::atomic<bool> tells{false};
} // namespace

/// After this call each object is reported on stderr.
extern "C" [[gnu::visibility("default")]] void tellStaticObjects() { tells = true; }

/// The C library's function by which a library registers a destructor with exit().
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" [[gnu::visibility("default")]] int __cxa_atexit(void (*destructor)(void *), void *object, void *library) {
  using Function = int (*)(void (*)(void *), void *, void *);
  static Function next = nullptr;
  if (!next)
    next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "__cxa_atexit"));
  Dl_info place{};
  if (tells && dladdr(__builtin_return_address(0), &place))
    std::fprintf(stderr, "static object: %s, in %s\n", place.dli_fname, place.dli_sname ? place.dli_sname : "?");
  return next(destructor, object, library);
}
