// jit: turns a function of Values into a function of Tensors.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Jit.h"
#include "frontend/graph/CompiledFunction.h"
#include <fmt/format.h>

namespace halftone::detail {

static FunctionOptions optionsOf(const JitArgs &args) {
  return {.name = args.name, .strict = args.numerics == Numerics::strict, .device = args.device};
}

struct TracedProgram::Rep {
  std::function<Values(const std::vector<Values> &)> function;
  CompiledFunction compiled;

  // Each argument is a group of feeds.
  Rep(std::function<Values(const std::vector<Values> &)> f, const JitArgs &args)
      : function(std::move(f)),
        compiled(optionsOf(args), {}, [this](Trace &, const std::vector<Value> &feeds, const FeedLayout &layout) {
          std::vector<Values> arguments;
          for (std::vector<Value> &argument : layout.split(feeds))
            arguments.emplace_back(std::move(argument));
          std::vector<CompiledFunction::Named> fetches;
          for (const Value &value : function(arguments))
            fetches.push_back({fmt::format("result{}", fetches.size()), value});
          return fetches;
        }) {}
};

TracedProgram::TracedProgram(std::function<Values(const std::vector<Values> &)> f, const JitArgs &args)
    : rep_(std::make_shared<Rep>(std::move(f), args)) {}

std::vector<Tensor> TracedProgram::run(std::initializer_list<std::span<const Tensor>> arguments) const {
  std::vector<Tensor> feeds;
  FeedLayout layout;
  feeds.reserve(arguments.size());
  for (std::span<const Tensor> argument : arguments) {
    layout.groups.push_back(std::ssize(argument));
    feeds.insert(feeds.end(), argument.begin(), argument.end());
  }
  const std::shared_ptr<Rep> rep = rep_; // the function is users' code, which may destroy this handle
  return rep->compiled.run(feeds, layout);
}

} // namespace halftone::detail
