# Writes OUTPUT: the text of INPUT as a C++ raw string literal.
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "R\"halftone(${text})halftone\"\n")
