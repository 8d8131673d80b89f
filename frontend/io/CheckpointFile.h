// The file of a checkpoint: a safetensors file whose metadata holds counters, the state of the seed sequence and checksums.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/Safetensors.h"
#include "frontend/training/DataPosition.h"
#include <cstdint>
#include <optional>
#include <random>
#include <string>

namespace halftone::detail {

struct CheckpointFile {
  Safetensors contents; // its metadata: the caller's and the format's
  int64_t epoch = 0, step = 0;
  std::mt19937_64 seeds;
  std::optional<DataPosition> position{}; // only in files written by a callback of fit(); its epoch is the one above
};

/// io_error naming the file if it is not a checkpoint of this version with all counters and matching checksums.
CheckpointFile readCheckpointFile(const std::string &path);
/// Adds the metadata of the format and replaces the file, as writeSafetensors() does.
void writeCheckpointFile(const std::string &path, CheckpointFile file);

} // namespace halftone::detail
