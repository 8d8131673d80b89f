// Splits, weights and checks the data of a fit.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/FitData.h"
#include "frontend/data/Batches.h"
#include "frontend/training/Evaluate.h"
#include "runtime/TensorAccess.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

struct SplitData {
  Batch train;
  std::optional<Batch> validation;
};
SplitData splitData(const Batch &all, double share) {
  if (share == 0.0)
    return {all, std::nullopt};
  int64_t rows = checkRows(all);
  bool inRange = share > 0.0 && share < 1.0;
  int64_t kept = inRange ? static_cast<int64_t>(std::floor(static_cast<double>(rows) * (1.0 - share))) : 0;
  if (kept == 0 || kept == rows)
    throw Error(ErrorKind::value_error, fmt::format("Training data contains {} samples, which is not sufficient to "
                                                    "split it into a validation and training set as specified by "
                                                    "`validation_split={}`. Either provide more data, or a different "
                                                    "value for the `validation_split` argument.",
                                                    rows, share));
  auto part = [&](const Tensors &tensors, int64_t begin, int64_t end) {
    std::vector<Tensor> list;
    for (const Tensor &tensor : tensors)
      list.push_back(tensor.slice(begin, end));
    return TensorAccess::named(std::move(list), tensors.names());
  };
  auto rowsOf = [&](int64_t begin, int64_t end) {
    return Batch{part(all.x, begin, end), part(all.y, begin, end), part(all.sample_weight, begin, end)};
  };
  return {rowsOf(0, kept), rowsOf(kept, rows)};
}

std::optional<BatchSource> validationOf(const FitArgs &args, const std::optional<Batch> &split) {
  int64_t size = args.validation_batch_size.value_or(args.batch_size);
  const char *argument = args.validation_batch_size ? "validation_batch_size" : "batch_size";
  if (split)
    return BatchSource(*split, size, argument);
  if (!args.validation_data.defined())
    return std::nullopt;
  if (args.validation_data.dataset()) {
    BatchSource source(*args.validation_data.dataset());
    source.requireSteps(args.validation_steps, "validation_steps");
    return source;
  }
  return BatchSource(args.validation_data.arrays(), size, argument);
}

} // namespace

void checkNumbers(const Model &model, const FitArgs &args) {
  auto require = [&](const char *argument, int64_t value, int64_t least) {
    if (value < least)
      throw Error(ErrorKind::value_error,
                  fmt::format("{} must {}, got {}", argument, least == 0 ? "not be negative" : "be positive", value),
                  model.name());
  };
  require("epochs", args.epochs, 0);
  require("initial_epoch", args.initial_epoch, 0);
  require("initial_batch", args.initial_batch, 0);
  require("validation_freq", args.validation_freq, 1);
  require("validation_steps", args.validation_steps.value_or(1), 1);
  require("validation_batch_size", args.validation_batch_size.value_or(1), 1);
}

FitData fitData(const Model &model, const Batch &arrays, const FitArgs &args) {
  SplitData split = splitData(arrays, args.validation_data.defined() ? 0.0 : args.validation_split);
  return {BatchSource(weighedByClass(model, split.train, args.class_weight), args.batch_size),
          validationOf(args, split.validation),
          {}};
}

FitData fitData(const Model &model, const Dataset &dataset, const FitArgs &args) {
  if (!args.sample_weight.empty())
    refuseWeights(model);
  if (args.validation_split != 0.0 && !args.validation_data.defined())
    throw Error(ErrorKind::value_error,
                "Argument `validation_split` is only supported for arrays, not for a Dataset: give `validation_data`",
                model.name());
  return {BatchSource(dataset), validationOf(args, std::nullopt), args.class_weight};
}

} // namespace halftone::detail
