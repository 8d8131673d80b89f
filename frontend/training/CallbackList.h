// The callbacks of one fit, evaluate or predict, including Keras's implied progress bar.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/CompileWatch.h"
#include "frontend/base/ProgressBar.h"
#include "halftone/Model.h"
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace halftone::detail {

struct CompiledModel;
struct ProgressArgs {
  int64_t verbose = 1;
  std::optional<int64_t> epochs{}; // none in evaluate and predict
  std::optional<int64_t> steps{};
};

/// Calls `compile`, which compiles the programs of a run before its callbacks begin, and shows its progress in the line
/// of the run's progress bar. Clears the line afterwards.
void compileBeforeRun(const ProgressArgs &progress, const std::function<void()> &compile);

/// Calls the callbacks of a run. If the run fails while a callback has swapped the weights with their averages, the
/// destructor swaps them back.
class CallbackList {
public:
  CallbackList(const Model &model, const std::vector<CallbackArg> &callbacks, const ProgressArgs &progress);
  CallbackList(const CallbackList &) = delete;
  ~CallbackList();
  void trainBegin();
  void trainEnd(const Logs &logs);
  void epochBegin(int64_t epoch);
  void epochEnd(int64_t epoch, Logs &logs);
  void trainBatchBegin(int64_t batch);
  void trainBatchEnd(int64_t batch, const Logs &logs);
  void testBegin();
  void testBatchBegin(int64_t batch);
  void testBatchEnd(int64_t batch, const Logs &logs);
  void testEnd(const Logs &logs);
  void predictBegin();
  void predictBatchBegin(int64_t batch);
  void predictBatchEnd(int64_t batch);
  void predictEnd();

private:
  /// Lends the run's model and params to a callback until the run ends, then restores the previous ones: runs may be
  /// nested.
  struct BoundCallback {
    BoundCallback(const CallbackArg &callback, const Model &model, const CallbackParams &params);
    ~BoundCallback();
    BoundCallback(BoundCallback &&other) noexcept;
    CallbackArg callback;
    std::shared_ptr<void> modelBefore;
    std::optional<CallbackParams> paramsBefore;
    bool isBound = true;

  private:
    void restore() noexcept;
  };
  template <class F> void each(F f);
  bool areAveragesExchanged() const;
  bool beginsExecution(int64_t step) const { return step % stepsPerExecution_ == 0; }
  void finishBar(const Logs &logs);
  /// Callbacks see the steps of one execution as one step: its begin with the first step, and its end after the last
  /// step, with the logs of that step. If the data end within an execution, its end still has the index of the planned
  /// last step, as in Keras.
  using End = void (CallbackList::*)(int64_t number, const Logs &logs);
  void stepEnd(int64_t step, const Logs &logs, End end);
  void endExecution();
  void trainExecutionEnd(int64_t number, const Logs &logs);
  void testExecutionEnd(int64_t number, const Logs &logs);
  void predictExecutionEnd(int64_t number, const Logs &logs);
  Model model_;
  std::shared_ptr<CompiledModel> compiled_; // null before compile()
  bool wereAveragesExchanged_;
  std::vector<BoundCallback> callbacks_;
  ProgressArgs progress_;
  std::optional<ProgressBar> bar_;
  CompileWatch watch_{[this](size_t done, size_t count) {
    if (bar_)
      bar_->compiling(done, count);
  }};
  int64_t stepsPerExecution_ = 1;
  struct Execution { // the open execution
    int64_t lastStep;
    Logs logs;
    End end;
  };
  std::optional<Execution> execution_;
};

} // namespace halftone::detail
