// The emulated driver with a changed instruction: replaces HALFTONE_MUTATED_FROM by HALFTONE_MUTATED_TO in all PTX.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <dlfcn.h>
#include <string>

extern "C" __attribute__((visibility("default"))) int cuModuleLoadDataEx(void **module, const void *image,
                                                                         unsigned count, int *options, void **values) {
  const std::string from = std::getenv("HALFTONE_MUTATED_FROM"), to = std::getenv("HALFTONE_MUTATED_TO");
  std::string text = static_cast<const char *>(image);
  for (size_t place = 0; (place = text.find(from, place)) != std::string::npos; place += to.size())
    text.replace(place, from.size(), to);
  // This library is linked with the emulated driver.
  auto *load = reinterpret_cast<decltype(&cuModuleLoadDataEx)>(dlsym(RTLD_NEXT, "cuModuleLoadDataEx"));
  return load(module, text.c_str(), count, options, values);
}
