# halftone_room(NAME [VISIBLE] [TOOL] SOURCES ... DEPS ...): one static library per room, with the project's flags.
# SPDX-License-Identifier: Apache-2.0
# VISIBLE: a library for compiler engineers shows the room's symbols (HalftoneDeveloper.cmake). libhalftone.so hides them.
# TOOL: a room of the tools, which libhalftone.so does not contain.

separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# Flags for all of this project's code: warnings on, floating point as written (both compilers fuse multiply-adds by
# default).
add_library(halftone_flags INTERFACE)
target_compile_options(halftone_flags INTERFACE -Wall -Wextra -Wno-unused-parameter -ffp-contract=off -fno-fast-math)
target_include_directories(halftone_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
# Compiled kernels have no signature before them, which UBSan's check of calls through function pointers needs.
if(HALFTONE_SANITIZE)
  target_compile_options(halftone_flags INTERFACE -fsanitize=address,undefined -fno-sanitize=vptr,function -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(halftone_flags INTERFACE -fsanitize=address,undefined)
endif()

if(HALFTONE_SANITIZE_THREADS)
  target_compile_options(halftone_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(halftone_flags INTERFACE -fsanitize=thread)
endif()
if(HALFTONE_WERROR)
  target_compile_options(halftone_flags INTERFACE -Werror)
endif()

# MLIR's headers as system headers, and the one shared MLIR. MLIR's static libraries must not be linked beside it; a bundle has them in
# its place.
add_library(halftone_mlir INTERFACE)
target_include_directories(halftone_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(halftone_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
if(HALFTONE_BUNDLE)
  target_include_directories(halftone_mlir BEFORE INTERFACE ${HALFTONE_BUNDLE_INCLUDE})
  target_link_libraries(halftone_mlir INTERFACE ${HALFTONE_BUNDLE_MLIR})
else()
  target_link_libraries(halftone_mlir INTERFACE MLIR LLVM)
endif()

include(HalftonePch)
include(HalftoneUnity)

function(halftone_room NAME)
  cmake_parse_arguments(ROOM "VISIBLE;TOOL" "" "SOURCES;DEPS" ${ARGN})
  add_library(${NAME} STATIC ${ROOM_SOURCES})
  if(ROOM_VISIBLE)
    set_target_properties(${NAME} PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
    set_property(GLOBAL APPEND PROPERTY HALFTONE_VISIBLE_ROOMS ${NAME})
  endif()
  target_link_libraries(${NAME} PUBLIC halftone_flags halftone_headers ${ROOM_DEPS})
  # Where users' numbers arrive, and sizes are computed of them, no conversion narrows a number in silence. Signed indices of
  # containers are all over the code, so conversions of the sign alone are left out.
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/(runtime|frontend)(/|$)")
    target_compile_options(${NAME} PRIVATE -Wconversion -Wno-sign-conversion)
  endif()
  halftone_reuse_pch(${NAME} halftone_pch_std)
  halftone_unity(${NAME})
  if(NOT ROOM_TOOL)
    set_property(GLOBAL APPEND PROPERTY HALFTONE_ROOMS ${NAME})
  endif()
endfunction()

# halftone_test_objects(NAME [THREADS] SOURCES ... [ALONE ...] DEPS ...): files that several tests link, compiled once. ALONE: the
# files among them that define names which their neighbors define too. THREADS as for halftone_test.
function(halftone_test_objects NAME)
  cmake_parse_arguments(TEST "THREADS" "" "SOURCES;ALONE;DEPS" ${ARGN})
  if(HALFTONE_SANITIZE_THREADS AND NOT TEST_THREADS)
    return()
  endif()
  add_library(${NAME} OBJECT ${TEST_SOURCES} ${TEST_ALONE})
  target_link_libraries(${NAME} PUBLIC Catch2::Catch2 halftone_flags ${TEST_DEPS})
  halftone_test_flags(${NAME} "${TEST_ALONE}")
endfunction()

function(halftone_test_flags NAME ALONE)
  halftone_reuse_pch(${NAME} halftone_pch_test)
  set_source_files_properties(${ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  halftone_unity(${NAME})
  target_compile_definitions(${NAME} PRIVATE HALFTONE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HALFTONE_BINARY_DIR="${PROJECT_BINARY_DIR}")
endfunction()

# halftone_test(NAME [THREADS] [FULL | FULL_CASES] [GPU] SOURCES ... [ALONE ...] DEPS ...): one Catch2 executable; each test case is a
# ctest entry. FULL: only the full tier runs them; FULL_CASES: those with the tag [full] or of a type named Full<...>. GPU: they run on the emulated driver. The
# labels are gpu, full and gpu_full, so that `ctest -L gpu` and `-LE full` both hold. THREADS is for tests of code that threads share. ThreadSanitizer runs these tests alone: most of
# the rest waits for MLIR, which is not instrumented.
function(halftone_test NAME)
  cmake_parse_arguments(TEST "THREADS;FULL;FULL_CASES;GPU" "" "SOURCES;ALONE;DEPS" ${ARGN})
  if(HALFTONE_SANITIZE_THREADS AND NOT TEST_THREADS)
    return()
  endif()
  add_executable(${NAME} ${TEST_SOURCES} ${TEST_ALONE})
  target_link_libraries(${NAME} PRIVATE halftone_catch_main halftone_flags ${TEST_DEPS})
  halftone_test_flags(${NAME} "${TEST_ALONE}")
  set(quick PROPERTIES TIMEOUT 120)
  set(full PROPERTIES TIMEOUT 120 LABELS full)
  if(TEST_GPU)
    list(APPEND quick LABELS gpu)
    set(full PROPERTIES TIMEOUT 120 LABELS gpu_full)
  endif()
  set(discover TEST_PREFIX "${NAME}.")
  if(TEST_FULL)
    catch_discover_tests(${NAME} ${discover} ${full})
  elseif(TEST_FULL_CASES)
    catch_discover_tests(${NAME} TEST_SPEC "~[full]~*Full<*" ${discover} ${quick})
    catch_discover_tests(${NAME} TEST_SPEC "[full],*Full<*" ${discover} ${full})
  else()
    catch_discover_tests(${NAME} ${discover} ${quick})
  endif()
  if(TEST_THREADS)
    add_dependencies(thread_tests ${NAME})
  endif()
endfunction()
add_custom_target(thread_tests)
