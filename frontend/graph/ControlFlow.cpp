// Traces the functions of loops and branches, and checks that their results are consistent.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/ControlFlow.h"
#include <fmt/format.h>

namespace halftone::detail {

namespace {

using List = std::vector<Value>;

ValueSpec typeOf(const Value &value) { return {value.shape(), value.dtype()}; }
std::vector<ValueSpec> typesOf(const List &values) {
  std::vector<ValueSpec> types;
  for (const Value &value : values)
    types.push_back(typeOf(value));
  return types;
}
std::string text(const ValueSpec &type) { return fmt::format("{} {}", name(type.dtype), type.shape.str()); }

ValueSpec sliceOf(const Value &stack) {
  std::vector<int64_t> dims = stack.shape().dims();
  dims.erase(dims.begin());
  return {Shape(dims), stack.dtype()};
}
ValueSpec stackOf(const Value &slice, int64_t length) {
  std::vector<int64_t> dims = slice.shape().dims();
  dims.insert(dims.begin(), length);
  return {Shape(dims), slice.dtype()};
}

void requireCarries(const char *op, const List &inits, const List &next) {
  if (next.size() != inits.size())
    throw Error(ErrorKind::value_error,
                fmt::format("{}: the function returned {} carries for {}; expected one for each", op, next.size(),
                            inits.size()));
  for (size_t i = 0; i < inits.size(); ++i) {
    const ValueSpec before = typeOf(inits[i]), after = typeOf(next[i]);
    if (before == after)
      continue;
    throw Error(ErrorKind::value_error,
                fmt::format("{}: carry {} is {} before a step and {} after it; expected the same {}{}", op, i,
                            text(before), text(after), before.shape == after.shape ? "dtype" : "shape",
                            before.shape == after.shape ? ": cast it in the function" : ""));
  }
}

List head(const List &list, size_t count) { return {list.begin(), list.begin() + static_cast<int64_t>(count)}; }
List tail(const List &list, size_t count) { return {list.begin() + static_cast<int64_t>(count), list.end()}; }

/// Captures the losses that are added to the trace while it lives.
class NewLosses {
public:
  explicit NewLosses(Trace &trace) : trace_(trace), before_(trace.losses.size()) {}
  size_t count() const { return trace_.losses.size() - before_; }
  List values() const {
    List values;
    for (size_t i = before_; i < trace_.losses.size(); ++i)
      values.push_back(trace_.losses[i].value);
    return values;
  }
  void replace(const List &values) const {
    for (size_t i = 0; i < values.size(); ++i)
      trace_.losses[before_ + i].value = values[i];
  }

private:
  Trace &trace_;
  size_t before_;
};

Value sumOf(Trace &trace, const Value &stack) { return trace.reduce(ReduceKind::sum, stack, {0}, stack.dtype()); }

} // namespace

LoopStep scan(Trace &trace, const List &inits, const List &xs, int64_t length, bool reverse,
              const std::function<LoopStep(const Value &, const List &, const List &)> &step) {
  const size_t carries = inits.size();
  const NewLosses losses(trace);
  std::vector<ValueSpec> arguments{{Shape{}, DType::int32}};
  for (const Value &init : inits)
    arguments.push_back(typeOf(init));
  for (const Value &x : xs)
    arguments.push_back(sliceOf(x));
  List operands = inits;
  operands.insert(operands.end(), xs.begin(), xs.end());
  const auto body = [&](const List &values) {
    const List rest = tail(values, 1);
    LoopStep given = step(values[0], head(rest, carries), tail(rest, carries));
    requireCarries("scan", inits, given.carries);
    List yields = std::move(given.carries);
    for (const List &more : {given.ys, losses.values()})
      yields.insert(yields.end(), more.begin(), more.end());
    return yields;
  };
  const auto results = [&](const std::vector<List> &yields) {
    std::vector<ValueSpec> types = typesOf(inits);
    for (const Value &slice : tail(yields[0], carries))
      types.push_back(stackOf(slice, length));
    return types;
  };
  const List values = trace.controlFlow({.op = "scan",
                                         .operands = operands,
                                         .segments = {static_cast<int32_t>(carries), static_cast<int32_t>(xs.size())},
                                         .length = length,
                                         .reverse = reverse,
                                         .bodies = {{arguments, body}},
                                         .results = results});
  List added = tail(values, values.size() - losses.count());
  for (Value &stack : added)
    stack = sumOf(trace, stack);
  losses.replace(added);
  return {head(values, carries), tail(head(values, values.size() - added.size()), carries)};
}

List whileLoop(Trace &trace, const List &inits, std::optional<int64_t> maximum,
               const std::function<Value(const List &)> &condition,
               const std::function<List(const Value &, const List &)> &body) {
  const NewLosses losses(trace);
  std::vector<ValueSpec> carries = typesOf(inits), arguments{{Shape{}, DType::int32}};
  arguments.insert(arguments.end(), carries.begin(), carries.end());
  const auto decides = [&](const List &values) -> List {
    const Value go = condition(values);
    if (go.dtype() != DType::bool_ || go.rank() != 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("while_loop: the condition returned {}; expected a bool scalar", text(typeOf(go))));
    return {go};
  };
  const auto next = [&](const List &values) {
    List given = body(values[0], tail(values, 1));
    requireCarries("while_loop", inits, given);
    if (losses.count() != 0)
      throw Error(ErrorKind::value_error,
                  "while_loop: the function added a loss, which would have no gradient; expected a scan, "
                  "or a fori_loop with integer bounds");
    return given;
  };
  return trace.controlFlow({.op = "while",
                            .operands = inits,
                            .maximum = maximum,
                            .bodies = {{carries, decides}, {arguments, next}},
                            .results = [&](const std::vector<List> &) { return carries; }});
}

List branch(Trace &trace, const Value &condition, const std::function<List()> &then,
            const std::function<List()> &otherwise) {
  const NewLosses losses(trace);
  const auto traced = [&](const std::function<List()> &f) {
    return [&](const List &) {
      List given = f();
      if (losses.count() != 0)
        throw Error(ErrorKind::value_error,
                    "cond: a branch added a loss that the other branch lacks; expected the branches to "
                    "return the terms of losses");
      return given;
    };
  };
  const auto results = [&](const std::vector<List> &yields) {
    const std::vector<ValueSpec> first = typesOf(yields[0]), second = typesOf(yields[1]);
    if (first.size() != second.size())
      throw Error(ErrorKind::value_error,
                  fmt::format("cond: one branch returned {} Values, the other {}; expected equally many", first.size(),
                              second.size()));
    for (size_t i = 0; i < first.size(); ++i)
      if (!(first[i] == second[i]))
        throw Error(
            ErrorKind::value_error,
            fmt::format("cond: Value {} is {} in one branch and {} in the other; expected the same shape and dtype", i,
                        text(first[i]), text(second[i])));
    return first;
  };
  return trace.controlFlow({.op = "when",
                            .operands = {condition},
                            .bodies = {{{}, traced(then)}, {{}, traced(otherwise)}},
                            .results = results});
}

void Trace::when(const Value &condition, const std::function<void()> &then) {
  const auto assigns = [&](const List &) -> List {
    then();
    return {};
  };
  controlFlow({.op = "when",
               .operands = {condition},
               .bodies = {{{}, assigns}, {{}, [](const List &) { return List{}; }}},
               .results = [](const std::vector<List> &) { return std::vector<ValueSpec>{}; }});
}

} // namespace halftone::detail
