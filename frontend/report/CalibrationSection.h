// The quantization section of a report.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/report/Page.h"
#include "halftone/Quantization.h"

namespace halftone::detail {

Section calibrationSection(const CalibrationReport &report);

} // namespace halftone::detail
