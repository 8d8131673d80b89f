// keras.ops on Values: loops, branches, and operations built on them.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Loops.h"
#include "frontend/graph/ControlFlow.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

List listOf(const Values &values) { return {values.begin(), values.end()}; }
List joined(List first, const List &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
List from(const List &list, size_t begin, size_t count) {
  return {list.begin() + static_cast<int64_t>(begin), list.begin() + static_cast<int64_t>(begin + count)};
}

constexpr int64_t longest = std::numeric_limits<int32_t>::max();

/// The number of steps: the one given by the user, which must equal the extent of axis 0 of all xs.
int64_t lengthOf(const char *op, const List &xs, const std::optional<int64_t> &given) {
  if (given && (*given < 0 || *given > longest))
    throw Error(ErrorKind::value_error, fmt::format("{}: expected a length from 0 to {}, got {}", op, longest, *given));
  if (!given && xs.empty())
    throw Error(ErrorKind::value_error, fmt::format("{}: expected xs or a length", op));
  std::optional<int64_t> length = given;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (xs[i].rank() == 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("{}: xs {} is a scalar; expected a leading axis of steps", op, i));
    const int64_t extent = xs[i].shape()[0];
    if (length && extent != *length)
      throw Error(ErrorKind::value_error, fmt::format("{}: xs {} of shape {} has {} steps; expected {}", op, i,
                                                      xs[i].shape().str(), extent, *length));
    length = extent;
  }
  if (*length > longest)
    throw Error(ErrorKind::value_error, fmt::format("{}: expected at most {} steps, got {}", op, longest, *length));
  return *length;
}

using StepFunction = std::function<LoopStep(const Value &, const List &, const List &)>;

/// The scan in segments of `steps` steps, each of which the backward pass recomputes.
LoopStep checkpointed(const List &inits, const List &xs, int64_t length, bool reverse, int64_t steps,
                      const StepFunction &step) {
  Trace &trace = tracing();
  const int64_t segments = length / steps, rest = length - segments * steps;
  const auto part = [&](const Value &x, int64_t begin, int64_t count) {
    std::vector<int64_t> start(static_cast<size_t>(x.rank()), 0), dims = x.shape().dims();
    start[0] = begin;
    dims[0] = count;
    return trace.slice(x, start, Shape(dims));
  };
  const auto parts = [&](int64_t begin, int64_t count) {
    List slices;
    for (const Value &x : xs)
      slices.push_back(part(x, begin, count));
    return slices;
  };
  const auto again = [&](const List &carries, const List &slices, int64_t count) {
    const List values = trace.rematerialized([&] {
      const LoopStep segment = detail::scan(trace, carries, slices, count, reverse, step);
      return joined(segment.carries, segment.ys);
    });
    return LoopStep{from(values, 0, carries.size()), from(values, carries.size(), values.size() - carries.size())};
  };
  const auto regrouped = [&](const Value &value, std::vector<int64_t> lead, int64_t replaced) {
    const std::vector<int64_t> dims = value.shape().dims();
    lead.insert(lead.end(), dims.begin() + replaced, dims.end());
    return trace.reshape(value, Shape(lead));
  };
  LoopStep state{inits, {}}, restStep;
  if (reverse && rest > 0) {
    restStep = again(state.carries, parts(segments * steps, rest), rest);
    state.carries = restStep.carries;
  }
  List groups = parts(0, segments * steps);
  for (Value &group : groups)
    group = regrouped(group, {segments, steps}, 1);
  state = detail::scan(
      trace, state.carries, groups, segments, reverse,
      [&](const Value &, const List &carries, const List &slices) { return again(carries, slices, steps); });
  for (Value &y : state.ys)
    y = regrouped(y, {segments * steps}, 2);
  if (!reverse && rest > 0) {
    restStep = again(state.carries, parts(segments * steps, rest), rest);
    state.carries = restStep.carries;
  }
  for (size_t i = 0; i < restStep.ys.size(); ++i)
    state.ys[i] = trace.concat({state.ys[i], restStep.ys[i]}, 0);
  return state;
}

} // namespace

