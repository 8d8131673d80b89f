// Converts between tensors and the interpreter's values.
// SPDX-License-Identifier: Apache-2.0
#include "Interpretation.h"
#include "dialect/TypeInference.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include <cstring>

using namespace mlir;

namespace halftone::tools {

dialect::TensorData toData(MLIRContext *context, const Tensor &tensor) {
  auto type = RankedTensorType::get(tensor.shape().dims(), dialect::elementType(context, tensor.dtype()));
  return dialect::TensorData::fromBytes(type, TensorAccess::data(TensorAccess::onHost(tensor)));
}

StatusOr<Tensor> toTensor(const dialect::TensorData &data) {
  std::optional<TensorType> type = tensorTypeOf(data.type);
  if (!type)
    return Status(ErrorKind::internal_error, "the interpreter returned a value that no tensor can hold");
  StatusOr<Tensor> tensor = makeTensor(*type);
  if (tensor.isOk()) {
    std::string bytes = data.toBytes();
    std::memcpy(TensorAccess::mutableData(*tensor), bytes.data(), bytes.size());
  }
  return tensor;
}

StatusOr<OwningOpRef<ModuleOp>> interpretableModule(ModuleOp module, compiler::Stage stage) {
  OwningOpRef<ModuleOp> copy(module.clone());
  bool differentiates = module.walk([](dialect::GradientOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (differentiates)
    HALFTONE_RETURN_IF_ERROR(compiler::runStages(*copy, stage, compiler::Stage::pure, {}));
  return copy;
}

StatusOr<std::vector<Tensor>> interpretModule(ModuleOp module, compiler::Stage stage, std::span<const Tensor> feeds,
                                              VariableTensors &variables) {
  StatusOr<OwningOpRef<ModuleOp>> interpretable = interpretableModule(module, stage);
  HALFTONE_RETURN_IF_ERROR(interpretable.status());
  std::vector<dialect::TensorData> operands;
  for (const Tensor &feed : feeds)
    operands.push_back(toData(module.getContext(), feed));
  dialect::VariableValues values;
  for (const auto &[symbol, tensor] : variables)
    values[symbol] = toData(module.getContext(), tensor);
  StatusOr<std::vector<dialect::TensorData>> fetched = dialect::interpret(**interpretable, operands, values);
  HALFTONE_RETURN_IF_ERROR(fetched.status());
  std::vector<Tensor> fetches;
  for (const dialect::TensorData &data : *fetched) {
    StatusOr<Tensor> tensor = toTensor(data);
    HALFTONE_RETURN_IF_ERROR(tensor.status());
    fetches.push_back(*std::move(tensor));
  }
  for (const auto &[symbol, data] : values) {
    StatusOr<Tensor> tensor = toTensor(data);
    HALFTONE_RETURN_IF_ERROR(tensor.status());
    variables[symbol] = *std::move(tensor);
  }
  return fetches;
}

} // namespace halftone::tools
