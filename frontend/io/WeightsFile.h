// The formats of weights files, by file name extension.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Model.h"
#include <string>

namespace halftone::detail {

/// The format of a weights file. A checkpoint holds weights beside other values, and only Checkpoint writes it.
enum class WeightsFormat : uint8_t { safetensors, checkpoint, hdf5 };

/// The format implied by the extension of `path`. value_error listing the extensions for any other name.
WeightsFormat weightsFormatOf(const std::string &path);
/// The same for a file to be written; value_error also for a checkpoint.
WeightsFormat writtenFormatOf(const std::string &path);
/// io_error if the file exists and `args` does not allow overwriting it.
void requireMayWrite(const std::string &path, const SaveArgs &args);

} // namespace halftone::detail