std::pair<Values, Values> scan(const std::function<std::pair<Values, Values>(const Values &, const Values &)> &f,
                               const Values &init, const Values &xs, const ScanArgs &args) {
  if (!f)
    throw Error(ErrorKind::value_error, "scan: expected a function, got an empty one");
  if (args.unroll < 1)
    throw Error(ErrorKind::value_error, fmt::format("scan: expected unroll of at least 1, got {}", args.unroll));
  if (args.checkpoint_every && *args.checkpoint_every < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("scan: expected checkpoint_every of at least 1, got {}", *args.checkpoint_every));
  const size_t carries = init.size();
  const List all = apply("scan", joined(listOf(init), listOf(xs)), [f, args, carries](const List &values) {
    const List inits = from(values, 0, carries), stacks = from(values, carries, values.size() - carries);
    const int64_t length = lengthOf("scan", stacks, args.length);
    const auto step = [&](const Value &, const List &carry, const List &slices) {
      const auto [next, y] = f(Values(carry), Values(slices));
      return LoopStep{listOf(next), listOf(y)};
    };
    const bool isCut = args.checkpoint_every && *args.checkpoint_every < length;
    const LoopStep last = isCut ? checkpointed(inits, stacks, length, args.reverse, *args.checkpoint_every, step)
                                : detail::scan(tracing(), inits, stacks, length, args.reverse, step);
    return joined(last.carries, last.ys);
  });
  return {Values(from(all, 0, carries)), Values(from(all, carries, all.size() - carries))};
}

Values fori_loop(int64_t lower, int64_t upper, const std::function<Values(const Value &, const Values &)> &f,
                 const Values &init) {
  constexpr int64_t least = std::numeric_limits<int32_t>::min();
  if (lower < least || lower > longest || upper < least || upper > longest || upper - lower > longest)
    throw Error(
        ErrorKind::value_error,
        fmt::format("fori_loop: expected int32 bounds of at most {} steps, got {} and {}", longest, lower, upper));
  return Values(apply("fori_loop", listOf(init), [=](const List &values) {
    const auto step = [&](const Value &index, const List &carry, const List &) {
      const Value i = lower == 0 ? index : tracing().binary("add", index, scalarLike(lower, index));
      return LoopStep{listOf(f(i, Values(carry))), {}};
    };
    return detail::scan(tracing(), values, {}, std::max<int64_t>(upper - lower, 0), false, step).carries;
  }));
}

Values fori_loop(const Value &lower, const Value &upper, const std::function<Values(const Value &, const Values &)> &f,
                 const Values &init) {
  for (const Value &bound : {lower, upper})
    if (bound.dtype() != DType::int32 || bound.rank() != 0)
      throw Error(ErrorKind::value_error, fmt::format("fori_loop: expected int32 scalars as bounds, got {} of shape {}",
                                                      name(bound.dtype()), bound.shape().str()));
  return Values(apply("fori_loop", joined({lower, upper}, listOf(init)), [f](const List &values) {
    const Value &end = values[1];
    List carries = from(values, 2, values.size() - 2);
    carries.insert(carries.begin(), values[0]);
    const auto condition = [&](const List &carry) { return tracing().compare(ComparePredicate::lt, carry[0], end); };
    const auto step = [&](const Value &, const List &carry) {
      const Value next = tracing().binary("add", carry[0], scalarLike(1, carry[0]));
      return joined({next}, listOf(f(carry[0], Values(from(carry, 1, carry.size() - 1)))));
    };
    const List last = whileLoop(tracing(), carries, std::nullopt, condition, step);
    return from(last, 1, last.size() - 1);
  }));
}

