// Resolves the lists of compile(): the loss, factor and metrics of each output.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/NameList.h"
#include "halftone/Model.h"
#include <vector>

namespace halftone::detail {

// Each function throws a value_error as entriesOf() for a list that does not match the outputs.

/// The loss of each output; undefined for an output omitted from `spec`.
std::vector<Loss> lossesOf(NameList outputs, const LossSpec &spec);
/// The output positions of each metric: by name, one metric per output as in Keras, or one metric for all outputs.
std::vector<std::vector<size_t>> metricPositions(NameList outputs, const MetricSpec &spec, const char *argument);
/// The factor of each output's loss, or none. As in Keras, one factor suffices for one loss.
std::vector<double> lossWeightsOf(NameList outputs, const CompileArgs &args);

} // namespace halftone::detail
