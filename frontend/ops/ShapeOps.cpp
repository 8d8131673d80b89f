// keras.ops on Values: reductions and shapes.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

Shape keepAxes(const Shape &shape, const std::vector<int64_t> &axes) {
  std::vector<int64_t> dims = shape.dims();
  for (int64_t axis : axes)
    dims[static_cast<size_t>(axis)] = 1;
  return Shape(dims);
}

/// The accumulator dtype of integer products and sums: 32 bits at least.
DType accumulatorOf(DType dtype) {
  if (is_float(dtype) || itemsize(dtype) >= 4)
    return dtype;
  return name(dtype).starts_with("u") ? DType::uint32 : DType::int32;
}

Value reduce(ReduceKind kind, const char *op, const Value &x, const Axes &axis, bool keepdims) {
  const auto f = [kind, op, list = axis.list(), keepdims](const List &v) {
    bool widens = kind == ReduceKind::sum || kind == ReduceKind::prod;
    Value in = widens ? asDtype(v[0], accumulatorOf(v[0].dtype())) : v[0];
    ReduceKind found = kind;
    if (in.dtype() == DType::bool_)
      found = kind == ReduceKind::max ? ReduceKind::logical_or : ReduceKind::logical_and;
    std::vector<int64_t> axes = normalizeAxes(op, list, in.shape().rank());
    Value y = axes.empty() ? in : tracing().reduce(found, in, axes, in.dtype());
    return keepdims ? tracing().reshape(y, keepAxes(in.shape(), axes)) : y;
  };
  return applyOne(op, {x}, f, isSymbolic(x) ? formOfReduction(axis.list(), keepdims) : CallForm());
}

Value argReduce(bool largest, const char *op, const Value &x, int64_t axis) {
  if (isSymbolic(x))
    return recordOperation(largest ? "Argmax" : "Argmin", {x}, configOf("axis", axis));
  return applyOne(op, {x}, [largest, op, axis](const List &v) {
    Value in = asNumber(v[0]);
    int64_t along = normalizeAxis(op, axis, in.shape().rank());
    if (in.shape()[along] == 0)
      throw Error(ErrorKind::value_error, fmt::format("{}: axis {} of shape {} is empty", op, axis, in.shape().str()));
    return tracing().argReduce(largest, in, along);
  });
}

Value cumulative(const char *className, ReduceKind kind, const Value &x, std::optional<int64_t> axis,
                 std::optional<DType> dtype) {
  const char *op = kind == ReduceKind::sum ? "cumsum" : "cumprod";
  if (isSymbolic(x)) {
    Config config = axis ? configOf("axis", *axis) : Config();
    if (dtype)
      setField(config, "dtype", std::string(name(*dtype)));
    return recordOperation(className, {x}, config);
  }
  return applyOne(op, {x}, [=](const List &v) {
    Value in = asNumber(asDtype(v[0], dtype.value_or(v[0].dtype())));
    if (!axis && in.rank() != 1)
      in = tracing().reshape(in, Shape({in.shape().elements()}));
    return tracing().cumsum(in, axis ? normalizeAxis(op, *axis, in.rank()) : 0, kind);
  });
}

} // namespace

