// The checks of lint on the keys of a map.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "MapFile.h"
#include "RecordedModel.h"

namespace halftone::tools {

/// P002 and P005, as far as the keys alone show them: a pattern whose paths another pattern matches too; a key that no
/// path can match; a pattern for one path that has a key of its own.
std::vector<Finding> checkKeys(const MapFile &map);

/// P001, P002, P004 and P005 for a model's paths.
std::vector<Finding> checkKeys(const MapFile &map, const RecordedModel &model);

} // namespace halftone::tools
