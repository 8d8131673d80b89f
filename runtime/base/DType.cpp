// Dtype names, sizes and Keras's promotion lattice.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/DType.h"
#include "runtime/base/Floatx.h"
#include "runtime/base/Status.h"
#include <array>
#include <fmt/format.h>
#include <ostream>

using namespace halftone;

namespace {
struct Row {
  std::string_view name;
  int64_t bytes;
  bool isFloat;
};
} // namespace

// In the order of the enumeration.
static constexpr std::array<Row, 18> rows{{{"bool", 1, false},
                                           {"uint8", 1, false},
                                           {"uint16", 2, false},
                                           {"uint32", 4, false},
                                           {"uint64", 8, false},
                                           {"int8", 1, false},
                                           {"int16", 2, false},
                                           {"int32", 4, false},
                                           {"int64", 8, false},
                                           {"float16", 2, true},
                                           {"bfloat16", 2, true},
                                           {"float32", 4, true},
                                           {"float64", 8, true},
                                           {"float8_e4m3fn", 1, true},
                                           {"float8_e5m2", 1, true},
                                           {"complex64", 8, false},
                                           {"complex128", 16, false},
                                           {"string", 0, false}}};

static const Row &rowOf(DType dtype) { return rows[static_cast<size_t>(dtype)]; }

std::string_view halftone::name(DType dtype) { return rowOf(dtype).name; }
bool halftone::is_float(DType dtype) { return rowOf(dtype).isFloat; }
int64_t halftone::itemsize(DType dtype) { return rowOf(dtype).bytes; }

DType halftone::standardize_dtype(std::string_view name) {
  if (name == "int")
    return DType::int32;
  if (name.find("torch") != name.npos || name.find("jax.numpy") != name.npos)
    name = name.substr(name.rfind('.') + 1); // if there is no dot, npos + 1 is 0
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name == name)
      return static_cast<DType>(i);
  throw Error(ErrorKind::value_error, fmt::format("Invalid dtype: {}", name));
}

// The lattice: its nodes are the dtypes that promote, and Keras's two weak types.
namespace {
enum Node : unsigned { weakInt = 18, weakFloat = 19, nodeCount = 20 };
struct Edge {
  unsigned from, to;
};
} // namespace

static constexpr unsigned node(DType dtype) { return static_cast<unsigned>(dtype); }

static constexpr Edge edges[] = {{node(DType::bool_), weakInt},
                                 {node(DType::uint8), node(DType::int16)},
                                 {node(DType::uint8), node(DType::uint16)},
                                 {node(DType::uint16), node(DType::int32)},
                                 {node(DType::uint16), node(DType::uint32)},
                                 {node(DType::uint32), node(DType::int64)},
                                 {node(DType::uint32), node(DType::uint64)},
                                 {node(DType::uint64), weakFloat},
                                 {node(DType::int64), weakFloat},
                                 {weakInt, node(DType::uint8)},
                                 {weakInt, node(DType::int8)},
                                 {weakInt, node(DType::complex64)},
                                 {node(DType::int8), node(DType::int16)},
                                 {node(DType::int16), node(DType::int32)},
                                 {node(DType::int32), node(DType::int64)},
                                 {weakFloat, node(DType::bfloat16)},
                                 {weakFloat, node(DType::float16)},
                                 {node(DType::bfloat16), node(DType::float32)},
                                 {node(DType::float16), node(DType::float32)},
                                 {node(DType::float32), node(DType::float64)},
                                 {node(DType::float32), node(DType::complex64)},
                                 {node(DType::float64), node(DType::complex128)},
                                 {node(DType::complex64), node(DType::complex128)}};

/// For each node, the bit set of the node and all nodes above it.
static constexpr std::array<uint32_t, nodeCount> upperBounds = [] {
  std::array<uint32_t, nodeCount> bounds{};
  for (unsigned i = 0; i < nodeCount; ++i)
    bounds[i] = 1u << i;
  for (unsigned round = 0; round < nodeCount; ++round)
    for (Edge edge : edges)
      bounds[edge.from] |= bounds[edge.to];
  return bounds;
}();

static unsigned leastUpperBound(unsigned a, unsigned b) {
  const uint32_t common = upperBounds[a] & upperBounds[b];
  for (unsigned i = 0; i < nodeCount; ++i)
    if ((common >> i & 1) && (common & ~upperBounds[i]) == 0)
      return i;
  return node(DType::complex128); // unreachable: the lattice has a top
}

DType halftone::result_type(DType a, DType b) {
  for (DType d : {a, b})
    if (d == DType::float8_e4m3fn || d == DType::float8_e5m2)
      throw Error(ErrorKind::value_error,
                  fmt::format("There is no implicit conversions from float8 dtypes to others. You must cast it "
                              "internally. Received: ('{}', '{}')",
                              name(a), name(b)));
  unsigned bound = node(a);
  if (a != b) {
    for (DType d : {a, b})
      if (d == DType::string)
        throw Error(ErrorKind::value_error, "dtype='string' is not a valid dtype for Keras type promotion.");
    bound = leastUpperBound(node(a), node(b));
  }
  // A weak float takes the last two characters of floatx as its width: bfloat16 gives float16.
  if (bound == weakFloat)
    bound = node(floatx() == DType::bfloat16 ? DType::float16 : floatx());
  switch (static_cast<DType>(bound)) {
  case DType::int64:
    return DType::int32;
  case DType::uint64:
    return DType::uint32;
  case DType::float64:
    return DType::float32;
  case DType::complex128:
    return DType::complex64;
  default:
    return static_cast<DType>(bound);
  }
}

std::ostream &halftone::operator<<(std::ostream &os, DType dtype) { return os << name(dtype); }
