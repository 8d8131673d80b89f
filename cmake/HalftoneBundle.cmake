# The preset `bundle`: links every package statically, so that a program needs nothing but glibc.
# SPDX-License-Identifier: Apache-2.0
# lld resolves symbols across archives in any order, so all archives are listed.

# Debian has no static fmt; it is used header-only instead.
set_target_properties(fmt::fmt PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)

find_library(HALFTONE_STATIC_DEFLATE libdeflate.a REQUIRED)
find_library(HALFTONE_STATIC_PCRE2 libpcre2-8.a REQUIRED)
find_library(HALFTONE_STATIC_ZLIB libz.a REQUIRED)
find_library(HALFTONE_STATIC_ZSTD libzstd.a REQUIRED)
set_target_properties(PkgConfig::LIBDEFLATE PROPERTIES INTERFACE_LINK_LIBRARIES ${HALFTONE_STATIC_DEFLATE})
set_target_properties(PkgConfig::PCRE2 PROPERTIES INTERFACE_LINK_LIBRARIES ${HALFTONE_STATIC_PCRE2})
set_target_properties(ZLIB::ZLIB PROPERTIES
  IMPORTED_LOCATION ${HALFTONE_STATIC_ZLIB} IMPORTED_LOCATION_RELEASE ${HALFTONE_STATIC_ZLIB})

file(GLOB HALFTONE_BUNDLE_MLIR CONFIGURE_DEPENDS ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
list(FILTER HALFTONE_BUNDLE_MLIR EXCLUDE REGEX "libMLIR(CAPI|.*Test)")
list(APPEND HALFTONE_BUNDLE_MLIR ${HALFTONE_STATIC_ZLIB} ${HALFTONE_STATIC_ZSTD} ${CMAKE_DL_LIBS} m)

# LLVM's target lists, which llvm/Support/TargetSelect.h includes: two targets instead of all in the archives.
set(HALFTONE_BUNDLE_INCLUDE ${PROJECT_BINARY_DIR}/bundle-include)
foreach(list IN ITEMS TARGET=Targets ASM_PRINTER=AsmPrinters)
  string(REPLACE "=" ";" list ${list})
  list(GET list 0 macro)
  list(GET list 1 file)
  file(CONFIGURE OUTPUT ${HALFTONE_BUNDLE_INCLUDE}/llvm/Config/${file}.def @ONLY
    CONTENT "LLVM_@macro@(NVPTX)\nLLVM_@macro@(X86)\n#undef LLVM_@macro@\n")
endforeach()
