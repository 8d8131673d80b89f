// Gathers, updates and counts in files, with their recorded arguments.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/OperationRows.h"
#include "halftone/Error.h"
#include <fmt/format.h>

namespace halftone::detail {

using Arguments = OperationArguments;

Values takeAlongAxisOperation(Arguments &a) {
  const Value x = a.value("x"), indices = a.value("indices");
  return ops::take_along_axis(x, indices, a.maybeInteger("axis"));
}
Values sliceOperation(Arguments &a) {
  const Value inputs = a.value("inputs");
  const Starts starts = a.starts("start_indices");
  return ops::slice(inputs, starts, Shape(a.integers("shape")));
}
Values sliceUpdateOperation(Arguments &a) {
  const Value inputs = a.value("inputs");
  const Starts starts = a.starts("start_indices");
  return ops::slice_update(inputs, starts, a.value("updates"));
}
Values scatterOperation(Arguments &a) {
  const Value indices = a.value("indices"), values = a.value("values");
  return ops::scatter(indices, values, Shape(a.integers("shape")));
}
ValueSpec scatterSpec(Arguments &a) {
  a.value("indices");
  const Value values = a.value("values");
  return {Shape(a.integers("shape")), values.dtype()};
}
ValueSpec scatterUpdateSpec(Arguments &a) {
  const Value inputs = a.value("inputs");
  return {inputs.shape(), inputs.dtype()};
}
ValueSpec segmentSpec(Arguments &a) {
  const Value data = a.value("data");
  std::vector<int64_t> dims = data.shape().dims();
  if (!dims.empty())
    dims[0] = a.integer("num_segments");
  return {Shape(std::move(dims)), data.dtype()};
}
Values scatterUpdateOperation(Arguments &a) {
  const Value inputs = a.value("inputs"), indices = a.value("indices"), updates = a.value("updates");
  if (a.isNull("reduction"))
    return ops::scatter_update(inputs, indices, updates);
  return ops::scatter_update(inputs, indices, updates, choice<ScatterReduction>(a.text("reduction")));
}
Values searchSortedOperation(Arguments &a) {
  const Value sequence = a.value("sorted_sequence"), values = a.value("values");
  return ops::searchsorted(sequence, values, wordOf<Side>(a, "side"));
}
Values bincountOperation(Arguments &a) {
  const Value x = a.value("x");
  if (a.flag("sparse"))
    throw Error(ErrorKind::not_implemented_error, "the operation Bincount returns a sparse tensor");
  return ops::bincount(x, a.integer("minlength", 0));
}
Values diagonalOperation(Arguments &a) {
  const Value x = a.value("x");
  const int64_t offset = a.integer("offset", 0), axis1 = a.integer("axis1", 0);
  return ops::diagonal(x, offset, axis1, a.integer("axis2", 1));
}
Values meshgridOperation(Arguments &a) {
  const std::vector<Value> xs = a.rest();
  return ops::meshgrid(Values(xs), wordOf<GridIndexing>(a, "indexing"));
}

} // namespace halftone::detail
