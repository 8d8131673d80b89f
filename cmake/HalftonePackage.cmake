# Debian packages, built by `cpack -G DEB`: halftone (libraries, tools), halftone-dev (public headers), halftone-developer (the dialect).
# SPDX-License-Identifier: Apache-2.0
# If MPI was found, halftone-mpi is a separate package, so that halftone does not depend on MPI.
# The preset `package` builds their contents for the prefix /usr; scripts/test-packages tests them on a bare Debian 12.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The authors of Halftone")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "JIT-compiled tensor DSL with policy-aware code generation")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development developer)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# SHLIBDEPS looks up the packages of the libraries on the build machine. It would find libLLVM through a symlink of
# llvm-22-dev that belongs to no package. LLVM 22 is in Debian 12's security suite. GENERATE_SHLIBS records the
# dependency for programs that link the library, and runs ldconfig.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME halftone)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "libpng16-16, libturbojpeg0") # loaded when a program reads images
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libllvm${LLVM_VERSION_MAJOR} (>= 1:${LLVM_VERSION_MAJOR}.${LLVM_VERSION_MINOR})")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}) # the tools link libraries of this package
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The shared libraries, halftone-opt, halftone-reduce, halftone-run, halftone-policy and halftone-lsp-server, and halftone-h5 and halftone-bytecode, which they start.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME halftone-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "halftone (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "g++ (>= 4:12), cmake | pkg-config")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The headers, the CMake package, the pkg-config file and the examples. Programs need C++20 and no LLVM.")

set(CPACK_DEBIAN_DEVELOPER_PACKAGE_NAME halftone-developer)
set(CPACK_DEBIAN_DEVELOPER_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPER_PACKAGE_DEPENDS
  "halftone-dev (= ${PROJECT_VERSION}), cmake") # LLVM's and MLIR's CMake packages reference files of all these:
foreach(package IN ITEMS llvm-${LLVM_VERSION_MAJOR}-dev llvm-${LLVM_VERSION_MAJOR}-tools libmlir-${LLVM_VERSION_MAJOR}-dev mlir-${LLVM_VERSION_MAJOR}-tools)
  string(APPEND CPACK_DEBIAN_DEVELOPER_PACKAGE_DEPENDS ", ${package}")
endforeach()
set(CPACK_COMPONENT_DEVELOPER_DESCRIPTION "Headers and .td files of the dialect and the passes, for plugins of halftone-opt and opt tools.")
if(TARGET halftone-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME halftone-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "halftone (= ${PROJECT_VERSION})")
  set(CPACK_COMPONENT_MPI_DESCRIPTION "The library by which programs of Halftone train in several processes, by MPI.")
endif()
include(CPack)
