# halftone_tablegen(TD OUTPUT ARGS...): generates OUTPUT of the current folder from its file TD by mlir-tblgen with ARGS.
# SPDX-License-Identifier: Apache-2.0
# Files are included relative to the folder of TD and to the project. The outputs of a folder are collected in HALFTONE_INC of its
# CMakeLists.txt, which makes a target of them: whatever compiles a file that includes one of them depends on that target.
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
