// Files of weights by the ending of their names.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Model.h"
#include <string>

namespace halftone::detail {

/// How weights stand in a file. A checkpoint holds them beside other values, and is written by Checkpoint alone.
enum class WeightsFormat : uint8_t { safetensors, checkpoint, hdf5 };

/// The format that the ending of `path` means. value_error that names the endings for any other name.
WeightsFormat weightsFormatOf(const std::string &path);
/// The same for a file to be written: value_error also for a checkpoint.
WeightsFormat writtenFormatOf(const std::string &path);
/// io_error if the file is there and `args` do not let it be overwritten.
void requireMayWrite(const std::string &path, const SaveArgs &args);

} // namespace halftone::detail