Value sum(const Value &x, const Axes &axis, bool keepdims) { return reduce(ReduceKind::sum, "sum", x, axis, keepdims); }
Value max(const Value &x, const Axes &axis, bool keepdims) { return reduce(ReduceKind::max, "max", x, axis, keepdims); }
Value min(const Value &x, const Axes &axis, bool keepdims) { return reduce(ReduceKind::min, "min", x, axis, keepdims); }
Value prod(const Value &x, const Axes &axis, bool keepdims) {
  return reduce(ReduceKind::prod, "prod", x, axis, keepdims);
}
Value mean(const Value &x, const Axes &axis, bool keepdims) {
  const auto f = [list = axis.list(), keepdims](const List &v) {
    Value in = asFloat(v[0]);
    std::vector<int64_t> axes = normalizeAxes("mean", list, in.shape().rank());
    if (axes.empty())
      return in;
    int64_t count = 1;
    for (int64_t a : axes)
      count = extentProduct(count, in.shape()[a]);
    // The sum stays in float32 or wider until the division: a float16 sum overflows long before its mean does.
    bool narrow = itemsize(in.dtype()) < 4;
    Value total = tracing().reduce(ReduceKind::sum, in, axes, narrow ? DType::float32 : in.dtype());
    Value y = tracing().binary("div", total, scalarLike(count, total));
    y = asDtype(y, in.dtype(), "mean");
    return keepdims ? tracing().reshape(y, keepAxes(in.shape(), axes)) : y;
  };
  return applyOne("mean", {x}, f, isSymbolic(x) ? formOfReduction(axis.list(), keepdims) : CallForm());
}
Value cumsum(const Value &x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return cumulative("Cumsum", ReduceKind::sum, x, axis, dtype);
}
Value cumprod(const Value &x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return cumulative("Cumprod", ReduceKind::prod, x, axis, dtype);
}
Value argmax(const Value &x, int64_t axis) { return argReduce(true, "argmax", x, axis); }
Value argmin(const Value &x, int64_t axis) { return argReduce(false, "argmin", x, axis); }

