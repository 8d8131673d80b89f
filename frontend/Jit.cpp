// jit: turns a function of Values into a function of Tensors.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Jit.h"
#include "frontend/CompiledFunction.h"
#include <fmt/format.h>
#include <sstream>

namespace halftone::detail {

static FunctionOptions optionsOf(const JitArgs &args) {
  return {.name = args.name, .strict = args.numerics == Numerics::strict, .device = args.device};
}

struct TracedProgram::Rep {
  std::function<Values(const std::vector<Values> &)> function;
  CompiledFunction compiled;

  // The variant holds how many tensors each argument has, such as "1 2 1".
  Rep(std::function<Values(const std::vector<Values> &)> f, const JitArgs &args)
      : function(std::move(f)),
        compiled(optionsOf(args), {}, [this](Trace &, const std::vector<Value> &feeds, const std::string &variant) {
          std::vector<Values> arguments;
          std::istringstream counts(variant);
          auto next = feeds.begin();
          for (int64_t count; counts >> count; next += count)
            arguments.emplace_back(std::vector<Value>(next, next + count));
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
  std::string counts;
  feeds.reserve(arguments.size());
  for (std::span<const Tensor> argument : arguments) {
    counts += std::to_string(argument.size()) + ' ';
    feeds.insert(feeds.end(), argument.begin(), argument.end());
  }
  const std::shared_ptr<Rep> rep = rep_; // the function is users' code, which may destroy this handle
  return rep->compiled.run(feeds, counts);
}

} // namespace halftone::detail
