// The signature of a compiled function: names, dtypes and static shapes of its feeds and fetches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"
#include "halftone/Shape.h"
#include "runtime/base/Status.h"
#include <string>
#include <vector>

namespace halftone {

struct TensorType {
  DType dtype = DType::float32;
  std::vector<int64_t> shape;
  int64_t elements() const;
  int64_t bytes() const;
  std::string str() const; // "128x784xf32", "f32" for a scalar, as in MLIR and in the tools' input specs
  friend bool operator==(const TensorType &, const TensorType &) = default;
};

/// value_error for a type that cannot be allocated: a negative extent, a dtype without a byte size, or more than 2^56
/// bytes. The limit keeps sums of a plan's sizes from overflowing. Call elements() and bytes() only on types that pass.
Status verify(const TensorType &type);
/// Returns the shapes as text, such as "(512, 256), (512, 3)".
std::string shapesText(const std::vector<TensorType> &types);

struct Parameter {
  std::string name;
  TensorType type;
  friend bool operator==(const Parameter &, const Parameter &) = default;
};

struct Signature {
  std::vector<Parameter> feeds, fetches;
};

} // namespace halftone
