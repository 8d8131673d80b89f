# Unity builds: source files of one folder with the same using-directives are compiled together, eight at a time.
# SPDX-License-Identifier: Apache-2.0
# The files of a unit parse and instantiate shared headers once. A using-directive applies to all later files of the
# unit, so only files with the same directives share a unit. A file whose names clash with its neighbors' names, or that
# is slow to compile by itself, is excluded by SKIP_UNITY_BUILD_INCLUSION. CMake excludes files with their own compile
# options.
set(HALFTONE_UNITY_SIZE 8)

# halftone_unity(TARGET): compiles TARGET in units if HALFTONE_UNITY is on; sources may be added to TARGET afterwards.
function(halftone_unity TARGET)
  if(HALFTONE_UNITY)
    set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${PROJECT_SOURCE_DIR}]] CALL halftone_unity_groups ${TARGET})")
  endif()
endfunction()

function(halftone_unity_groups TARGET)
  get_target_property(sources ${TARGET} SOURCES)
  get_target_property(directory ${TARGET} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} OUTPUT_VARIABLE path)
    if(NOT path MATCHES "\\.cpp$" OR NOT EXISTS ${path})
      continue()
    endif()
    file(STRINGS ${path} directives REGEX "^using namespace [a-zA-Z_:]+;")
    list(SORT directives)
    cmake_path(GET path PARENT_PATH folder)
    string(MD5 group "${folder} ${directives}")
    string(SUBSTRING ${group} 0 8 group)
    math(EXPR count_${group} "0${count_${group}} + 1")
    math(EXPR unit "(${count_${group}} - 1) / ${HALFTONE_UNITY_SIZE}")
    cmake_path(GET folder FILENAME name)
    set_source_files_properties(${path} TARGET_DIRECTORY ${TARGET} PROPERTIES UNITY_GROUP ${name}_${group}_${unit})
  endforeach()
endfunction()
