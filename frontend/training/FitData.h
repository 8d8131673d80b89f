// The data of one fit: to train with and to validate with.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/training/BatchSource.h"
#include "frontend/training/ClassWeights.h"
#include "halftone/Model.h"
#include <optional>

namespace halftone::detail {

struct FitData {
  BatchSource train;
  std::optional<BatchSource> validation;
  ClassWeights classWeight; // for batches as they come; of arrays the weights are made
};
/// value_error for data that do not fit the arguments or each other.
FitData fitData(const Model &model, const Batch &arrays, const FitArgs &args);
FitData fitData(const Model &model, const Dataset &dataset, const FitArgs &args);
/// value_error for numbers of epochs, steps or samples out of range.
void checkNumbers(const Model &model, const FitArgs &args);

} // namespace halftone::detail
