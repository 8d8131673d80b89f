# halftone_room(NAME [VISIBLE] [TOOL] SOURCES ... DEPS ...): one static library per room, with the project's flags.
# SPDX-License-Identifier: Apache-2.0
# VISIBLE: a library for compiler engineers exports the room's symbols (HalftoneDeveloper.cmake). libhalftone.so hides
# them.
# TOOL: a room of the tools, which libhalftone.so does not contain.

separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# Flags for all code of this project: warnings enabled, and floating point as written (both compilers contract
# multiply-adds by default).
add_library(halftone_flags INTERFACE)
target_compile_options(halftone_flags INTERFACE -Wall -Wextra -Wno-unused-parameter -ffp-contract=off -fno-fast-math)
target_include_directories(halftone_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
# Compiled kernels lack the function signature that UBSan's check of calls through function pointers reads.
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

# MLIR's headers as system headers, and the single shared MLIR library. No program may use both it and MLIR's static
# libraries.
add_library(halftone_mlir INTERFACE)
target_include_directories(halftone_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(halftone_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(halftone_mlir INTERFACE MLIR LLVM)

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
  # Where users' numbers enter and sizes are computed from them, no conversion may narrow silently. Signed container
  # indices are used everywhere, so sign conversions are exempt.
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/(runtime|frontend)(/|$)")
    target_compile_options(${NAME} PRIVATE -Wconversion -Wno-sign-conversion)
  endif()
  halftone_reuse_pch(${NAME} halftone_pch_std)
  halftone_unity(${NAME})
  if(NOT ROOM_TOOL)
    set_property(GLOBAL APPEND PROPERTY HALFTONE_ROOMS ${NAME})
  endif()
endfunction()

# halftone_test_objects(NAME [THREADS] SOURCES ... [ALONE ...] DEPS ...): objects that several tests link, compiled
# once. ALONE: files that define the same names as their neighbors. THREADS as for halftone_test.
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

# halftone_test(NAME [THREADS] [FULL | FULL_CASES] [GPU] SOURCES ... [ALONE ...] DEPS ...): one Catch2 executable; each
# test case is a ctest entry. FULL: only the full tier runs its tests; FULL_CASES: only those with the tag [full] or of
# a type named Full<...>. GPU: they run on the emulated driver. The labels are gpu, full and gpu_full, so that both
# `ctest -L gpu` and `-LE full` work. THREADS: tests of code shared by threads. ThreadSanitizer runs only these tests,
# since most of the others wait for MLIR, which is not instrumented.
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
