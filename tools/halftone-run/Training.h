// Opens the model of a .keras file and its data, for evaluate and fit.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include <nlohmann/json.hpp>

namespace halftone::tools {

/// A compiled model, with its data.
struct TrainingTask {
  Model model;
  Tensors x, y;
};
/// The file's model, compiled as it was or as the arguments say, and the tensors of --x and --y. Seeds all random
/// numbers. Throws UsageError for a spec that is incomplete.
TrainingTask openTraining(const Arguments &arguments);

/// The tensors of the specs that stand after `option`, in order. Throws UsageError for a spec that is incomplete.
Tensors tensorsOf(const char *option, const std::vector<std::string> &specs, uint64_t seed);

/// {"loss": 0.5, ...}. A NaN or an infinity becomes a text, "nan", since JSON has no such number.
nlohmann::ordered_json jsonOf(const Logs &logs);

} // namespace halftone::tools
