# Writes OUTPUT with HALFTONE_BUILD_ID: the version and a hash of the sources that determine the code of kernels.
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/compiler/* ${SOURCE_DIR}/dialect/* ${SOURCE_DIR}/runtime/plan/*)
list(SORT sources)
set(digests "${LLVM_VERSION}")
foreach(source IN LISTS sources)
  file(SHA256 ${SOURCE_DIR}/${source} digest)
  string(APPEND digests "${source} ${digest}\n")
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "// The identity of this build of the compiler.
// SPDX-License-Identifier: Apache-2.0
#define HALFTONE_BUILD_ID \"@VERSION@-@digest@\"
")
