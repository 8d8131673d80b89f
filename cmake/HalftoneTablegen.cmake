# Generates files of the current folder with mlir-tblgen.
# SPDX-License-Identifier: Apache-2.0
# halftone_tablegen(TD OUTPUT ARGS...): generates OUTPUT from the file TD with the options ARGS.
# Include paths are the folder of TD and the project. The outputs of a folder are collected in HALFTONE_INC of its
# CMakeLists.txt, which makes a target of them with halftone_generated.
find_program(MLIR_TBLGEN NAMES mlir-tblgen-22 mlir-tblgen HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)

function(halftone_tablegen TD OUTPUT)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${OUTPUT})
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${MLIR_TBLGEN} --write-if-changed -d ${output}.d -I${CMAKE_CURRENT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR} -I${LLVM_INCLUDE_DIRS}
            ${ARGN} ${CMAKE_CURRENT_SOURCE_DIR}/${TD} -o ${output}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${TD}
    DEPFILE ${output}.d)
  set(HALFTONE_INC ${HALFTONE_INC} ${output} PARENT_SCOPE)
endfunction()

# halftone_generated(NAME FILES...): adds the target NAME, which generates FILES of the current folder; targets that
# include one of them depend on it. The target halftone_generated depends on all such targets: it generates everything
# needed to parse a single file of the project, without building a library (scripts/separate-build).
add_custom_target(halftone_generated)

function(halftone_generated NAME)
  add_custom_target(${NAME} DEPENDS ${ARGN})
  add_dependencies(halftone_generated ${NAME})
endfunction()

# halftone_schedules(TARGET): generates, from Schedules.td of the current folder, the dialect halftone_TARGET with the
# schedules of a target's kernels and the enums of their parameters, for halftone_codegen.
function(halftone_schedules TARGET)
  set(HALFTONE_INC)
  halftone_tablegen(Schedules.td ScheduleEnums.h.inc -gen-enum-decls)
  halftone_tablegen(Schedules.td ScheduleEnums.cpp.inc -gen-enum-defs)
  halftone_tablegen(Schedules.td ScheduleDialect.h.inc -gen-dialect-decls -dialect=halftone_${TARGET})
  halftone_tablegen(Schedules.td ScheduleDialect.cpp.inc -gen-dialect-defs -dialect=halftone_${TARGET})
  halftone_tablegen(Schedules.td Schedules.h.inc -gen-attrdef-decls -attrdefs-dialect=halftone_${TARGET})
  halftone_tablegen(Schedules.td Schedules.cpp.inc -gen-attrdef-defs -attrdefs-dialect=halftone_${TARGET})
  halftone_generated(halftone_${TARGET}_generated ${HALFTONE_INC})
  add_dependencies(halftone_codegen halftone_${TARGET}_generated)
endfunction()
