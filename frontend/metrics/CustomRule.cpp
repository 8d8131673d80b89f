// Builds, updates and reads metrics defined by user structs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/CustomRule.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/graph/Devices.h"
#include "frontend/graph/MetricCode.h"
#include "frontend/losses/LossImpl.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace halftone {
using namespace detail;

Variable MetricContext::add_variable(const MetricVariableArgs &args) {
  const MetricImpl &metric = rep_.metric;
  const DType dtype = args.dtype.value_or(metric.dtype);
  const std::string name = args.name.empty() ? fmt::format("variable_{}", rep_.state.size()) : args.name;
  for (const int64_t dim : args.shape)
    if (dim < 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("variable '{}' of metric '{}' cannot have the shape {}: every dimension must be known",
                              name, metric.name, args.shape.str()));
  checkMemoryFor(fmt::format("the state of metric '{}'", metric.name), args.shape, dtype);
  const bool isZero = !args.initializer.defined() || args.initializer.name() == "Zeros";
  const auto seed =
      static_cast<int64_t>(std::hash<std::string>()(metric.name + "/" + name)); // the same in all processes
  const Tensor initial = isZero ? Tensor() : args.initializer(args.shape, dtype, seed);
  const VariableFacts facts{.name = name,
                            .path = fmt::format("{}/{}", metric.name, name),
                            .role = VariableRole::metric,
                            .update = UpdateKind::assign,
                            .trainable = false,
                            .autocast = false};
  rep_.state.push_back(isZero ? makeZeros(args.shape, dtype, facts) : makeVariable(initial, facts));
  rep_.initial.push_back(initial);
  return rep_.state.back();
}

detail::MetricBody::~MetricBody() = default;

Metric::Metric(std::unique_ptr<MetricBody> body, std::string className, const MetricArgs &args) {
  const std::string name = args.name.empty() ? snakeCase(className) : args.name;
  const DType dtype = dtypeOfArgument(args.dtype, name);
  const auto rule = std::make_shared<const CustomRule>(std::move(body));
  impl_ = makeMetric(name, dtype, rule);
  impl_->className = std::move(className);
  rule->body().get_config(impl_->ownConfig);
  rule->requireResult(*impl_);
}

namespace detail {

struct CustomRule::Result {
  uint64_t epoch; // of the configuration
  InterpretedTrace program;
  std::vector<std::optional<size_t>> positions; // in the metric's state, of each trace variable; none: a constant
  std::mutex mutex{};                           // for the program
};

/// The position of each variable of a trace in a metric's state. value_error for another variable.
static std::vector<std::optional<size_t>> positionsIn(const MetricImpl &metric, const Trace &trace) {
  std::vector<std::optional<size_t>> positions;
  for (const auto &[symbol, variable] : trace.variables()) {
    const auto own = std::ranges::find(metric.state, variable, &Variable::impl);
    if (own == metric.state.end() && variable->role != VariableRole::constant)
      throw Error(ErrorKind::value_error,
                  fmt::format("result() of metric '{}' reads '{}', which its build() has not added: the result is "
                              "computed later, only from the metric's own variables",
                              metric.name, variable->path));
    positions.push_back(own == metric.state.end() ? std::nullopt : std::optional(own - metric.state.begin()));
  }
  return positions;
}

std::shared_ptr<CustomRule::Result> CustomRule::tracedResult(const MetricImpl &metric) const {
  const uint64_t epoch = configurationEpoch();
  {
    const ForkSafeLock lock(mutex_);
    if (result_ && result_->epoch == epoch)
      return result_;
  }
  const FloatMode mode;
  const DeviceScope device(Device::cpu()); // for constants
  const std::shared_ptr<Trace> trace = Trace::create(metric.name);
  {
    const Trace::Scope scope(trace);
    const MetricCode code(MetricCode::Part::result, metric.name);
    const Value value = [&] {
      const OutsideForkGate users;
      return body_->result();
    }();
    if (!value.defined() || value.rank() != 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("result() of metric '{}' returned {}: it must be a scalar, of shape ()", metric.name,
                              value.defined() ? "the shape " + value.shape().str() : "an undefined Value"));
    trace->fetch("result", value);
  }
  std::vector<std::optional<size_t>> positions = positionsIn(metric, *trace);
  std::shared_ptr<Result> made(
      new Result{epoch, InterpretedTrace::prepare(trace, {.name = metric.name}).valueOrThrow(), std::move(positions)});
  const ForkSafeLock lock(mutex_);
  return result_ = std::move(made);
}

void CustomRule::requireResult(const MetricImpl &metric) const { (void)tracedResult(metric); }

std::vector<double> CustomRule::resultsOf(const MetricImpl &metric, const std::vector<Tensor> &state) const {
  const std::shared_ptr<Result> result = tracedResult(metric);
  const auto &variables = result->program.trace().variables();
  std::vector<Tensor> values;
  for (size_t i = 0; i < variables.size(); ++i)
    values.push_back(result->positions[i] ? state.at(*result->positions[i])
                                          : variables[i].second->memory->read().valueOrThrow());
  const ForkSafeLock lock(result->mutex);
  const std::vector<Tensor> fetches = result->program.run(values).valueOrThrow();
  return fetches.at(0).astype(DType::float64).to_vector<double>();
}

} // namespace detail
} // namespace halftone
