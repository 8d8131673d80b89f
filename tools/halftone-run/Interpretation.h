// Interprets programs on tensors of the runtime.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ModuleFile.h"
#include "dialect/Interpreter.h"
#include "halftone/Tensor.h"
#include <map>
#include <span>
#include <string>
#include <vector>

namespace halftone::tools {

/// Values of variables, keyed by symbol.
using VariableTensors = std::map<std::string, Tensor>;

dialect::TensorData toData(mlir::MLIRContext *context, const Tensor &tensor);
/// Converts `data`, which must have no intervals, to a tensor.
StatusOr<Tensor> toTensor(const dialect::TensorData &data);

/// The module to interpret: `module` itself, or a copy in stage pure if it has gradient ops.
StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> interpretableModule(mlir::ModuleOp module, compiler::Stage stage);

/// Runs dialect::interpret on a module in `stage`. `variables` receives the new values.
StatusOr<std::vector<Tensor>> interpretModule(mlir::ModuleOp module, compiler::Stage stage,
                                              std::span<const Tensor> feeds, VariableTensors &variables);

} // namespace halftone::tools
