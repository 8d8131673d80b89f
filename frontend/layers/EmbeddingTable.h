// The table of an embedding: rows of floats, or of integers with scales; lookup, reverse product, and LoRA.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/Lora.h"
#include "frontend/layers/QuantizedWeights.h"
#include "halftone/Ops.h"

namespace halftone::detail {

/// A matrix with one row per index, as stored in variables.
struct TableWeights {
  Variable values{}, scale{},
      zero{};                // (indices, width), two elements per byte under int4; (indices) or (indices, groups)
  bool isTransposed = false; // all three are transposed
};

class EmbeddingTable {
public:
  /// `back`: the arguments of a separate weight (width, indices) for the reverse product.
  void build(BuildContext &context, const WeightArgs &rows, const std::optional<WeightArgs> &back,
             const QuantizationConfig &config);
  void quantize(BuildContext &context, const QuantizationConfig &config);
  /// Looks up the row of each index, in `compute`.
  Value rows(const Value &indices, DType compute) const;
  /// Multiplies x (..., width) by the transposed table: (..., indices). `product` is the dtype in which floats are
  /// multiplied; without it, their own dtype.
  Value back(const Value &x, DType compute, std::optional<DType> product) const;
  /// Merges LoRA's delta into the values of the table and its scales.
  void merge(WeightValues &values) const;
  LowRankDelta &delta() { return delta_; }
  const LowRankDelta &delta() const { return delta_; }
  const Variable &values() const { return table_.values; }
  const Shape &shape() const { return shape_; }

private:
  TableWeights buildQuantized(BuildContext &context, const std::string &name, bool isTransposed) const;
  TableWeights quantized(BuildContext &context, const TableWeights &floats) const;
  void addScales(BuildContext &context, TableWeights &weights, const QuantizedWeights &given) const;
  QuantizedWeights integersOf(const Tensor &floats, bool isTransposed) const;
  Value integers(const TableWeights &weights, const Value &values) const;
  Value floatsOf(const TableWeights &weights, const Value &integers, const Value &scale, DType compute) const;
  Value integerBack(const Value &x) const;
  bool isGrouped() const { return config_.mode == "int4" && config_.block_size > 0; }
  Shape scaleShape(bool isTransposed) const;

  Shape shape_; // (indices, width)
  QuantizationConfig config_;
  TableWeights table_, back_; // without values in back_, the reverse product shares the table
  Variable groups_;
  LowRankDelta delta_; // of the table
};

} // namespace halftone::detail
