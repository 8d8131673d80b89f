// Random programs over the dialect's ops: attention.
// SPDX-License-Identifier: Apache-2.0
#include "RandomProgram.h"
#include <fmt/format.h>

namespace halftone::test {

void RandomProgram::attention(RandomItem x) {
  if (x.shape.empty() || x.shape.size() > 4)
    return;
  x = unary("tanh", x);
  // (b, t, n, h): the last axis is h.
  RandomShape queries = x.shape;
  while (queries.size() < 4)
    queries.insert(queries.size() == 3 ? queries.end() - 1 : queries.begin(), 1);
  const int64_t batch = queries[0], heads = queries[2], groups = heads > 0 && below(2) ? heads : 1;
  const int64_t keys = below(4) ? extent(13) : 128 + below(9), width = 1 + below(9);
  const RandomShape out{batch, queries[1], heads, width}, lse{batch, heads, queries[1]};
  if (sizeOf(lse) * keys > maxElements || sizeOf(lse) * keys * (queries[3] + width) > 500'000 ||
      batch * keys * groups * queries[3] > maxElements)
    return;
  const RandomItem q = queries == x.shape ? x : moved("reshape", x, "", queries);
  const RandomItem k = factor(x.dtype, {batch, keys, groups, queries[3]}),
                   v = factor(x.dtype, {batch, keys, groups, width});
  std::string operands = fmt::format("{}, {}, {}", q.name, k.name, v.name),
              types = fmt::format("{}, {}, {}", q.type(), k.type(), v.type()),
              attributes = below(2) ? "causal, scale = 0.5 : f64" : "scale = 0.25 : f64";
  const auto give = [&](const char *name, const RandomItem &operand) {
    operands += fmt::format(" {} {}", name, operand.name);
    types += ", " + operand.type();
  };
  const auto repeated = [&](int64_t extent) { return below(2) ? extent : 1; };
  if (below(3) == 0)
    give("bias", factor(x.dtype, {repeated(batch), repeated(heads), repeated(queries[1]), repeated(keys)}));
  if (below(3) == 0)
    give("mask", argument("i1", {repeated(batch), repeated(heads), repeated(queries[1]), repeated(keys)}));
  if (below(3) == 0) {
    give("key", argument("ui32", {2}));
    pool.pop_back();
    attributes += ", rate = 0.5 : f64";
  }
  const RandomItem y{fmt::format("%n{}", lines.size()), x.dtype, out}, sums{y.name + "_lse", x.wide(), lse};
  lines.push_back(fmt::format("  {}, {} = halftone.attention {} {{{}}} : ({}) -> ({}, {})\n", y.name, sums.name,
                              operands, attributes, types, y.type(), sums.type()));
  pool.push_back(sums);
  pool.push_back(y);
  RandomShape flat(x.shape.begin(), x.shape.end() - 1);
  flat.push_back(width);
  if (flat != out)
    moved("reshape", y, "", flat);
}

} // namespace halftone::test
