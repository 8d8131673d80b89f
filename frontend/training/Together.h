// The joint start of a run by several processes, and the checks that they stay in step.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ProcessRun.h"
#include "frontend/training/BatchStep.h"
#include <functional>

namespace halftone::detail {

/// A joint call of several processes. While it lives, the exchanges of this thread are labelled with its name, "fit()".
class TogetherCall {
public:
  explicit TogetherCall(const char *call);
  /// Compares the library, the model, the arguments of compile(), and those of the call, which `add` adds, with the
  /// other processes. It precedes any check of an argument, so that all processes get the same error: value_error with
  /// the first difference. No-op if the process runs alone.
  void agree(const Layer &model, const std::function<void(std::vector<Fact> &)> &add) const;

private:
  ExchangeScope scope_;
  const char *call_;
};

/// Compares the variables with those of the other processes, and copies the values of rank 0 to the model's variables,
/// those of its optimizer, the seeds and the count of finished epochs. No-op if the process runs alone. value_error, in
/// all processes, if they do not agree. `compiled` may be null.
void beginTogether(const Layer &model, CompiledModel *compiled);

/// The feeds of a step of the train or test program.
struct StepFeeds {
  const std::vector<TensorType> &types;
  const FeedLayout &layout;
  int64_t allRows = 0;
};
/// At the first step of a program with these shapes, and after policies or flags have changed, compares the computation
/// of the loss, including user functions and layers, the update of an undivided state, and the collectives of the
/// program. value_error as above.
void agreeOnStep(const Layer &model, CompiledModel &compiled, CompiledFunction &program, const StepFeeds &feeds);

/// Like agreeOnStep(), for the computation of the outputs, at the first batch of predict() with these shapes.
void agreeOnPrediction(const Layer &model, CompiledFunction &program, const std::vector<Tensor> &x, int64_t allRows);

/// Compares all weights with those of rank 0. runtime_error, in all processes, with the first rank and the first
/// variable that differ.
void requireSameWeights(const Layer &model, ProcessGroup &group);

} // namespace halftone::detail
