// How processes begin a run together, and how they check that they are in step.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ProcessRun.h"
#include "frontend/training/BatchStep.h"
#include <functional>

namespace halftone::detail {

/// A call that processes make together: while it lives, the exchanges of this thread bear its name, "fit()".
class TogetherCall {
public:
  explicit TogetherCall(const char *call);
  /// Compares the library, the model, the arguments of compile(), and those of the call, which `add` adds, with the other
  /// processes. It comes before any check of an argument, so that all processes get one error: value_error that names the
  /// first difference. Does nothing in a process alone.
  void agree(const Layer &model, const std::function<void(std::vector<Fact> &)> &add) const;

private:
  ExchangeScope scope_;
  const char *call_;
};

/// Compares the variables with those of the other processes, and gives the model's variables, those of its optimizer, the
/// seeds and the count of finished epochs the values of rank 0. Does nothing in a process alone. value_error, in all
/// processes, if they do not agree. `compiled` may be null.
void beginTogether(const Layer &model, CompiledModel *compiled);

/// The feeds of a step of the train or test program.
struct StepFeeds {
  const std::vector<TensorType> &types;
  const FeedLayout &layout;
  int64_t allRows = 0;
};
/// At the first step of a program with these shapes, and after policies or flags have changed, compares what the loss
/// computes, functions and layers of the user's included, the update of a state that is not divided, and the collectives of
/// the program. value_error as above.
void agreeOnStep(const Layer &model, CompiledModel &compiled, CompiledFunction &program, const StepFeeds &feeds);

/// The same of what the outputs are made of, at the first rows of predict() with these shapes.
void agreeOnPrediction(const Layer &model, CompiledFunction &program, const std::vector<Tensor> &x, int64_t allRows);

/// Compares all weights with those of rank 0. runtime_error, in all processes, that names the first rank and the first
/// variable that differ.
void requireSameWeights(const Layer &model, ProcessGroup &group);

} // namespace halftone::detail