Values while_loop(const std::function<Value(const Values &)> &cond, const std::function<Values(const Values &)> &body,
                  const Values &vars, const WhileLoopArgs &args) {
  if (args.maximum_iterations && *args.maximum_iterations < 0)
    throw Error(ErrorKind::value_error,
                fmt::format("while_loop: expected maximum_iterations of 0 or more, got {}", *args.maximum_iterations));
  return Values(apply("while_loop", listOf(vars), [cond, body, args](const List &values) {
    return whileLoop(
        tracing(), values, args.maximum_iterations, [&](const List &carry) { return cond(Values(carry)); },
        [&](const Value &, const List &carry) { return listOf(body(Values(carry))); });
  }));
}

Values cond(const Value &pred, const std::function<Values()> &true_fn, const std::function<Values()> &false_fn) {
  if (pred.dtype() != DType::bool_ || pred.rank() != 0)
    throw Error(ErrorKind::value_error, fmt::format("cond: expected a bool scalar as the condition, got {} of shape {}",
                                                    name(pred.dtype()), pred.shape().str()));
  return Values(apply("cond", {pred}, [true_fn, false_fn](const List &values) {
    return branch(tracing(), values[0], [&] { return listOf(true_fn()); }, [&] { return listOf(false_fn()); });
  }));
}

Values switch_(const Value &index, const std::vector<std::function<Values(const Values &)>> &branches,
               const Values &operands) {
  if (branches.empty())
    throw Error(ErrorKind::value_error, "switch_: expected at least one branch");
  if (is_float(index.dtype()) || index.dtype() == DType::bool_ || index.rank() != 0)
    throw Error(ErrorKind::value_error,
                fmt::format("switch_: expected an integer scalar as the index, got {} of shape {}", name(index.dtype()),
                            index.shape().str()));
  return Values(apply("switch_", joined({index}, listOf(operands)), [branches](const List &values) {
    const Values given(from(values, 1, values.size() - 1));
    // Selects among the branches [begin, end): the lower or the upper half. So an index out of range is clamped.
    const auto among = [&](auto &&self, size_t begin, size_t end) -> List {
      if (end - begin == 1)
        return listOf(branches[begin](given));
      const size_t middle = begin + (end - begin) / 2;
      const Value isLower =
          tracing().compare(ComparePredicate::lt, values[0], scalarLike(static_cast<int64_t>(middle), values[0]));
      return branch(
          tracing(), isLower, [&] { return self(self, begin, middle); }, [&] { return self(self, middle, end); });
    };
    return among(among, 0, branches.size());
  }));
}

Values map(const std::function<Values(const Values &)> &f, const Values &xs) {
  if (xs.size() == 0)
    throw Error(ErrorKind::value_error, "map: expected at least one Value to map over");
  return Values(apply("map", listOf(xs), [f](const List &values) {
    const auto step = [&](const Value &, const List &, const List &slices) {
      return LoopStep{{}, listOf(f(Values(slices)))};
    };
    return detail::scan(tracing(), {}, values, lengthOf("map", values, std::nullopt), false, step).ys;
  }));
}

Values vectorized_map(const std::function<Values(const Values &)> &f, const Values &xs) { return map(f, xs); }

