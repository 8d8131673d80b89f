// The file of a checkpoint: a safetensors file whose metadata hold counters, the sequence of seeds and checksums.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/Safetensors.h"
#include "frontend/training/PlaceInData.h"
#include <cstdint>
#include <optional>
#include <random>
#include <string>

namespace halftone::detail {

struct CheckpointFile {
  Safetensors contents; // its metadata: those of the caller and of the format
  int64_t epoch = 0, step = 0;
  std::mt19937_64 seeds;
  std::optional<PlaceInData> place{}; // of a file that a callback of fit() wrote; its epoch is that above
};

/// io_error that names the file unless it is a checkpoint of this version with its counters and right checksums.
CheckpointFile readCheckpointFile(const std::string &path);
/// Adds the metadata of the format and replaces the file, as writeSafetensors().
void writeCheckpointFile(const std::string &path, CheckpointFile file);

} // namespace halftone::detail
