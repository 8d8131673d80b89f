// The lists of compile(): which loss, factor and metrics each output has.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/NameList.h"
#include "halftone/Model.h"
#include <vector>

namespace halftone::detail {

// Each is a value_error as of entriesOf() for a list that does not fit the outputs.

/// The loss of each output; undefined for an output that `spec` leaves out.
std::vector<Loss> lossesOf(NameList outputs, const LossSpec &spec);
/// The positions of the outputs of each metric: by name, one for each output as in Keras, or one metric for all of them.
std::vector<std::vector<size_t>> metricPositions(NameList outputs, const MetricSpec &spec, const char *argument);
/// The factor of each output's loss, or none. As in Keras, one factor is enough for one loss.
std::vector<double> lossWeightsOf(NameList outputs, const CompileArgs &args);

} // namespace halftone::detail
