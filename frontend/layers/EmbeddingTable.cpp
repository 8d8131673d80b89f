// Builds and quantizes embedding tables, and applies them in both directions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/EmbeddingTable.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/ProductKernel.h"
#include "frontend/layers/QuantizedOps.h"
#include <algorithm>

namespace halftone::detail {

namespace {

Value transposedIf(const Value &x, bool isTransposed) { return isTransposed ? ops::transpose(x) : x; }
Shape transposedIf(const Shape &shape, bool isTransposed) {
  return isTransposed && shape.rank() == 2 ? Shape{shape[1], shape[0]} : shape;
}

} // namespace

void EmbeddingTable::build(BuildContext &context, const WeightArgs &rows, const std::optional<WeightArgs> &back,
                           const QuantizationConfig &config) {
  shape_ = rows.shape;
  config_ = config;
  const bool isQuantized = config.defined();
  table_ = isQuantized ? buildQuantized(context, rows.name, false) : TableWeights{.values = context.add_weight(rows)};
  if (isGrouped())
    groups_ = fixedWeight(context, "g_idx", groupNumbers(shape_[1], config.block_size));
  if (back)
    back_ = isQuantized ? buildQuantized(context, back->name, true)
                        : TableWeights{.values = context.add_weight(*back), .isTransposed = true};
}

Shape EmbeddingTable::scaleShape(bool isTransposed) const {
  if (!isGrouped())
    return {shape_[0]};
  return transposedIf(Shape{shape_[0], (shape_[1] + config_.block_size - 1) / config_.block_size}, isTransposed);
}

TableWeights EmbeddingTable::buildQuantized(BuildContext &context, const std::string &name, bool isTransposed) const {
  const Shape stored{shape_[0], config_.mode == "int4" ? (shape_[1] + 1) / 2 : shape_[1]},
      scale = scaleShape(isTransposed);
  TableWeights made{.values =
                        fixedWeight(context, name, Tensor::zeros(transposedIf(stored, isTransposed), DType::int8)),
                    .isTransposed = isTransposed};
  addScales(context, made,
            {.values = {},
             .scale = Tensor::ones(scale, context.variable_dtype()),
             .zero = isGrouped() ? Tensor::zeros(scale, DType::int8) : Tensor()});
  return made;
}

void EmbeddingTable::addScales(BuildContext &context, TableWeights &weights, const QuantizedWeights &given) const {
  const std::string name = weights.values.name();
  weights.scale = fixedWeight(context, name + "_scale", given.scale.astype(context.variable_dtype()));
  if (given.zero.defined()) // Keras stores the zero points of the reverse product as floats
    weights.zero = fixedWeight(context, name + "_zero",
                               weights.isTransposed ? given.zero.astype(context.variable_dtype()) : given.zero);
}

void EmbeddingTable::quantize(BuildContext &context, const QuantizationConfig &config) {
  EmbeddingTable made = *this;
  made.config_ = config;
  made.table_ = made.quantized(context, table_);
  if (made.isGrouped())
    made.groups_ = fixedWeight(context, "g_idx", groupNumbers(shape_[1], config.block_size));
  if (back_.values.defined()) {
    std::vector<Variable> &weights = context.layer().weights; // Keras's order: the reverse weight comes last
    std::erase_if(weights, [&](const Variable &each) { return each.impl() == back_.values.impl(); });
    weights.push_back(back_.values);
    made.back_ = made.quantized(context, back_);
  }
  *this = made;
}

TableWeights EmbeddingTable::quantized(BuildContext &context, const TableWeights &floats) const {
  const QuantizedWeights weights = integersOf(floats.values.value(), floats.isTransposed);
  TableWeights made{.values = replacedWeight(context, floats.values, weights.values),
                    .isTransposed = floats.isTransposed};
  addScales(context, made, weights);
  return made;
}

/// Quantizes a float table to the integers and scales that the variables hold.
QuantizedWeights EmbeddingTable::integersOf(const Tensor &floats, bool isTransposed) const {
  MatrixView view = isTransposed ? MatrixView::of(floats.shape(), {0}, {1}) : MatrixView::of(floats.shape(), {1}, {0});
  view.hasGroupsLast = !isTransposed;
  const bool isInt8 = config_.mode == "int8";
  QuantizedWeights weights = isGrouped() ? groupQuantized(floats, view, config_.block_size)
                                         : absMaxQuantized(floats, view, isInt8 ? -127 : -8, isInt8 ? 127 : 7);
  if (!isInt8)
    weights.values =
        isTransposed ? transposedInt8(packedInt4(transposedInt8(weights.values))) : packedInt4(weights.values);
  return weights;
}

Value EmbeddingTable::rows(const Value &indices, DType compute) const {
  Value rows = ops::take(table_.values, indices);
  if (config_.defined()) {
    if (config_.mode == "int4")
      rows = ops::take(unpackedInt4(table_.values, shape_[1]), indices);
    const Value scale = ops::take(table_.scale, indices);
    rows = isGrouped() ? dequantizedGroups(rows, scale, ops::take(table_.zero, indices), groups_, -1)
                       : asDtype(rows, compute) / ops::expand_dims(scale, -1);
  }
  if (delta_.isOn())
    rows = rows + delta_.fromA(ops::take(delta_.a(), indices));
  return asDtype(rows, compute, "embedding");
}

/// Integers (indices, width).
Value EmbeddingTable::integers(const TableWeights &weights, const Value &values) const {
  const Value rows = transposedIf(values, weights.isTransposed);
  return config_.mode == "int4" ? unpackedInt4(rows, shape_[1]) : rows;
}

/// The dequantized floats (indices, width).
Value EmbeddingTable::floatsOf(const TableWeights &weights, const Value &integers, const Value &scale,
                               DType compute) const {
  if (!isGrouped())
    return asDtype(integers, compute) / ops::expand_dims(scale, -1);
  return dequantizedGroups(integers, transposedIf(scale, weights.isTransposed),
                           transposedIf(weights.zero, weights.isTransposed), groups_, -1);
}

Value EmbeddingTable::integerBack(const Value &x) const {
  const TableWeights &weights = back_.values.defined() ? back_ : table_;
  return ops::custom_gradient([self = *this, weights, compute = x.dtype()](const Values &v) -> ops::WithGradient {
    const Value rows = self.integers(weights, v[1]), scale = v[2];
    Value factor = v[0], divisor;
    if (self.config_.quantizes_activations) {
      const QuantizedValue quantized = absMaxQuantized(factor, {factor.rank() - 1});
      factor = quantized.values;
      divisor = quantized.scale;
    }
    const bool sumsFloats = self.isGrouped();
    if (!sumsFloats)
      divisor = divisor.defined() ? divisor * scale : scale;
    const Value sums =
        ops::matmul(factor, ops::transpose(sumsFloats ? self.floatsOf(weights, rows, scale, compute) : rows));
    const Value floats = sumsFloats ? sums : asDtype(sums, compute);
    return {divisor.defined() ? floats / divisor : floats, [self, weights, v, compute](const Value &upstream) {
              const Value table = self.floatsOf(weights, self.integers(weights, v[1]), v[2], compute);
              return Values{asDtype(ops::matmul(upstream, table), v[0].dtype()), v[1], ops::zeros_like(v[2])};
            }};
  })({x, weights.values, weights.scale});
}

Value EmbeddingTable::back(const Value &x, DType compute, std::optional<DType> product) const {
  if (config_.defined()) {
    const bool isAdapted = delta_.isOn() && !back_.values.defined();
    const Value scale = (back_.values.defined() ? back_ : table_).scale;
    const DType result = product ? *product : productDtype(x.dtype(), isAdapted ? compute : scale.dtype());
    const Value input = asDtype(x, result, "layer input"), logits = integerBack(input);
    if (!isAdapted)
      return asDtype(logits, result);
    const Value atRank = ops::matmul(input, ops::transpose(delta_.b()));
    return asDtype(logits + delta_.scaled(ops::matmul(atRank, ops::transpose(delta_.a()))), result);
  }
  Value matrix = back_.values.defined() ? Value(back_.values) : ops::transpose(table_.values);
  if (delta_.isOn() && !back_.values.defined())
    matrix = ops::transpose(asDtype(Value(table_.values) + delta_.value(), compute));
  return product ? ops::matmul(asDtype(x, *product), asDtype(matrix, *product)) : ops::matmul(x, matrix);
}

void EmbeddingTable::merge(WeightValues &values) const {
  const auto valueOf = [&](const Variable &variable) -> Tensor & { return values.at(variable.impl().get()); };
  const auto put = [&](const Variable &variable, const Tensor &value) {
    valueOf(variable) = value.astype(variable.dtype());
  };
  if (!config_.defined())
    return put(table_.values, delta_.addedTo(valueOf(table_.values), values));
  MatrixView view = MatrixView::of(shape_, {1}, {0});
  view.hasGroupsLast = true;
  QuantizedWeights weights{.values = valueOf(table_.values), .scale = valueOf(table_.scale)};
  if (config_.mode == "int4")
    weights.values = unpackedInt4(weights.values, shape_[1]);
  if (isGrouped())
    weights.zero = valueOf(table_.zero);
  weights = integersOf(delta_.addedTo(dequantized(weights, view, config_.block_size), values), false);
  put(table_.values, weights.values);
  put(table_.scale, weights.scale);
  if (isGrouped())
    put(table_.zero, weights.zero);
}

} // namespace halftone::detail
