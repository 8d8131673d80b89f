// The table of operations that files can hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Graph.h"
#include "frontend/ops/OperationArguments.h"
#include <span>

namespace halftone::detail {

struct Operation {
  const char *call;               // the name of its calls here; "" if those are made of other operations
  const char *className, *module; // Keras's
  Values (*make)(OperationArguments &);
  /// The spec of the result on symbolic Values, if it is more than what two extents in place of None show: a slice of an axis
  /// of None has the extent None, though the first 5 places of both extents are 5.
  ValueSpec (*spec)(OperationArguments &) = nullptr;
};

// OperationWindows.cpp
Values convOperation(OperationArguments &);
Values depthwiseConvOperation(OperationArguments &);
Values separableConvOperation(OperationArguments &);
Values convTransposeOperation(OperationArguments &);
Values maxPoolOperation(OperationArguments &);
Values averagePoolOperation(OperationArguments &);
Values padOperation(OperationArguments &);
// OperationNorms.cpp
Values normalizeOperation(OperationArguments &);
Values momentsOperation(OperationArguments &);
Values batchNormOperation(OperationArguments &);
Values rmsNormOperation(OperationArguments &);
Values layerNormOperation(OperationArguments &);
Values attentionOperation(OperationArguments &);

/// "Relu" of "keras.src.ops.nn" and the others.
std::span<const Operation> operationRows();

} // namespace halftone::detail
