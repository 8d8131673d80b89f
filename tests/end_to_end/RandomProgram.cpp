// Random programs: their values, and the text of ops on them.
// SPDX-License-Identifier: Apache-2.0
#include "RandomProgram.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halftone::test {

std::string RandomItem::type() const {
  return fmt::format("tensor<{}{}{}>", fmt::join(shape, "x"), shape.empty() ? "" : "x", dtype);
}

int64_t sizeOf(const RandomShape &shape) {
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  return size;
}

std::string array(const std::vector<int64_t> &numbers) {
  return fmt::format("array<i64{}{}>", numbers.empty() ? "" : ": ", fmt::join(numbers, ", "));
}

std::vector<int64_t> upTo(size_t count, size_t from) {
  std::vector<int64_t> numbers;
  for (size_t i = from; i < count; ++i)
    numbers.push_back(int64_t(i));
  return numbers;
}

RandomProgram::RandomProgram(uint32_t seed, bool degenerate, bool loops)
    : random(seed), degenerate(degenerate), loops(loops) {
  const std::vector<std::vector<std::string>> sets = {
      {"f32"}, {"f32", "f16"}, {"f32", "bf16"}, {"f32", "f16", "bf16"}, {"f64", "f32"}, {"bf16"}, {"f16"}};
  floats = one(sets);
  stateless = degenerate && below(3) == 0;
}

std::string RandomProgram::text(int ops) {
  argument(one(floats), anyShape());
  argument("f32", anyShape());
  while (int(lines.size()) < ops)
    degenerate &&below(2) ? degenerateStep() : step();
  std::vector<RandomItem> given{pool.back()};
  for (int i = below(4); i >= 0; --i)
    given.push_back(one(pool));
  std::vector<std::string> symbols, inputs, outputs, values, types;
  for (const RandomItem &item : arguments)
    inputs.push_back(fmt::format("{}: {} {{halftone.name = \"{}\"}}", item.name, item.type(), item.name.substr(1)));
  for (size_t i = 0; i < given.size(); ++i)
    outputs.push_back(fmt::format("{} {{halftone.name = \"y{}\"}}", given[i].type(), i));
  for (const RandomItem &item : variables) {
    symbols.push_back(fmt::format("halftone.variable @{} : {}\n", item.name.substr(1), item.type()));
    inputs.push_back(fmt::format("{}: {} {{halftone.variable = @{}}}", item.name, item.type(), item.name.substr(1)));
    if (below(2))
      continue;
    const RandomItem old =
        below(2) ? item : *pick([&](const RandomItem &x) { return x.dtype == "f32" && x.shape == item.shape; });
    given.push_back(binary("mul", old, splat(item, "0.9")));
    outputs.push_back(fmt::format("{} {{halftone.variable = @{}}}", item.type(), item.name.substr(1)));
  }
  for (const RandomItem &item : given) {
    values.push_back(item.name);
    types.push_back(item.type());
  }
  return fmt::format("{}func.func @main({}) -> ({}) {{\n{}  return {} : {}\n}}\n", fmt::join(symbols, ""),
                     fmt::join(inputs, ", "), fmt::join(outputs, ", "), fmt::join(lines, ""), fmt::join(values, ", "),
                     fmt::join(types, ", "));
}

int64_t RandomProgram::extent(size_t among) {
  if (degenerate && below(5) < 2)
    return below(4) != 0;
  static const std::vector<int64_t> extents = {1,  2,  3,  4,  5,  7,  8,   10,  13,  16,  17, 24,
                                               31, 32, 33, 48, 64, 65, 100, 128, 130, 200, 257};
  return extents[size_t(below(int(std::min(among, extents.size()))))];
}

RandomShape RandomProgram::anyShape() {
  while (true) {
    RandomShape shape(size_t(one(std::vector<int>{0, 1, 2, 2, 2, 2, 3, 3, 4})));
    for (int64_t &each : shape)
      each = extent();
    if (sizeOf(shape) <= maxElements)
      return shape;
  }
}

RandomItem RandomProgram::argument(const std::string &dtype, const RandomShape &shape) {
  arguments.push_back({fmt::format("%x{}", arguments.size()), dtype, shape});
  pool.push_back(arguments.back());
  return pool.back();
}

RandomItem RandomProgram::add(const std::string &dtype, const RandomShape &shape, const std::string &op) {
  pool.push_back({fmt::format("%n{}", lines.size()), dtype, shape});
  lines.push_back(fmt::format("  {} = halftone.{}\n", pool.back().name, op));
  return pool.back();
}

/// Prefers the most recent values, so that chains grow.
std::optional<RandomItem> RandomProgram::pick(const std::function<bool(const RandomItem &)> &fits) {
  std::vector<RandomItem> found;
  std::copy_if(pool.begin(), pool.end(), std::back_inserter(found), fits);
  if (found.empty())
    return std::nullopt;
  const int count = int(found.size()), near = below(5) < 3 ? std::min(count, 5) : count;
  return found[size_t(count - 1 - below(near))];
}

RandomItem RandomProgram::like(const RandomItem &x) {
  if (degenerate && below(3) == 0)
    return x;
  const auto found =
      pick([&](const RandomItem &y) { return y.dtype == x.dtype && y.shape == x.shape && y.name != x.name; });
  return found && below(7) ? *found : arguments.size() < 8 ? argument(x.dtype, x.shape) : x;
}

RandomItem RandomProgram::unary(const std::string &op, const RandomItem &x) {
  return add(x.dtype, x.shape, fmt::format("{} {} : {}", op, x.name, x.type()));
}

RandomItem RandomProgram::binary(const std::string &op, const RandomItem &x, const RandomItem &y) {
  return add(x.dtype, x.shape, fmt::format("{} {}, {} : {}", op, x.name, y.name, x.type()));
}

RandomItem RandomProgram::splat(const RandomItem &x, const std::string &value) {
  return add(x.dtype, x.shape, fmt::format("constant dense<{}> : {}", value, x.type()));
}

RandomItem RandomProgram::cast(const RandomItem &x, const std::string &dtype) {
  return add(dtype, x.shape,
             fmt::format("cast {} : {} to {}", x.name, x.type(), RandomItem{"", dtype, x.shape}.type()));
}

RandomItem RandomProgram::moved(const std::string &op, const RandomItem &x, const std::string &attributes,
                                const RandomShape &to) {
  return add(x.dtype, to,
             fmt::format("{} {} {} : {} to {}", op, x.name, attributes, x.type(), RandomItem{"", x.dtype, to}.type()));
}

RandomItem RandomProgram::broadcast(const RandomItem &x, const std::vector<int64_t> &axes, const RandomShape &to) {
  return moved("broadcast", x, fmt::format("{{axes = {}}}", array(axes)), to);
}

RandomItem RandomProgram::reduce(const std::string &kind, const RandomItem &x, const std::vector<int64_t> &axes,
                                 const std::string &dtype) {
  RandomShape to;
  for (size_t i = 0; i < x.shape.size(); ++i)
    if (std::find(axes.begin(), axes.end(), int64_t(i)) == axes.end())
      to.push_back(x.shape[i]);
  return add(dtype, to,
             fmt::format("reduce {} {} {{axes = {}}} : {} -> {}", kind, x.name, array(axes), x.type(),
                         RandomItem{"", dtype, to}.type()));
}

} // namespace halftone::test