namespace {

/// The elements begin, begin + 2, ... along axis 0, `count` of them.
List everySecond(const List &values, int64_t begin, int64_t count) {
  List parts;
  for (const Value &value : values) {
    const int64_t extent = value.shape()[0];
    Value all = value;
    if (begin + 2 * count > extent) { // the last pair has no second element
      std::vector<int64_t> start(static_cast<size_t>(value.rank()), 0), one = value.shape().dims();
      start[0] = extent - 1;
      one[0] = 1;
      all = tracing().concat({value, tracing().slice(value, start, Shape(one))}, 0);
    }
    std::vector<int64_t> start(static_cast<size_t>(value.rank()), 0), dims = value.shape().dims();
    start[0] = begin;
    dims[0] = 2 * count;
    const Value pairs = tracing().slice(all, start, Shape(dims));
    dims[0] = count;
    std::vector<int64_t> paired = dims;
    paired.insert(paired.begin() + 1, 2);
    const Value split = tracing().reshape(pairs, Shape(paired));
    paired[1] = 1;
    parts.push_back(
        tracing().reshape(tracing().slice(split, std::vector<int64_t>(paired.size(), 0), Shape(paired)), Shape(dims)));
  }
  return parts;
}

Value rows(const Value &value, int64_t begin, int64_t count) {
  std::vector<int64_t> start(static_cast<size_t>(value.rank()), 0), dims = value.shape().dims();
  start[0] = begin;
  dims[0] = count;
  return tracing().slice(value, start, Shape(dims));
}
List rows(const List &values, int64_t begin, int64_t count) {
  List parts;
  for (const Value &value : values)
    parts.push_back(rows(value, begin, count));
  return parts;
}

/// a0 b0 a1 b1 ..., with as many even elements as odd ones, or one more.
Value interleaved(const Value &even, const Value &odd) {
  const int64_t pairs = odd.shape()[0];
  std::vector<int64_t> dims = odd.shape().dims();
  dims.insert(dims.begin() + 1, 1);
  const Value both =
      tracing().concat({tracing().reshape(rows(even, 0, pairs), Shape(dims)), tracing().reshape(odd, Shape(dims))}, 1);
  std::vector<int64_t> flat = odd.shape().dims();
  flat[0] = 2 * pairs;
  const Value all = tracing().reshape(both, Shape(flat));
  return even.shape()[0] == pairs ? all : tracing().concat({all, rows(even, pairs, 1)}, 0);
}

/// The recursive halving: the partial results of pairs are the partial results at odd indices, from which the ones at
/// even indices follow.
List partials(const std::function<List(const List &, const List &)> &f, const List &elems) {
  const int64_t count = elems[0].shape()[0];
  if (count < 2)
    return elems;
  const int64_t pairs = count / 2;
  const List odd = partials(f, f(everySecond(elems, 0, pairs), everySecond(elems, 1, pairs)));
  const int64_t others = (count - 1) / 2; // even indices except the first
  List even = rows(elems, 0, 1);
  if (others > 0) {
    const List more = f(rows(odd, 0, others), everySecond(elems, 2, others));
    for (size_t i = 0; i < even.size(); ++i)
      even[i] = tracing().concat({even[i], more[i]}, 0);
  }
  List all;
  for (size_t i = 0; i < even.size(); ++i)
    all.push_back(interleaved(even[i], odd[i]));
  return all;
}

} // namespace

Values associative_scan(const std::function<Values(const Values &, const Values &)> &f, const Values &elems,
                        const AssociativeScanArgs &args) {
  if (elems.size() == 0)
    throw Error(ErrorKind::value_error, "associative_scan: expected at least one Value");
  return Values(apply("associative_scan", listOf(elems), [f, args](const List &values) {
    List first;
    for (const Value &value : values) {
      const Value moved = moveaxis(value, args.axis, 0);
      first.push_back(args.reverse ? flip(moved, 0) : moved);
      if (first.back().shape()[0] != first.front().shape()[0])
        throw Error(ErrorKind::value_error,
                    fmt::format("associative_scan: shapes {} and {} differ along axis {}; expected the same extent",
                                values.front().shape().str(), value.shape().str(), args.axis));
    }
    const auto combined = [&](const List &a, const List &b) {
      List given = listOf(f(Values(a), Values(b)));
      if (given.size() != a.size())
        throw Error(ErrorKind::value_error,
                    fmt::format("associative_scan: the function returned {} Values for {}", given.size(), a.size()));
      return given;
    };
    List all = partials(combined, first);
    for (Value &value : all)
      value = moveaxis(args.reverse ? flip(value, 0) : value, 0, args.axis);
    return all;
  }));
}

} // namespace halftone::ops
