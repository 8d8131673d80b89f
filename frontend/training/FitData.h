// The training and validation data of one fit.
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
  ClassWeights classWeight; // for the batches of a dataset; weights of arrays are computed in advance
};
/// value_error for data inconsistent with the arguments or each other.
FitData fitData(const Model &model, const Batch &arrays, const FitArgs &args);
FitData fitData(const Model &model, const Dataset &dataset, const FitArgs &args);
/// value_error for out-of-range numbers of epochs, steps or samples.
void checkNumbers(const Model &model, const FitArgs &args);

} // namespace halftone::detail
