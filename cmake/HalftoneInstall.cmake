# The library that users link, and its installation: headers, tools, CMake package, pkg-config file, examples.
# SPDX-License-Identifier: Apache-2.0
# The component `runtime` has what programs need to run, and the tools; `development` has everything else needed to
# compile programs.
include(CMakePackageConfigHelpers)

get_property(HALFTONE_ROOM_LIBRARIES GLOBAL PROPERTY HALFTONE_ROOMS)
if(NOT HALFTONE_ROOM_LIBRARIES)
  message(FATAL_ERROR "HalftoneInstall: expected at least one halftone_room before this file is included")
endif()

# Contains all objects of every room, including unreferenced ones; LLVM, MLIR and fmt stay private. Of the rooms that
# HalftoneDeveloper.cmake exports to compiler engineers, only referenced objects are linked, with hidden symbols.
add_library(halftone SHARED)
add_library(Halftone::Halftone ALIAS halftone)
get_property(visible_rooms GLOBAL PROPERTY HALFTONE_VISIBLE_ROOMS)
foreach(room IN LISTS HALFTONE_ROOM_LIBRARIES)
  if(room IN_LIST visible_rooms)
    target_link_options(halftone PRIVATE LINKER:--exclude-libs=$<TARGET_FILE_NAME:${room}>)
  else()
    target_sources(halftone PRIVATE $<TARGET_OBJECTS:${room}>)
  endif()
endforeach()
target_link_libraries(halftone PRIVATE ${HALFTONE_ROOM_LIBRARIES})
target_compile_features(halftone PUBLIC cxx_std_20)
target_include_directories(halftone PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# In versions 0.x the SONAME has major.minor, since a new field of an argument struct changes the ABI.
set_target_properties(halftone PROPERTIES
  EXPORT_NAME Halftone
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINKER_LANGUAGE CXX
  LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/halftone.map
  INSTALL_RPATH_USE_LINK_PATH ON)
target_link_options(halftone PRIVATE LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/halftone.map)
# dlclose() does not unload it: its worker threads, thread exits and exit() run its code.
target_link_options(halftone PRIVATE LINKER:-z,nodelete)

install(TARGETS halftone EXPORT HalftoneTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(DIRECTORY include/halftone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h")

foreach(tool IN ITEMS halftone-opt halftone-reduce halftone-run halftone-policy halftone-lsp-server)
  if(TARGET ${tool})
    set_target_properties(${tool} PROPERTIES
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
  endif()
endforeach()

# The library and the tools look for these programs there.
install(TARGETS halftone-h5 halftone-bytecode RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/halftone COMPONENT runtime)
set_target_properties(halftone-bytecode PROPERTIES
  INSTALL_RPATH "$ORIGIN/../../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Halftone)
install(EXPORT HalftoneTargets NAMESPACE Halftone:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/HalftoneConfig.cmake.in ${PROJECT_BINARY_DIR}/HalftoneConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HalftoneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/HalftoneConfig.cmake ${PROJECT_BINARY_DIR}/HalftoneConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)

# pkg-config derives the prefix from the file's own folder, so that `cmake --install --prefix` can still choose it.
file(RELATIVE_PATH HALFTONE_PKGCONFIG_TO_PREFIX
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" HALFTONE_PKGCONFIG_TO_PREFIX "${HALFTONE_PKGCONFIG_TO_PREFIX}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/halftone.pc.in ${PROJECT_BINARY_DIR}/halftone.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/halftone.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# Keeps the relative positions of the pages, so that links between them remain valid.
set(doc_dir ${CMAKE_INSTALL_DATADIR}/doc/halftone)
install(FILES README.md CONTRIBUTING.md LICENSE DESTINATION ${doc_dir} COMPONENT development)
install(DIRECTORY docs DESTINATION ${doc_dir} COMPONENT development)

install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/halftone/examples COMPONENT development
  FILES_MATCHING PATTERN "*.cpp" PATTERN "*.h" PATTERN "*.md" PATTERN data EXCLUDE)
