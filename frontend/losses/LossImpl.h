// The state behind a Loss: its formula, dtype and reduction.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/CompiledFunction.h"
#include "halftone/Losses.h"
#include "runtime/base/Status.h"
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace halftone::detail {

/// Losses before reduction.
struct LossEntries {
  Value values;
  Value valid; // bool mask of the same shape: true for valid entries; undefined if all are valid
};

struct LossImpl {
  /// Computes entries from targets and predictions in the loss's dtype; if `classLabels`, integer targets keep their
  /// dtype.
  using Formula = std::function<LossEntries(const Value &yTrue, const Value &yPred)>;
  Formula formula;
  std::string name;
  std::string kind{};                                       // the default name, "huber_loss"; "" for a user function
  Value (*pointer)(const Value &, const Value &) = nullptr; // the user's function, if it was given as a pointer
  Reduction reduction = Reduction::sum_over_batch_size;
  DType dtype = DType::float32;
  bool joinsRows = false;   // a row of the formula's result depends on other rows of the batch
  bool classLabels = false; // targets are class indices along `axis`
  int64_t axis = -1;
  std::optional<int64_t> ignoreClass{};
  std::function<void(Config &)> addConfig{}; // adds the get_config() fields other than name and reduction
  mutable std::mutex mutex{};
  mutable std::unique_ptr<CompiledFunction> onData{}; // calls on Tensors
};

/// The reduced loss. If the weight is undefined, every sample has weight 1.
Value lossValue(const Loss &loss, const Value &yTrue, const Value &yPred, const Value &sampleWeight);
/// This process's contribution to the loss of a batch that processes share; its meanOverProcesses() is the loss.
Value lossPart(const Loss &loss, const Value &yTrue, const Value &yPred, const Value &sampleWeight);
/// The loss of each sample, computed in `dtype`.
LossEntries lossEntries(const LossImpl &loss, const Value &yTrue, const Value &yPred, DType dtype);

/// Checks that labels are class indices below `classes`; ok for losses without classes. value_error naming the row, the
/// label and the valid range.
Status checkLabels(const Loss &loss, const Tensor &yTrue, int64_t classes);

/// Creates a loss of the class `name`. `samples` computes one element per sample, from targets and predictions of the
/// same shape.
Loss lossOf(const LossArgs &args, const char *name,
            std::function<Value(const Value &yTrue, const Value &yPred)> samples,
            std::function<void(Config &)> addConfig = {});

/// Creates a loss from a user function. value_error if it is empty.
std::shared_ptr<LossImpl> lossOfUser(Loss::Function f, const LossArgs &args);
/// Returns true if the library has a loss of that name.
bool isNameOfLoss(std::string_view name);
/// The name under which `loss`, or its function with the same reduction and dtype, is registered; nullopt for other
/// losses.
std::optional<std::string> registeredNameOf(const Loss &loss);

/// Keras's squeeze_or_expand_to_same_rank: matches (n,) with (n, 1), and (n, m) with (n, m, 1).
void matchRanks(Value &a, Value &b);
/// value_error "<what>: ..." naming both shapes unless they are equal.
void requireSameShape(const std::string &what, const Value &yTrue, const Value &yPred);
/// max(x, 0).
Value positivePart(const Value &x);
/// Casts `weight` to the dtype of `values` and makes their shapes broadcast: the axes of `weight` are the leading axes
/// of `values`.
void matchWeight(Value &values, Value &weight);
/// The compute dtype of a policy argument, floatx if it is empty. value_error naming `what` unless the dtype is a
/// float.
DType dtypeOfArgument(const PolicyArg &argument, const std::string &what);

} // namespace halftone::detail
