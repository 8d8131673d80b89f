// Conversion of the dialect's enumerators to and from text.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Enums.h"

#include "dialect/Enums.cpp.inc"
