// keras.ops on Values: contractions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Contraction.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace halftone {

DType detail::promoted(const Value &a, const Value &b) {
  return a.dtype() == b.dtype() ? a.dtype() : result_type(a.dtype(), b.dtype());
}

Value detail::contractOne(const Value &a, const Value &b, const Trace::ContractAxes &axes) {
  if (is_float(a.dtype()))
    return tracing().contract(a, b, axes);
  const int64_t maxInt8Products = 131071; // a sum of this many int8 products always fits in int32
  int64_t products = 1;
  for (int64_t axis : axes.lhsContract)
    products = extentProduct(products, a.shape()[axis]);
  if (a.dtype() == DType::int8 && products <= maxInt8Products)
    return tracing().contract(a, b, axes);
  DType wide = itemsize(a.dtype()) == 8 ? DType::int64 : DType::int32;
  return tracing().contract(asDtype(a, wide), asDtype(b, wide), axes);
}

namespace ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

/// Contracts pairs of axes of `a` and `b`, in their promoted dtype.
Value contracted(const char *op, const Value &a, const Value &b, Trace::ContractAxes axes) {
  for (size_t i = 0; i < axes.lhsContract.size(); ++i)
    if (a.shape()[axes.lhsContract[i]] != b.shape()[axes.rhsContract[i]])
      throw Error(ErrorKind::value_error,
                  fmt::format("{} of {} and {}: axes {} and {} differ in extent", op, a.shape().str(), b.shape().str(),
                              axes.lhsContract[i], axes.rhsContract[i]));
  const DType dtype = promoted(a, b);
  return asDtype(contractOne(asDtype(a, dtype), asDtype(b, dtype), axes), dtype);
}

} // namespace

Value matmul(const Value &a, const Value &b) {
  return applyOne("matmul", {a, b}, [](const List &v) {
    DType dtype = promoted(v[0], v[1]);
    Value a = asDtype(v[0], dtype), b = asDtype(v[1], dtype);
    Shape sa = a.shape(), sb = b.shape();
    bool aRow = sa.rank() == 1 && sb.rank() > 2; // a vector times a batch of matrices: a row, removed again
    int64_t kb = sb.rank() == 1 ? 0 : sb.rank() - 2;
    if (sa.rank() < 1 || sb.rank() < 1 || sa[-1] != sb[kb])
      throw Error(ErrorKind::value_error, fmt::format("matmul of {} and {}", sa.str(), sb.str()));
    if (aRow)
      a = tracing().reshape(a, sa = Shape({1, sa[0]}));
    Trace::ContractAxes axes;
    axes.lhsContract = {sa.rank() - 1};
    axes.rhsContract = {kb};
    if (sb.rank() > 2) {
      // Batch axes broadcast: first the leading axes of both operands become equal.
      std::vector<int64_t> da = sa.dims(), db = sb.dims();
      Shape batch = broadcastShape("matmul", Shape({da.begin(), da.end() - 2}), Shape({db.begin(), db.end() - 2}));
      auto withBatch = [&](const std::vector<int64_t> &dims) {
        std::vector<int64_t> result = batch.dims();
        result.insert(result.end(), dims.end() - 2, dims.end());
        return Shape(result);
      };
      a = broadcastTo(a, withBatch(da));
      b = broadcastTo(b, withBatch(db));
      axes.lhsBatch.resize(static_cast<size_t>(batch.rank()));
      std::iota(axes.lhsBatch.begin(), axes.lhsBatch.end(), 0);
      axes.rhsBatch = axes.lhsBatch;
      axes.lhsContract = {batch.rank() + 1};
      axes.rhsContract = {batch.rank()};
    }
    Value y = contractOne(a, b, axes);
    bool bothInt8 = v[0].dtype() == DType::int8 && v[1].dtype() == DType::int8;
    if (!is_float(dtype))
      y = asDtype(y, bothInt8 ? DType::int32 : dtype);
    if (!aRow)
      return y;
    std::vector<int64_t> dims = y.shape().dims();
    dims.erase(dims.end() - 2);
    return tracing().reshape(y, Shape(dims));
  });
}
Value dot(const Value &a, const Value &b) {
  return applyOne("dot", {a, b}, [](const List &v) {
    if (v[0].rank() == 0 || v[1].rank() == 0)
      return v[0] * v[1];
    const int64_t right = v[1].rank() == 1 ? 0 : v[1].rank() - 2;
    return contracted("dot", v[0], v[1], {{}, {}, {v[0].rank() - 1}, {right}});
  });
}
Value tensordot(const Value &a, const Value &b, int64_t axes) {
  return applyOne("tensordot", {a, b}, [axes](const List &v) {
    if (axes < 0 || axes > std::min(v[0].rank(), v[1].rank()))
      throw Error(ErrorKind::value_error,
                  fmt::format("tensordot of {} and {} over {} axes", v[0].shape().str(), v[1].shape().str(), axes));
    Trace::ContractAxes contract;
    for (int64_t i = 0; i < axes; ++i) {
      contract.lhsContract.push_back(v[0].rank() - axes + i);
      contract.rhsContract.push_back(i);
    }
    return contracted("tensordot", v[0], v[1], contract);
  });
}
Value tensordot(const Value &a, const Value &b, const Axes &a_axes, const Axes &b_axes) {
  return applyOne("tensordot", {a, b}, [a_axes, b_axes](const List &v) {
    if (a_axes.list().size() != b_axes.list().size())
      throw Error(ErrorKind::value_error,
                  fmt::format("tensordot: {} axes of one operand and {} of the other; expected pairs",
                              a_axes.list().size(), b_axes.list().size()));
    const auto fromFront = [](const Axes &axes, const Value &x) {
      normalizeAxes("tensordot", axes.list(), x.rank()); // refuses an axis that is given twice
      std::vector<int64_t> found;
      for (int64_t axis : axes.list())
        found.push_back(normalizeAxis("tensordot", axis, x.rank()));
      return found;
    };
    return contracted("tensordot", v[0], v[1], {{}, {}, fromFront(a_axes, v[0]), fromFront(b_axes, v[1])});
  });
}
Value outer(const Value &a, const Value &b) { return reshape(a, {none, 1}) * reshape(b, {1, none}); }

} // namespace ops
} // namespace halftone
