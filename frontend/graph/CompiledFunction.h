// A traced function, compiled once per input types and configuration, and played on Tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "halftone/Device.h"
#include "halftone/Reports.h"
#include "runtime/ProgramCache.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace halftone::detail {

struct FunctionOptions {
  std::string name = "function";
  bool strict = false;
  bool interpret = false; // run_eagerly: the reference interpreter instead of compiled code
  std::optional<int64_t> maxStandaloneCasts{};
  std::optional<Device> device{}; // empty: the device of the variables, else the calling thread's default
};

class CompiledFunction {
public:
  struct Named {
    std::string name;
    Value value;
  };
  /// Returns the fetches. Called once per trace, while the trace is current, with the layout that run() got.
  using Body =
      std::function<std::vector<Named>(Trace &trace, const std::vector<Value> &feeds, const FeedLayout &layout)>;
  CompiledFunction(FunctionOptions options, std::vector<std::string> feedNames, Body body);

  /// `substitutes`: the memory that the run uses in place of that of variables.
  std::vector<Tensor> run(const std::vector<Tensor> &feeds, const FeedLayout &layout = {},
                          const std::shared_ptr<const VariableSubstitutes> &substitutes = nullptr);
  /// Compiles for these types, so that run() need not.
  void prepare(const std::vector<TensorType> &types, const FeedLayout &layout = {},
               const std::shared_ptr<const VariableSubstitutes> &substitutes = nullptr);
  /// The text of `stage` for these types. `onLateStage` as in TextOptions.
  std::string ir(Stage stage, const std::vector<TensorType> &types, const FeedLayout &layout = {},
                 bool locations = false, const std::function<void(Stage, std::string_view)> &onLateStage = {});
  CastLedger ledger(const std::vector<TensorType> &types, const FeedLayout &layout = {});
  /// The player for these types, which is compiled if there is none yet.
  std::shared_ptr<Player> player(const std::vector<TensorType> &types, const FeedLayout &layout = {},
                                 const std::shared_ptr<const VariableSubstitutes> &substitutes = nullptr);
  const FunctionOptions &options() const { return options_; }
  int64_t compileCount() const { return program_.compileCount(); }
  /// The program for these types, or if they are empty the one that was compiled or ran last; null if there is none.
  std::shared_ptr<Player> known(const std::vector<TensorType> &types, const FeedLayout &layout) const {
    return program_.latest(types, layout);
  }

private:
  std::shared_ptr<Trace> trace(const std::vector<TensorType> &types, const FeedLayout &layout);
  StatusOr<std::shared_ptr<Player>> compile(ProgramKey &key);
  Device device() const { return options_.device.value_or(default_device()); }

  FunctionOptions options_;
  std::vector<std::string> feedNames_;
  Body body_;
  std::shared_ptr<Variable> generator_ = std::make_shared<Variable>(); // Trace::generator of all traces
  ProgramCache program_;
};

/// The elements of a constant of a graph, on the host.
Tensor elementsOfConstant(const Value &value);

} // namespace halftone::detail
