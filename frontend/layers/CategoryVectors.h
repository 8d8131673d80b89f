// Encoding of categories as vectors, in the graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "halftone/Choice.h"

namespace halftone::detail {

struct VectorKind {
  OutputMode mode = OutputMode::multi_hot; // not tf_idf
  int64_t depth = 0;
  DType dtype = DType::float32;
};
/// Encodes traced integers, as keras.src.utils.numerical_utils.encode_categorical_inputs: one_hot appends an axis, or
/// replaces a last axis of extent 1; multi_hot and count reduce axis 1, or the only axis. Integers outside of [0,
/// depth) are ignored. `weights` are the weights of the integers, for "count"; undefined for none.
Value categoryVectors(const Value &integers, const VectorKind &kind, const Value &weights = {});

} // namespace halftone::detail
