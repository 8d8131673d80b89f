// The lint checks on the keys of a map.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "MapFile.h"
#include "RecordedModel.h"

namespace halftone::tools {

/// P002 and P005, as far as they follow from the keys alone: a pattern whose paths all match another pattern too; a key
/// that no path can match; a pattern that matches a single path with a key of its own.
std::vector<Finding> checkKeys(const MapFile &map);

/// P001, P002, P004 and P005 on a model's paths.
std::vector<Finding> checkKeys(const MapFile &map, const RecordedModel &model);

} // namespace halftone::tools
