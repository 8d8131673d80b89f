// The names of the dialect's enumerators, as text and back.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Enums.h"

#include "dialect/Enums.cpp.inc"
