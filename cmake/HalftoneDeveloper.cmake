# The component `developer`: the dialect and the passes as shared libraries, with headers and .td files (docs/extending.md).
# SPDX-License-Identifier: Apache-2.0
# Tools that load plugins link these libraries and no rooms that they contain, so that each op's type id is unique in a
# process. libhalftone.so has its own hidden copy of these rooms; modules are never passed between the two copies.

# halftone_developer_library(NAME ROOMS ... DEPS ...): libHalftone<NAME>.so, which contains the rooms.
function(halftone_developer_library NAME)
  cmake_parse_arguments(LIBRARY "" "" "ROOMS;DEPS" ${ARGN})
  set(target Halftone${NAME})
  add_library(${target} SHARED ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/developer.map)
  foreach(room IN LISTS LIBRARY_ROOMS)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${room}>)
  endforeach()
  target_link_libraries(${target} PRIVATE ${LIBRARY_DEPS} halftone_flags halftone_mlir)
  target_link_options(${target} PRIVATE LINKER:--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/developer.map)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} SYSTEM INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/halftone-developer> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${NAME}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LINKER_LANGUAGE CXX
    LINK_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/developer.map
    INSTALL_RPATH "$ORIGIN"
    INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${target} EXPORT HalftoneDeveloperTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT developer)
endfunction()

halftone_developer_library(Dialect ROOMS halftone_dialect halftone_enums DEPS halftone_base)
halftone_developer_library(Passes
  ROOMS halftone_compiler halftone_codegen halftone_kernel_cache
  DEPS HalftoneDialect halftone_policy halftone_plan halftone_base fmt::fmt nlohmann_json::nlohmann_json)
target_link_libraries(HalftonePasses INTERFACE HalftoneDialect)

set(developer_include ${CMAKE_INSTALL_INCLUDEDIR}/halftone-developer)
set(developer_headers compiler/kernels/Numerics.h)
foreach(header IN ITEMS Bytecode Decisions Dialect Enums ExactRewrites Gradient OpTraits StepOperands TypeInference WindowSteps)
  list(APPEND developer_headers dialect/${header}.h)
endforeach()
foreach(header IN ITEMS CompileOptions Passes Pipelines)
  list(APPEND developer_headers compiler/passes/${header}.h)
endforeach()
foreach(header IN LISTS developer_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${developer_include}/${folder} COMPONENT developer)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include \"(dialect|compiler)/.*\\.h\"")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" included "${include}")
    if(NOT included IN_LIST developer_headers)
      message(FATAL_ERROR "${header} is a header of the component developer and includes ${included}, which is not")
    endif()
  endforeach()
endforeach()
install(DIRECTORY dialect ${PROJECT_BINARY_DIR}/dialect DESTINATION ${developer_include} COMPONENT developer
  FILES_MATCHING PATTERN "*.td" PATTERN "*.h.inc" PATTERN CMakeFiles EXCLUDE)
install(FILES compiler/passes/Passes.td ${PROJECT_BINARY_DIR}/compiler/passes/Passes.h.inc
  DESTINATION ${developer_include}/compiler/passes COMPONENT developer)

install(DIRECTORY tests/consume/developer DESTINATION ${CMAKE_INSTALL_DATADIR}/halftone/examples COMPONENT developer)

install(EXPORT HalftoneDeveloperTargets NAMESPACE Halftone:: DESTINATION ${package_dir} COMPONENT developer)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/HalftoneDeveloperConfig.cmake.in
  ${PROJECT_BINARY_DIR}/HalftoneDeveloperConfig.cmake INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO
  PATH_VARS developer_include)
install(FILES ${PROJECT_BINARY_DIR}/HalftoneDeveloperConfig.cmake DESTINATION ${package_dir} COMPONENT developer)
