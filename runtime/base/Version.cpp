// The version of the loaded library.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Version.h"

#define HALFTONE_TEXT_OF(x) #x
#define HALFTONE_TEXT(x) HALFTONE_TEXT_OF(x)

const char *halftone::version() {
  return HALFTONE_TEXT(HALFTONE_VERSION_MAJOR) "." HALFTONE_TEXT(HALFTONE_VERSION_MINOR) "." HALFTONE_TEXT(
      HALFTONE_VERSION_PATCH);
}
