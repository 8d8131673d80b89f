// A user program: it loads the library it was compiled for, catches its errors, and finds the reader of HDF5 files.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <halftone/DType.h>
#include <halftone/Error.h>
#include <halftone/Halftone.h>
#include <string>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

/// Saves a model and loads it: the library starts halftone-h5, which is installed next to it.
static int savesAndLoads() try {
  const halftone::Sequential model({halftone::Input({2}), halftone::layers::Dense(1)});
  model.save("app.keras");
  const halftone::Model loaded = halftone::load_model("app.keras");
  return loaded.to_json() == model.to_json() ? 0 : 1;
} catch (const halftone::Error &error) {
  std::printf("%s\n", error.what());
  return 1;
}

int main() {
  const std::string compiled =
      TEXT(HALFTONE_VERSION_MAJOR) "." TEXT(HALFTONE_VERSION_MINOR) "." TEXT(HALFTONE_VERSION_PATCH);
  if (halftone::version() != compiled) {
    std::printf("compiled against %s, loaded %s\n", compiled.c_str(), halftone::version());
    return 1;
  }
  try {
    halftone::standardize_dtype("float17");
  } catch (const halftone::Error &error) {
    std::printf("halftone %s: %s\n", halftone::version(), error.what());
    return error.kind() == halftone::ErrorKind::value_error ? savesAndLoads() : 1;
  }
  std::printf("standardize_dtype(\"float17\") did not throw\n");
  return 1;
}
