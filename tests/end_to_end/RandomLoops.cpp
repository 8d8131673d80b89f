// Random programs: scans whose bodies are random programs.
// SPDX-License-Identifier: Apache-2.0
#include "RandomProgram.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halftone::test {

/// A value of the type of `x` from the body, whose values begin at `begin` in the pool, or a new value. Floats are at
/// most 1 in magnitude, so that the errors added by the steps remain small.
RandomItem RandomProgram::nextCarry(const RandomItem &x, size_t begin) {
  std::vector<RandomItem> found;
  for (size_t i = begin; i < pool.size(); ++i)
    if (pool[i].dtype == x.dtype && pool[i].shape == x.shape)
      found.push_back(pool[i]);
  const RandomItem next = found.empty() || below(4) == 0 ? binary(x.dtype == "i1" ? "and" : "add", x, x) : one(found);
  if (x.isFloat())
    return below(3) == 0 ? binary("add", x, unary("tanh", next)) : unary("tanh", next);
  return next;
}

/// The body may read all earlier values. Its own values are unavailable after it.
void RandomProgram::scan(const RandomItem &x) {
  static const std::vector<int64_t> lengths = {0, 1, 2, 3, 5};
  const int64_t length = degenerate ? one(lengths) : 1 + below(5);
  const auto stacked = [&](RandomItem slice) {
    slice.shape.insert(slice.shape.begin(), length);
    return slice;
  };
  std::vector<RandomItem> inits, stacks, carries, slices, results;
  for (int i = below(3); i >= 0; --i)
    inits.push_back(below(2) ? like(x) : one(pool));
  for (int i = below(3); i > 0; --i) {
    const RandomItem slice = below(2) ? x : RandomItem{"", one(floats), anyShape()};
    if (sizeOf(slice.shape) * length <= maxElements)
      stacks.push_back(argument(slice.dtype, stacked(slice).shape));
  }
  const std::string name = fmt::format("%n{}", lines.size());
  const size_t begin = pool.size(), head = lines.size();
  lines.emplace_back();
  pool.push_back({fmt::format("%i{}", head), "i32", {}});
  for (RandomItem each : inits) {
    each.name = fmt::format("%c{}x{}", head, carries.size());
    carries.push_back(each);
  }
  for (RandomItem each : stacks) {
    each.name = fmt::format("%s{}x{}", head, slices.size());
    each.shape.erase(each.shape.begin());
    slices.push_back(each);
  }
  pool.insert(pool.end(), carries.begin(), carries.end());
  pool.insert(pool.end(), slices.begin(), slices.end());
  ++depth;
  for (int i = 2 + below(8); i > 0; --i)
    degenerate &&below(3) == 0 ? degenerateStep() : step();
  --depth;

  std::vector<std::string> operands, types, arguments{fmt::format("%i{}: tensor<i32>", head)}, values, kinds, given;
  for (const RandomItem &carry : carries) {
    const RandomItem next = nextCarry(carry, begin + 1);
    values.push_back(next.name);
    kinds.push_back(next.type());
    results.push_back(next);
  }
  for (int i = below(3); i > 0; --i) {
    const RandomItem y = pool[begin + size_t(below(int(pool.size() - begin)))];
    if (sizeOf(y.shape) * length > maxElements || y.shape.size() > 4)
      continue;
    values.push_back(y.name);
    kinds.push_back(y.type());
    results.push_back(stacked(y));
  }
  for (const auto *list : {&inits, &stacks})
    for (const RandomItem &each : *list) {
      operands.push_back(each.name);
      types.push_back(each.type());
    }
  for (const auto *list : {&carries, &slices})
    for (const RandomItem &each : *list)
      arguments.push_back(fmt::format("{}: {}", each.name, each.type()));
  for (const RandomItem &each : results)
    given.push_back(each.type());
  const std::vector<std::string> overs(operands.begin() + int64_t(inits.size()), operands.end());
  operands.resize(inits.size());
  lines[head] = fmt::format(
      "  {}:{} = halftone.scan ({}){} {{length = {} : i64{}}} : ({}) -> ({}) {{\n  ^bb0({}):\n", name, results.size(),
      fmt::join(operands, ", "), overs.empty() ? "" : fmt::format(" over ({})", fmt::join(overs, ", ")), length,
      below(2) ? ", reverse" : "", fmt::join(types, ", "), fmt::join(given, ", "), fmt::join(arguments, ", "));
  lines.push_back(fmt::format("  halftone.yield {} : {}\n  }}\n", fmt::join(values, ", "), fmt::join(kinds, ", ")));
  keepOutside(begin);
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].name = fmt::format("{}#{}", name, i);
    pool.push_back(results[i]);
  }
}

/// Removes values of the body; arguments of @main that its steps have created remain.
void RandomProgram::keepOutside(size_t begin) {
  std::erase_if(pool, [&, at = size_t(0)](const RandomItem &item) mutable {
    const bool isArgument = item.name.starts_with("%x") || item.name.starts_with("%v");
    return at++ >= begin && !isArgument;
  });
}

} // namespace halftone::test
