// Shared code of cells: dropout masks, gate products, calls.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Cells.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/RandomNumbers.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace halftone::detail {

Shape CellBody::output_shape() const { return state_sizes().at(0); }
Values CellBody::initial_states(int64_t batch, DType compute) const {
  std::vector<Value> zeros;
  for (const Shape &state : state_sizes()) {
    std::vector<int64_t> dims{batch};
    dims.insert(dims.end(), state.begin(), state.end());
    zeros.push_back(tracing().splat(0.0, Shape(dims), compute));
  }
  return zeros;
}

CellBody &cellOf(const Layer &layer) {
  auto *cell = dynamic_cast<CellBody *>(layer.impl()->body.get());
  if (!cell)
    throw Error(ErrorKind::value_error,
                fmt::format("state_size must be specified as property on the RNN cell: '{}' of class {} is not a cell",
                            layer.name(), layer.class_name()),
                layer.name(), layer.impl()->where);
  return *cell;
}

CellMasks masksOf(const Layer &cell, const Shape &slice, const CallContext &context) {
  const auto *masked = dynamic_cast<const MaskedCell *>(cell.impl()->body.get());
  return masked ? masked->drawMasks(slice, CallContext(*cell.impl(), context.training())) : CellMasks();
}

std::vector<Value> callCell(const Layer &cell, const Value &x, const std::vector<Value> &states,
                            const CellMasks &masks) {
  std::vector<Value> inputs{x};
  inputs.insert(inputs.end(), states.begin(), states.end());
  const auto how = [&masks](LayerBody &body, const Values &now, const CallContext &context) {
    auto *masked = dynamic_cast<MaskedCell *>(&body);
    const Values given(std::vector<Value>(now.begin() + 1, now.end()));
    return masked ? masked->advance(now[0], given, masks, context) : body.call(now, context);
  };
  std::vector<Value> outputs = cell.impl()->call(inputs, {}, how);
  if (outputs.size() != inputs.size())
    throw Error(ErrorKind::value_error,
                fmt::format("The cell '{}' returned {} Values; expected the output and {} states", cell.name(),
                            outputs.size(), states.size()),
                cell.path(), cell.impl()->where);
  return outputs;
}

Values statesOf(const CellBody &cell, const Values &inputs) {
  const size_t count = cell.state_sizes().size();
  if (inputs.size() != count + 1)
    throw Error(ErrorKind::value_error, fmt::format("A cell of {} {} takes {} inputs, x and each state. Received: {}",
                                                    count, count == 1 ? "state" : "states", count + 1, inputs.size()));
  return Values(std::vector<Value>(inputs.begin() + 1, inputs.end()));
}

Shape sliceShape(const Shape &sequence) {
  std::vector<int64_t> dims = sequence.dims();
  dims.erase(dims.begin() + 1);
  return Shape(dims);
}

double clippedRate(double rate) { return std::min(1.0, std::max(0.0, rate)); }

std::vector<Value> drawnMasks(const Variable &state, double rate, int64_t count, const Shape &shape, DType dtype) {
  std::vector<Value> masks;
  for (int64_t i = 0; rate > 0.0 && i < count; ++i)
    masks.push_back(dropped(tracing().splat(1.0, shape, dtype), rate, shape, nextKey(state)));
  return masks;
}

std::vector<Value> gateProducts(const Value &x, const std::vector<Value> &masks, const Value &kernel, int64_t gates,
                                const std::function<Value(const Value &, const Value &)> &product, int64_t axis) {
  if (std::ssize(masks) <= 1) // one product for all gates
    return ops::split(product(masks.empty() ? x : x * masks[0], kernel), gates, axis);
  const std::vector<Value> parts = ops::split(kernel, gates, -1);
  std::vector<Value> products;
  for (size_t gate = 0; gate < parts.size(); ++gate)
    products.push_back(product(x * masks[gate], parts[gate]));
  return products;
}

Initializer withForgetOnes(const Initializer &initializer, int64_t units) {
  return Initializer([initializer, units](const Shape &, DType dtype, int64_t seed) {
    const Tensor input = initializer(Shape{units}, dtype, seed),
                 others = initializer(Shape{2 * units}, dtype, seed + 1);
    Tensor whole = Tensor::ones({4 * units}, dtype);
    const auto bytes = static_cast<size_t>(units * itemsize(dtype));
    std::byte *data = TensorAccess::mutableData(whole);
    std::memcpy(data, TensorAccess::data(input), bytes);
    std::memcpy(data + 2 * bytes, TensorAccess::data(others), 2 * bytes);
    return whole;
  });
}

} // namespace halftone::detail