Value reshape(const Value &x, const Shape &newshape) {
  if (isSymbolic(x))
    return recordOperation("Reshape", {x}, configOf("newshape", newshape.dims()));
  return applyOne("reshape", {x}, [newshape](const List &v) {
    std::vector<int64_t> dims = newshape.dims();
    int64_t known = 1, unknown = -1;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] >= 0)
        known = extentProduct(known, dims[i]);
      else if (unknown >= 0)
        throw Error(ErrorKind::value_error,
                    fmt::format("reshape to {}: at most one dimension may be None", newshape.str()));
      else
        unknown = static_cast<int64_t>(i);
    }
    int64_t count = v[0].shape().elements();
    if (unknown >= 0)
      dims[static_cast<size_t>(unknown)] = known == 0 ? 0 : count / known;
    if (extentProduct(dims) != count)
      throw Error(ErrorKind::value_error, fmt::format("cannot reshape {} to {}", v[0].shape().str(), newshape.str()));
    return Shape(dims) == v[0].shape() ? v[0] : tracing().reshape(v[0], Shape(dims));
  });
}
Value transpose(const Value &x, const std::vector<int64_t> &axes) {
  if (isSymbolic(x))
    return recordOperation("Transpose", {x}, axes.empty() ? Config() : configOf("axes", axes));
  return applyOne("transpose", {x}, [axes](const List &v) {
    int64_t rank = v[0].shape().rank();
    std::vector<int64_t> permutation(static_cast<size_t>(rank));
    for (int64_t i = 0; i < rank; ++i)
      permutation[static_cast<size_t>(i)] = rank - 1 - i;
    if (!axes.empty()) {
      if (static_cast<int64_t>(axes.size()) != rank)
        throw Error(ErrorKind::value_error,
                    fmt::format("transpose: {} axes for shape {}", axes.size(), v[0].shape().str()));
      normalizeAxes("transpose", axes, rank);
      for (int64_t i = 0; i < rank; ++i)
        permutation[static_cast<size_t>(i)] = normalizeAxis("transpose", axes[static_cast<size_t>(i)], rank);
    }
    return tracing().transpose(v[0], permutation);
  });
}
Value broadcast_to(const Value &x, const Shape &shape) {
  return applyOne("broadcast_to", {x}, [shape](const List &v) { return broadcastTo(v[0], shape); });
}
Value concatenate(const Values &xs, int64_t axis) {
  if (xs.size() == 0)
    throw Error(ErrorKind::value_error, "concatenate needs at least one input");
  if (std::any_of(xs.begin(), xs.end(), isSymbolic))
    return recordOperation("Concatenate", List(xs.begin(), xs.end()), configOf("axis", axis), OperandForm::list);
  return applyOne("concatenate", List(xs.begin(), xs.end()), [axis](const List &v) {
    DType dtype = v[0].dtype();
    for (const Value &x : v)
      dtype = x.dtype() == dtype ? dtype : result_type(dtype, x.dtype());
    const Shape first = v[0].shape();
    int64_t along = normalizeAxis("concatenate", axis, first.rank());
    List parts;
    for (const Value &x : v) {
      std::vector<int64_t> dims = x.shape().dims();
      if (x.rank() == first.rank())
        dims[static_cast<size_t>(along)] = first[along];
      if (Shape(dims) != first)
        throw Error(ErrorKind::value_error, fmt::format("concatenate along axis {} of shapes {} and {}, which differ "
                                                        "in more than that axis",
                                                        axis, first.str(), x.shape().str()));
      parts.push_back(asDtype(x, dtype));
    }
    return parts.size() == 1 ? parts[0] : tracing().concat(parts, along);
  });
}
Value take(const Value &x, const Value &indices, int64_t axis) {
  if (isSymbolic(x) || isSymbolic(indices))
    return recordOperation("Take", {x, indices}, configOf("axis", axis));
  return applyOne("take", {x, indices}, [axis](const List &v) {
    DType dtype = v[1].dtype();
    if (is_float(dtype) || dtype == DType::bool_)
      throw Error(ErrorKind::type_error, fmt::format("take needs integer indices, got {}", name(dtype)));
    int64_t along = normalizeAxis("take", axis, v[0].rank());
    if (v[0].shape()[along] == 0)
      throw Error(ErrorKind::value_error, fmt::format("take: axis {} of shape {} is empty", axis, v[0].shape().str()));
    bool isWide = itemsize(dtype) > 4 || dtype == DType::uint32;
    return tracing().gather(v[0], asDtype(v[1], isWide ? DType::int64 : DType::int32, "index"), along);
  });
}
Value expand_dims(const Value &x, int64_t axis) {
  if (isSymbolic(x))
    return recordOperation("ExpandDims", {x}, configOf("axis", axis));
  return applyOne("expand_dims", {x}, [axis](const List &v) {
    std::vector<int64_t> dims = v[0].shape().dims();
    dims.insert(dims.begin() + normalizeAxis("expand_dims", axis, static_cast<int64_t>(dims.size()) + 1), 1);
    return tracing().reshape(v[0], Shape(dims));
  });
}
Value squeeze(const Value &x, const Axes &axis) {
  if (isSymbolic(x))
    return recordOperation("Squeeze", {x}, axis.list().empty() ? Config() : configOf("axis", axis.list()));
  return applyOne("squeeze", {x}, [list = axis.list()](const List &v) {
    Shape shape = v[0].shape();
    std::vector<int64_t> axes = normalizeAxes("squeeze", list, shape.rank()), dims;
    for (int64_t i = 0; i < shape.rank(); ++i) {
      bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
      if (named && shape[i] != 1 && !list.empty())
        throw Error(ErrorKind::value_error,
                    fmt::format("squeeze: axis {} of shape {} does not have extent 1", i, shape.str()));
      if (!named || shape[i] != 1)
        dims.push_back(shape[i]);
    }
    return tracing().reshape(v[0], Shape(dims));
  });
}
Value size(const Value &x) {
  if (isSymbolic(x))
    return recordOperation("Size", {x});
  return applyOne("size", {x},
                  [](const List &v) { return tracing().splat(v[0].shape().elements(), Shape(), DType::int32); });
}
Value one_hot(const Value &x, int64_t num_classes, DType dtype) {
  return applyOne("one_hot", {x}, [num_classes, dtype](const List &v) {
    if (num_classes < 1)
      throw Error(ErrorKind::value_error, fmt::format("one_hot: num_classes must be positive, got {}", num_classes));
    if (is_float(v[0].dtype()) || v[0].dtype() == DType::bool_)
      throw Error(ErrorKind::type_error, fmt::format("one_hot needs integer indices, got {}", name(v[0].dtype())));
    std::vector<int64_t> dims = v[0].shape().dims();
    dims.push_back(num_classes);
    Value index = asDtype(v[0], DType::int32, "index");
    std::vector<int64_t> ones = v[0].shape().dims();
    ones.push_back(1);
    Value repeated = broadcastTo(tracing().reshape(index, Shape(ones)), Shape(dims));
    Value classes = tracing().iota(static_cast<int64_t>(dims.size()) - 1, Shape(dims), DType::int32);
    return asDtype(tracing().compare(ComparePredicate::eq, repeated, classes), dtype, "one_hot");
  });
}

} // namespace halftone::ops
