// Interprets programs on the runtime's tensors.
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

/// Values of variables by symbol.
using VariableTensors = std::map<std::string, Tensor>;

dialect::TensorData toData(mlir::MLIRContext *context, const Tensor &tensor);
/// The tensor of `data`, which must have no intervals.
StatusOr<Tensor> toTensor(const dialect::TensorData &data);

/// The module that the interpreter runs: `module` itself, or, if it asks for gradients, a copy in stage pure.
StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> interpretableModule(mlir::ModuleOp module, compiler::Stage stage);

/// dialect::interpret on a module in `stage`. `variables` gets the new values.
StatusOr<std::vector<Tensor>> interpretModule(mlir::ModuleOp module, compiler::Stage stage,
                                              std::span<const Tensor> feeds, VariableTensors &variables);

} // namespace halftone::tools
