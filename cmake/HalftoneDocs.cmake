# The target `docs`: writes ops and passes as Markdown and public headers as HTML to the build folder's docs/.
# SPDX-License-Identifier: Apache-2.0
find_package(Doxygen)
set(HALFTONE_DOCS ${PROJECT_BINARY_DIR}/docs)

add_custom_target(docs
  COMMAND ${CMAKE_COMMAND} -E make_directory ${HALFTONE_DOCS}
  COMMAND ${MLIR_TBLGEN} -gen-dialect-doc -dialect=halftone -I${PROJECT_SOURCE_DIR}/dialect -I${LLVM_INCLUDE_DIRS}
          ${PROJECT_SOURCE_DIR}/dialect/Ops.td -o ${HALFTONE_DOCS}/ops.md
  COMMAND ${MLIR_TBLGEN} -gen-pass-doc -I${LLVM_INCLUDE_DIRS} ${PROJECT_SOURCE_DIR}/compiler/passes/Passes.td
          -o ${HALFTONE_DOCS}/passes.md
  VERBATIM)

if(NOT DOXYGEN_FOUND)
  message(STATUS "docs: without Doxygen there is no reference of the public headers")
  return()
endif()
set(DOXYGEN_OUTPUT_DIRECTORY ${HALFTONE_DOCS}/api)
set(DOXYGEN_HTML_OUTPUT .)
set(DOXYGEN_EXTRACT_ALL YES)
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_PREDEFINED HALFTONE_API=)
set(DOXYGEN_STRIP_FROM_INC_PATH ${PROJECT_SOURCE_DIR}/include)
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
set(DOXYGEN_HAVE_DOT NO)
set(DOXYGEN_EXCLUDE_SYMBOLS halftone::detail "halftone::detail::*")
set(DOXYGEN_QUIET YES)
set(DOXYGEN_WARN_LOGFILE ${HALFTONE_DOCS}/api-warnings.txt)
doxygen_add_docs(docs_api ${PROJECT_SOURCE_DIR}/include/halftone)
add_dependencies(docs docs_api)
