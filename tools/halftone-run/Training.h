// Opens the model of a .keras file and its data for evaluate and fit.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include <nlohmann/json.hpp>

namespace halftone::tools {

/// A compiled model with its data.
struct TrainingTask {
  Model model;
  Tensors x, y;
};
/// The file's model, compiled as recorded or as the arguments say, and the tensors of --x and --y. Sets the seed of all
/// random numbers. Throws UsageError for an incomplete spec.
TrainingTask openTraining(const Arguments &arguments);

/// The tensors of the specs given after `option`, in order. Throws UsageError for an incomplete spec.
Tensors tensorsOf(const char *option, const std::vector<std::string> &specs, uint64_t seed);

/// {"loss": 0.5, ...}. A NaN or an infinity becomes a string such as "nan", since JSON has no such number.
nlohmann::ordered_json jsonOf(const Logs &logs);

} // namespace halftone::tools
