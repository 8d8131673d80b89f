// The table of operations that files can hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/ops/OperationArguments.h"
#include <span>

namespace halftone::detail {

struct Operation {
  const char *call;               // the name of its calls here; "" if those are made of other operations
  const char *className, *module; // Keras's
  Values (*make)(OperationArguments &);
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
