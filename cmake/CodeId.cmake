# The identity of code generation: a hash of the sources that determine the code generated for a given kernel text.
# SPDX-License-Identifier: Apache-2.0
# halftone_code_id(OUTPUT) generates OUTPUT, which defines HALFTONE_CODE_ID: the version and 16 digits of the hash. As a
# script (cmake -P, with SOURCE_DIR, VERSION, LLVM_VERSION and OUTPUT), this file writes OUTPUT. Lines that begin with
# `//` and empty lines are not hashed, so editing a comment does not invalidate kernel caches. tools/house_check.py
# reads the two lists: every project header that a hashed file includes, directly or not, must be in one of them.
cmake_minimum_required(VERSION 3.25)

# All files of these folders are hashed, and these files of other folders.
set(HALFTONE_CODE_FOLDERS compiler/codegen compiler/kernels compiler/targets)
set(HALFTONE_CODE_FILES
  dialect/AttentionConstants.h
  dialect/Attrs.td
  dialect/Enums.h
  dialect/KernelAttributes.def
  include/halftone/DType.h
  runtime/base/TilePermission.h
  runtime/plan/Abi.h
  runtime/plan/GpuAbi.h)
# Headers that code generation includes but that cannot change its results: errors, locks, hashes, the cache's own files
# (whose header has its own format version), and the records that hold finished code.
set(HALFTONE_CODE_NEUTRAL_FILES
  include/halftone/Error.h
  include/halftone/Number.h
  include/halftone/Shape.h
  include/halftone/Version.h
  runtime/base/CacheFolder.h
  runtime/base/CompilerGate.h
  runtime/base/ForkGate.h
  runtime/base/OpenFile.h
  runtime/base/Sha256.h
  runtime/base/SizedText.h
  runtime/base/Status.h
  runtime/base/Threads.h
  runtime/plan/Executable.h
  runtime/plan/KernelPack.h
  runtime/plan/Plan.h
  runtime/plan/Signature.h)

# halftone_code_files(RESULT SOURCE_DIR [CONFIGURE_DEPENDS]): the hashed files, relative to SOURCE_DIR.
function(halftone_code_files RESULT SOURCE_DIR)
  set(patterns ${HALFTONE_CODE_FOLDERS})
  list(TRANSFORM patterns PREPEND ${SOURCE_DIR}/)
  list(TRANSFORM patterns APPEND /*)
  file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR} ${ARGN} ${patterns})
  list(FILTER files INCLUDE REGEX "\\.(h|cpp|td|def)$")
  list(APPEND files ${HALFTONE_CODE_FILES})
  list(SORT files)
  set(${RESULT} ${files} PARENT_SCOPE)
endfunction()

function(halftone_code_id OUTPUT)
  halftone_code_files(files ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS)
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/)
  add_custom_command(
    OUTPUT ${OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION} -DLLVM_VERSION=${LLVM_PACKAGE_VERSION}
            -DOUTPUT=${OUTPUT} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${files} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    VERBATIM)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  halftone_code_files(files ${SOURCE_DIR})
  set(digests "${LLVM_VERSION}\n")
  foreach(name IN LISTS files)
    file(READ ${SOURCE_DIR}/${name} text)
    string(REGEX REPLACE "\n([ \t]*//[^\n]*|[ \t]*)(\n[ \t]*//[^\n]*|\n[ \t]*)*\n" "\n" text "\n${text}\n")
    string(SHA256 digest "${text}")
    string(APPEND digests "${name} ${digest}\n")
  endforeach()
  string(SHA256 digest "${digests}")
  string(SUBSTRING ${digest} 0 16 digest)
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "// The identity of this build's code generation.
// SPDX-License-Identifier: Apache-2.0
#define HALFTONE_CODE_ID \"@VERSION@-@digest@\"
")
endif()
