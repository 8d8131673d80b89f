// A traced function, compiled once per input types and configuration, and run on Tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/reports/FusionRow.h"
#include "frontend/graph/HostSteps.h"
#include "halftone/Device.h"
#include "halftone/Reports.h"
#include "runtime/ProgramCache.h"
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace halftone::detail {

struct FunctionOptions {
  std::string name = "function";
  bool strict = false;
  bool interpret = false; // run_eagerly: the reference interpreter instead of compiled code
  std::optional<int64_t> maxStandaloneCasts{};
  std::optional<Device> device{}; // empty: the device of the variables, otherwise the calling thread's default
};

class CompiledFunction {
public:
  struct Named {
    std::string name;
    Value value;
  };
  /// Returns the fetches. Called once per trace, while the trace is current, with the layout passed to run().
  using Body =
      std::function<std::vector<Named>(Trace &trace, const std::vector<Value> &feeds, const FeedLayout &layout)>;
  CompiledFunction(FunctionOptions options, std::vector<std::string> feedNames, Body body);

  /// `substitutes`: memory that the run uses in place of the variables' own.
  std::vector<Tensor> run(const std::vector<Tensor> &feeds, const FeedLayout &layout = {},
                          const std::shared_ptr<const VariableSubstitutes> &substitutes = nullptr);
  /// Compiles for feeds of these types in advance of run().
  void prepare(const std::vector<Tensor> &feeds, const FeedLayout &layout = {},
               const std::shared_ptr<const VariableSubstitutes> &substitutes = nullptr);
  /// Runs the host steps for a later run() whose feeds begin with `feeds`, and keeps the results for it. May be called
  /// on another thread during run(). No effect before the first run() with these types.
  void runHostStepsAhead(const std::vector<Tensor> &feeds);
  /// The IR text of `stage` for these types. `onLateStage` as in TextOptions.
  std::string ir(Stage stage, const std::vector<TensorType> &types, const FeedLayout &layout = {},
                 bool locations = false, const std::function<void(Stage, std::string_view)> &onLateStage = {});
  CastLedger ledger(const std::vector<TensorType> &types, const FeedLayout &layout = {});
  /// How form-kernels forms the kernels of the program for these types: a row per launch. Traces anew; generates no code.
  std::vector<compiler::FusionRow> fusion(const std::vector<TensorType> &types, const FeedLayout &layout = {});
  /// Returns the player for these types, and compiles it if there is none yet.
  std::shared_ptr<Player> player(const std::vector<TensorType> &types, const FeedLayout &layout = {},
                                 const std::shared_ptr<const VariableSubstitutes> &substitutes = nullptr);
  const FunctionOptions &options() const { return options_; }
  int64_t compileCount() const { return program_.compileCount(); }
  /// The program for these types or, if they are empty, the one compiled or run last; null if there is none.
  std::shared_ptr<Player> known(const std::vector<TensorType> &types, const FeedLayout &layout) const {
    return program_.latest(types, withExtents(layout));
  }

private:
  /// The feeds of a program: those that are not strings, then the results of host steps.
  struct HostResults {
    std::vector<Tensor> feeds;
    FeedLayout layout; // with the open extents
  };
  using HostProgram = std::shared_ptr<const std::vector<HostStep>>;
  /// Results of host steps that were computed before their run().
  struct AheadResults {
    HostProgram steps;
    std::vector<Tensor> feeds, results;
  };
  /// `data`: the feeds themselves, if available.
  std::shared_ptr<Trace> trace(const std::vector<TensorType> &types, const FeedLayout &layout,
                               const std::vector<Tensor> &data = {});
  bool needsHost(const std::vector<Tensor> &feeds) const { return hasHostSteps_ || anyStrings(feeds); }
  HostProgram hostSteps(const std::vector<Tensor> &feeds, const FeedLayout &layout);
  /// The results of the steps for these feeds: those of runHostStepsAhead(), or computed now.
  std::vector<Tensor> resultsOf(const HostProgram &steps, const std::vector<Tensor> &feeds);
  HostResults onHost(const std::vector<Tensor> &feeds, const FeedLayout &layout);
  /// The layout with the open extents of the last run, unless it already has some.
  FeedLayout withExtents(FeedLayout layout) const;
  std::vector<Tensor> play(const std::vector<Tensor> &feeds, const FeedLayout &layout,
                           const std::shared_ptr<const VariableSubstitutes> &substitutes);
  StatusOr<std::shared_ptr<Player>> compile(ProgramKey &key);
  Device device() const { return options_.device.value_or(default_device()); }

  FunctionOptions options_;
  std::vector<std::string> feedNames_;
  Body body_;
  std::shared_ptr<Variable> generator_ = std::make_shared<Variable>(); // Trace::generator of all traces
  std::atomic<bool> hasHostSteps_ = false;                             // set when a trace has some
  mutable std::mutex hostMutex_;
  std::vector<std::pair<ProgramKey, HostProgram>> hostPrograms_; // the newest last
  std::deque<AheadResults> ahead_;
  std::vector<int64_t> latestExtents_;
  ProgramCache program_;
};

/// The elements of a constant of a graph, on the host.
Tensor elementsOfConstant(const Value &value);

} // namespace halftone::detail
