// A user's program: the library that it loads is the one for which it was compiled, and catches work across the border.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <halftone/DType.h>
#include <halftone/Error.h>
#include <string>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

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
    return error.kind() == halftone::ErrorKind::value_error ? 0 : 1;
  }
  std::printf("standardize_dtype(\"float17\") did not throw\n");
  return 1;
}
