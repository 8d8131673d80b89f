// Computes the classes of targets, and their weights.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/ClassWeights.h"
#include "frontend/data/Batches.h"
#include "runtime/TensorAccess.h"
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace halftone::detail {

namespace {

/// The class of each sample: the index of its largest entry or, if there is only one, that entry, rounded.
std::vector<double> classesOf(const Tensor &y, const std::string &model) {
  Shape shape = y.shape();
  if (shape.rank() < 1 || shape.rank() > 2)
    throw Error(ErrorKind::value_error,
                fmt::format("`class_weight` needs one class per sample: targets of shape (batch,), (batch, 1) or "
                            "(batch, classes). Received: y.shape={}",
                            shape.str()),
                model);
  bool several = shape.rank() == 2 && shape[1] != 1;
  std::vector<double> classes = (several ? y.argmax() : y).astype(DType::float64).to_vector<double>();
  for (double &each : classes)
    each = std::nearbyint(each); // ties to even, as NumPy rounds
  return classes;
}

Tensor weightsByClass(const Tensor &y, const std::map<double, double> &byClass, const std::string &model) {
  std::vector<float> weights;
  for (double label : classesOf(y, model)) {
    auto found = std::isnan(label) ? byClass.end() : byClass.find(label);
    weights.push_back(found == byClass.end() ? 1.0f : static_cast<float>(found->second));
  }
  int64_t rows = static_cast<int64_t>(weights.size());
  return Tensor(std::move(weights), {rows});
}

} // namespace

Batch weighedByClass(const Layer &model, Batch batch, const ClassWeights &classWeight) {
  if (classWeight.empty())
    return batch;
  if (!batch.sample_weight.empty())
    throw Error(ErrorKind::value_error, "You cannot `class_weight` and `sample_weight` at the same time.",
                model.name());
  if (batch.y.empty())
    throw Error(ErrorKind::value_error,
                "`class_weight` needs targets, whose classes determine the weights of samples; y is empty",
                model.name());
  checkRows(batch);
  std::map<double, double> byClass;
  for (const auto &[label, weight] : classWeight)
    if (!byClass.emplace(static_cast<double>(label), weight).second)
      throw Error(ErrorKind::value_error, fmt::format("`class_weight` has two entries for the class {}", label),
                  model.name());
  std::vector<Tensor> weights;
  bool haveClasses = false;
  for (const Tensor &target : batch.y) {
    bool isClass = !is_float(target.dtype()) || batch.y.size() == 1;
    haveClasses |= isClass;
    weights.push_back(isClass ? weightsByClass(target, byClass, model.name()) : Tensor::ones({target.shape()[0]}));
  }
  if (!haveClasses)
    throw Error(ErrorKind::value_error,
                "`class_weight` of a model with several outputs applies to those with integer targets; there are none.",
                model.name());
  batch.sample_weight = TensorAccess::named(std::move(weights), batch.y.names());
  return batch;
}

} // namespace halftone::detail
