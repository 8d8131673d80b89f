// jit: converts a function of Values to a function of Tensors; adds packs of compiled kernels.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Jit.h"
#include "compiler/codegen/KernelCache.h"
#include "frontend/base/ProcessRun.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/graph/CompiledFunction.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/StaticArguments.h"
#include "runtime/base/Status.h"
#include <atomic>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <string_view>

namespace halftone::detail {

static FunctionOptions optionsOf(const JitArgs &args) {
  return {.name = args.name, .strict = args.numerics == Numerics::strict, .device = args.device};
}

/// Returns true if a header of the C++ standard library made the call, so the user's line is unknown.
static bool isOfLibrary(Where call) { return std::string_view(call.file).find("/c++/") != std::string_view::npos; }

/// Returns the layers whose penalties no update of the trace includes, since the function did not call losses().
static std::vector<std::string> layersIgnored(const Trace &trace) {
  std::vector<std::string> layers;
  if (trace.lossesRead || trace.updated.empty())
    return layers;
  std::set<std::string> known;
  const auto add = [&](const std::string &path) {
    if (known.insert(path).second)
      layers.push_back(fmt::format("'{}'", path));
  };
  for (const AddedLoss &loss : trace.losses)
    if (loss.layer)
      add(loss.path);
  for (const std::shared_ptr<VariableImpl> &variable : trace.updated)
    if (variable->regularizer.defined() && variable->trainable)
      add(variable->path.substr(0, variable->path.rfind('/')));
  return layers;
}

/// Checks a jit() function that updates variables for common omissions: adding the penalties of its layers, which gives
/// one warning, and summing the gradients of several processes.
static void checkUpdates(const Trace &trace, const std::string &name, std::atomic<bool> &isWarned) {
  const std::shared_ptr<ProcessGroup> group = processGroup();
  if (group && !trace.updated.empty() && !trace.usesProcesses && !trace.sharedBatch)
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("the jit function '{}' updates variables in a run of {} processes and does not communicate "
                            "with the others, so each process would train alone: apply distribution::mean() to the "
                            "gradients, or use fit() with a train_step (docs/training-loops.md)",
                            name, group->size()));
  std::vector<std::string> layers = layersIgnored(trace);
  if (layers.empty() || isWarned.exchange(true))
    return;
  const size_t most = 3, more = layers.size() > most ? layers.size() - most : 0;
  layers.resize(layers.size() - more);
  writeOutput(
      fmt::format("warning: the update in the jit function '{}' ignores the penalties of {}{}: add the losses() of "
                  "the model to the loss\n",
                  name, fmt::join(layers, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
}

struct TracedProgram::Rep {
  Traced function;
  Where where; // of jit()
  std::atomic<bool> isWarned = false;
  CompiledFunction compiled;

  // Each argument is a group of feeds.
  Rep(Traced f, const JitArgs &args, Where where)
      : function(std::move(f)), where(where),
        compiled(optionsOf(args), {}, [this](Trace &trace, const std::vector<Value> &feeds, const FeedLayout &layout) {
          known.note(layout.numbers, compiled.options().name);
          std::vector<Values> arguments;
          for (std::vector<Value> &argument : layout.split(feeds))
            arguments.emplace_back(std::move(argument));
          std::vector<CompiledFunction::Named> fetches;
          for (const Value &value : function(arguments, layout.numbers))
            fetches.push_back({fmt::format("result{}", fetches.size()), value});
          checkUpdates(trace, compiled.options().name, isWarned);
          return fetches;
        }) {}

  StaticArguments known;
};

std::span<const Tensor> listed(const Tensors &tensors, Where call) {
  if (!tensors.names().empty())
    throw Error(ErrorKind::value_error,
                fmt::format("a function of Values takes tensors in order, but the call names them [{}]",
                            fmt::join(tensors.names(), ", ")),
                "", call);
  return {tensors.begin(), tensors.size()};
}

TracedProgram::TracedProgram(Traced f, const JitArgs &args, Where where) {
  if (!f)
    throw Error(ErrorKind::value_error, "jit() needs a function; received an empty one", "", where);
  rep_ = std::make_shared<Rep>(std::move(f), args, where);
}

std::span<const Tensor> Fed::tensors() const { return {&tensor_, 1}; }

Tensor Fed::scalar(const Number &number) {
  const DType dtype = numberDtype(number, DType::bool_);
  requireHolds("an argument of a jit function", dtype, number);
  return Tensor::full(Shape(), number, dtype);
}

std::vector<Tensor> TracedProgram::run(std::initializer_list<std::span<const Tensor>> values,
                                       std::initializer_list<int64_t> numbers, Where call) const {
  if (!rep_)
    throw Error(ErrorKind::value_error, "a moved-from function of jit() was called", "", call);
  std::vector<Tensor> feeds;
  FeedLayout layout{.numbers = numbers};
  feeds.reserve(values.size());
  for (std::span<const Tensor> argument : values) {
    layout.groups.push_back(std::ssize(argument));
    feeds.insert(feeds.end(), argument.begin(), argument.end());
  }
  const std::shared_ptr<Rep> rep = rep_; // the function is user code, which may destroy this handle
  std::optional<ExchangeScope> scope;    // names the exchanges with other processes
  if (processGroup())
    scope.emplace(fmt::format("the jit function '{}'", rep->compiled.options().name));
  try {
    return rep->compiled.run(feeds, layout);
  } catch (const Error &error) {
    if (error.where().line != 0)
      throw;
    throw Status(error.kind(), error.message(), error.layer_path(), isOfLibrary(call) ? rep->where : call,
                 error.diagnostics())
        .toError();
  }
}

} // namespace halftone::detail

void halftone::add_kernel_pack(const std::string &path) { compiler::kernelPacks().add(path).orThrow(); }
