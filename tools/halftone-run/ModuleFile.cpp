// Parses modules and reads the feeds and fetches of @main.
// SPDX-License-Identifier: Apache-2.0
#include "ModuleFile.h"
#include "compiler/passes/Passes.h"
#include "compiler/reports/Diagnostics.h"
#include "compiler/reports/LayerPath.h"
#include "dialect/TypeInference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tools/shell/ModuleFileText.h"
#include "tools/shell/ModuleText.h"
#include <fmt/format.h>

using namespace mlir;

namespace halftone::tools {
namespace {

std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

std::string parameterName(DictionaryAttr attributes, StringRef kind, size_t index) {
  auto name = attributes ? attributes.getAs<StringAttr>(dialect::nameAttr) : StringAttr();
  return name ? name.str() : fmt::format("{}{}", kind.str(), index);
}

Status readParameters(ArrayRef<Type> types, llvm::function_ref<DictionaryAttr(unsigned)> attributesOf, StringRef kind,
                      std::vector<Parameter> &parameters) {
  for (auto [index, type] : llvm::enumerate(types)) {
    DictionaryAttr attributes = attributesOf(index);
    if (attributes && (attributes.contains(dialect::variableAttr) || attributes.contains(dialect::shadowAttr)))
      continue;
    std::string name = parameterName(attributes, kind, index);
    std::optional<TensorType> tensor = tensorTypeOf(type);
    if (!tensor)
      return {ErrorKind::value_error,
              fmt::format("@main: {} '{}' is {}; expected a tensor with a static shape", kind.str(), name, text(type))};
    if (Status status = halftone::verify(*tensor); !status)
      return {ErrorKind::value_error, fmt::format("@main: {} '{}': {}", kind.str(), name, status.message())};
    parameters.push_back({std::move(name), *std::move(tensor)});
  }
  return {};
}

Status readSignature(ModuleFile &file) {
  auto main = file.module->lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return {ErrorKind::value_error,
            "the module has no function @main; expected a module in a stage from graph to kernel"};
  HALFTONE_RETURN_IF_ERROR(readParameters(
      main.getArgumentTypes(), [&](unsigned i) { return main.getArgAttrDict(i); }, "feed", file.signature.feeds));
  HALFTONE_RETURN_IF_ERROR(readParameters(
      main.getResultTypes(), [&](unsigned i) { return main.getResultAttrDict(i); }, "fetch", file.signature.fetches));
  for (auto variable : file.module->getOps<dialect::VariableOp>()) {
    std::optional<TensorType> type = tensorTypeOf(variable.getType());
    if (!type)
      return {ErrorKind::value_error, fmt::format("variable @{} is not a tensor", variable.getSymName().str())};
    if (Status status = halftone::verify(*type); !status)
      return {ErrorKind::value_error, fmt::format("variable @{}: {}", variable.getSymName().str(), status.message())};
    std::string path = variable.getPath().empty() ? variable.getSymName().str() : variable.getPath().str();
    file.variables.push_back({variable.getSymName().str(), std::move(path), *std::move(type), variable.getRole()});
  }
  return {};
}

} // namespace

std::optional<TensorType> tensorTypeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<DType> dtype =
      tensor && tensor.hasStaticShape() ? dialect::dtypeOf(tensor.getElementType()) : std::nullopt;
  if (!dtype)
    return std::nullopt;
  return TensorType{*dtype, tensor.getShape().vec()};
}

compiler::Stage stageOf(ModuleOp module) {
  bool kernels = false, state = false, tied = false, layers = false;
  module.walk([&](Operation *op) {
    kernels |= isa<dialect::KernelOp, dialect::LaunchOp>(op);
    state |= isa<dialect::ReadOp, dialect::AssignOp, dialect::GradientOp>(op);
    layers |= isa<dialect::LayerOp>(op);
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        tied |= function.getArgAttr(i, dialect::variableAttr) != Attribute();
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        tied |= function.getResultAttr(i, dialect::variableAttr) != Attribute();
    }
  });
  if (kernels)
    return compiler::Stage::kernel;
  if (tied)
    return compiler::Stage::pure;
  if (layers || !module->hasAttr(compiler::layersAttr))
    return compiler::Stage::graph;
  return state ? compiler::Stage::cast : compiler::Stage::pure;
}

/// Parses text that checkModuleText() accepts.
static StatusOr<ModuleFile> parseChecked(const std::string &text, const std::string &name) {
  ModuleFile file;
  DialectRegistry registry;
  compiler::registerStageDialects(registry);
  file.context = std::make_unique<MLIRContext>(registry);
  file.context->loadAllAvailableDialects();
  file.context->printOpOnDiagnostic(false);
  {
    compiler::DiagnosticCollector collector(file.context.get());
    file.module = parseSourceString<ModuleOp>(text, ParserConfig(file.context.get()), name);
    if (!file.module)
      return collector.toStatus("this is not an MLIR module", ErrorKind::value_error);
  }
  file.stage = stageOf(*file.module);
  HALFTONE_RETURN_IF_ERROR(readSignature(file));
  return file;
}

StatusOr<ModuleFile> parseModule(const std::string &text, const std::string &name) {
  HALFTONE_RETURN_IF_ERROR(checkModuleText(text, name));
  return parseChecked(text, name);
}

StatusOr<ModuleFile> loadModule(const std::string &path) {
  const StatusOr<std::string> text = loadModuleText(path);
  HALFTONE_RETURN_IF_ERROR(text.status());
  return parseChecked(*text, path);
}

} // namespace halftone::tools
