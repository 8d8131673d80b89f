// Texts that the table of a calibration report and a model's report page share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Quantization.h"
#include <string>

namespace halftone::detail {

std::string decibelText(double decibels);                 // "41.3 dB", "exact", "not finite"
std::string savedText(const CalibrationReport::Row &row); // "1.21 KB"
std::string speedText(const CalibrationReport::Row &row); // "1.84x": relative to the unquantized layer

} // namespace halftone::detail
