// The dialect's enumerations, without its ops and attributes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/OpImplementation.h"

#include "dialect/Enums.h.inc"
