// The schedules of kernels on NVIDIA GPUs: the dialect halftone_nvptx.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Schedule.h"
#include "mlir/IR/Dialect.h"

#include "compiler/targets/nvptx/ScheduleDialect.h.inc"
#include "compiler/targets/nvptx/ScheduleEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/targets/nvptx/Schedules.h.inc"
