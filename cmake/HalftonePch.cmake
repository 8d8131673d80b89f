# Precompiled headers: most of a file's compile time is spent parsing headers of other projects.
# SPDX-License-Identifier: Apache-2.0
# The lists contain only headers of other projects, so edits in this project never rebuild one.
# CMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without them.
set(HALFTONE_STD_HEADERS
  <algorithm> <array> <atomic> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <numeric>
  <optional> <ranges> <set> <span> <sstream> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>
  <fmt/format.h> <fmt/ranges.h>)
set(HALFTONE_MLIR_HEADERS
  <llvm/ADT/MapVector.h> <llvm/ADT/SetVector.h> <llvm/ADT/StringMap.h> <llvm/ADT/TypeSwitch.h>
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Linalg/IR/Linalg.h> <mlir/Dialect/LLVMIR/LLVMDialect.h>
  <mlir/Dialect/Math/IR/Math.h> <mlir/Dialect/SCF/IR/SCF.h> <mlir/Dialect/Tensor/IR/Tensor.h> <mlir/Dialect/Vector/IR/VectorOps.h>
  <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/PatternMatch.h> <mlir/IR/SymbolTable.h> <mlir/IR/Verifier.h>
  <mlir/Pass/PassManager.h>)

# halftone_pch(NAME HEADERS... DEPS ...): a target that compiles the headers once for all targets that reuse them.
function(halftone_pch NAME)
  cmake_parse_arguments(PCH "" "" "HEADERS;DEPS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.cpp CONTENT "// Nothing but precompiled headers.\n")
  add_library(${NAME} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.cpp)
  target_link_libraries(${NAME} PRIVATE halftone_flags ${PCH_DEPS})
  target_compile_options(${NAME} PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>) # for ccache
  target_precompile_headers(${NAME} PRIVATE ${PCH_HEADERS})
endfunction()

halftone_pch(halftone_pch_std HEADERS ${HALFTONE_STD_HEADERS} DEPS fmt::fmt)
halftone_pch(halftone_pch_std_mlir HEADERS ${HALFTONE_STD_HEADERS} ${HALFTONE_MLIR_HEADERS} DEPS halftone_mlir fmt::fmt)
# Most of a test's code is assertions, which take longer to optimize than to run.
set(HALFTONE_TEST_OPTIONS $<$<CONFIG:Debug>:-O0>)
if(HALFTONE_BUILD_TESTS)
  find_package(Catch2 2 REQUIRED)
  halftone_pch(halftone_pch_test HEADERS ${HALFTONE_STD_HEADERS} <catch2/catch.hpp> DEPS fmt::fmt Catch2::Catch2)
  halftone_pch(halftone_pch_test_mlir HEADERS ${HALFTONE_STD_HEADERS} ${HALFTONE_MLIR_HEADERS} <catch2/catch.hpp>
    DEPS halftone_mlir fmt::fmt Catch2::Catch2)
  target_compile_options(halftone_pch_test PRIVATE ${HALFTONE_TEST_OPTIONS})
  target_compile_options(halftone_pch_test_mlir PRIVATE ${HALFTONE_TEST_OPTIONS})
endif()

# halftone_reuse_pch(TARGET PREFIX): reuses the set with MLIR's headers if the target links halftone_mlir, otherwise the
# one without. Clang rejects precompiled headers built with another -fPIC setting or optimization level, so programs are
# compiled like libraries, and targets that reuse the headers of tests are not optimized in Debug builds.
function(halftone_reuse_pch TARGET PREFIX)
  target_compile_options(${TARGET} PRIVATE -fPIC)
  if(PREFIX STREQUAL "halftone_pch_test")
    target_compile_options(${TARGET} PRIVATE ${HALFTONE_TEST_OPTIONS})
  endif()
  get_target_property(libraries ${TARGET} LINK_LIBRARIES)
  if("halftone_mlir" IN_LIST libraries)
    target_precompile_headers(${TARGET} REUSE_FROM ${PREFIX}_mlir)
  else()
    target_precompile_headers(${TARGET} REUSE_FROM ${PREFIX})
  endif()
endfunction()
