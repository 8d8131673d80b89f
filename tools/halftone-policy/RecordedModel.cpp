// Reads the layers of archives and modules.
// SPDX-License-Identifier: Apache-2.0
#include "RecordedModel.h"
#include "compiler/reports/LayerPath.h"
#include "dialect/TypeInference.h"
#include "frontend/io/KerasArchive.h"
#include "frontend/io/LayerRecords.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/policy/LegacyPolicy.h"
#include "tools/halftone-run/ModuleFile.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::tools {
namespace {

using dialect::LayerOp;
using dialect::VariableOp;

void noteKeys(const DTypePolicyMap &map, std::vector<std::string> &keys) {
  for (const auto &item : map.items())
    if (std::ranges::find(keys, item.first) == keys.end())
      keys.push_back(item.first);
}

detail::LayerMode modeOf(const std::string &path, const std::string &className, const DTypePolicy &policy,
                         bool hasLora) {
  std::string mode = policy.quantization_mode().value_or("");
  if (mode == "gptq" || mode == "awq")
    mode.clear();
  return {path.substr(path.rfind('/') + 1), className, mode, hasLora};
}

RecordedLayer layerOf(const detail::LayerRecord &record, std::vector<std::string> &mapKeys) {
  DTypePolicy policy = record.policy.value_or(dtype_policy());
  std::optional<std::string> key;
  if (const std::optional<DTypePolicyMap> map = policy.as_map())
    try {
      noteKeys(*map, mapKeys);
      key = map->matching_key(record.path);
      policy = (*map)[record.path];
    } catch (const Error &error) {
      throw Error(error.kind(), error.message(), record.path);
    }
  return {record.path,
          record.className,
          policy,
          key,
          policy.variable_dtype(),
          record.isOutput,
          record.className == "Softmax" || record.activation == "softmax",
          modeOf(record.path, record.className, policy, record.hasLora)};
}

RecordedModel readArchive(const std::string &path) {
  const detail::KerasArchive archive(path);
  const Config config = archive.json("config.json");
  RecordedModel model;
  try {
    const detail::ModelRecord record = detail::modelRecord(config);
    model.description = fmt::format("{} '{}'", record.className, record.name);
    model.policyIsRecorded = record.policy.has_value();
    model.policy = record.policy.value_or(dtype_policy());
    model.scaler = record.scaler;
    for (const detail::LayerRecord &layer : record.layers)
      model.layers.push_back(layerOf(layer, model.mapKeys));
  } catch (const Error &error) {
    throw Error(error.kind(), fmt::format("{}: config.json: {}", path, error.message()), error.layer_path());
  }
  try { // like Keras, accepts any content of metadata.json
    model.description += ", written by Keras " + archive.json("metadata.json").get_string("keras_version");
  } catch (const Error &) {
    model.description += ", of an unknown version of Keras";
  }
  return model;
}

class ModuleReader {
public:
  explicit ModuleReader(ModuleFile &file) : module(*file.module) {
    module.walk([&](VariableOp variable) {
      variables.emplace_back(variable.getPath().str(), dialect::dtypeOf(variable.getType().getElementType()));
      if (variable.getRole() == dialect::VariableRole::loss_scale)
        model.scaler = LossScaler::given;
    });
    module.walk([&](dialect::GradientOp) { model.trains = true; });
    module.walk<mlir::WalkOrder::PreOrder>([&](LayerOp layer) {
      const bool isOutput =
          llvm::any_of(layer->getUsers(), [](mlir::Operation *user) { return llvm::isa<mlir::func::ReturnOp>(user); });
      add(layer.getPath(), layer.getLayerClass(), layer.getPolicy(), layer.getRule(), isOutput);
    });
    // In later stages a table replaces the layer ops.
    if (auto table = module->getAttrOfType<mlir::DictionaryAttr>(compiler::layersAttr))
      for (mlir::NamedAttribute entry : table)
        if (auto facts = llvm::dyn_cast<mlir::DictionaryAttr>(entry.getValue()))
          add(entry.getName(), text(facts, "class"), text(facts, "policy"), text(facts, "rule"), false);
    model.description = fmt::format("a module in stage {}", compiler::name(file.stage));
  }

  RecordedModel model;

private:
  static llvm::StringRef text(mlir::DictionaryAttr facts, llvm::StringRef key) {
    auto value = facts.getAs<mlir::StringAttr>(key);
    return value ? value.getValue() : llvm::StringRef();
  }

  void add(llvm::StringRef path, llvm::StringRef className, llvm::StringRef policy, llvm::StringRef rule,
           bool isOutput) {
    const auto known = std::ranges::find(model.layers, path.str(), &RecordedLayer::path);
    if (known != model.layers.end()) { // another call of a shared layer
      known->isOutput |= isOutput;
      return;
    }
    try {
      const DTypePolicy named = policyNamed(policy.str());
      std::optional<std::string> key = rule.empty() ? std::nullopt : std::optional(rule.str());
      model.layers.push_back({path.str(), className.str(), named, key,
                              variableOf(path.str()).value_or(named.variable_dtype()), isOutput, className == "Softmax",
                              modeOf(path.str(), className.str(), named, false)});
    } catch (const Error &error) {
      throw Error(error.kind(), error.message(), path.str());
    }
  }

  /// The dtype of the layer's own weights.
  std::optional<DType> variableOf(const std::string &path) const {
    for (const auto &[variable, dtype] : variables)
      if (dtype && is_float(*dtype) && variable.starts_with(path + "/") && variable.rfind('/') == path.size())
        return dtype;
    return std::nullopt;
  }

  mlir::ModuleOp module;
  std::vector<std::pair<std::string, std::optional<DType>>> variables;
};

RecordedModel readModule(const std::string &path) {
  ModuleFile file = loadModule(path).valueOrThrow();
  try {
    return ModuleReader(file).model;
  } catch (const Error &error) {
    throw Error(error.kind(), fmt::format("{}: {}", path, error.message()), error.layer_path());
  }
}

} // namespace

std::optional<detail::ModeRefusal> refusalOf(const RecordedLayer &layer, const DTypePolicy &policy) {
  const std::string mode = policy.quantization_mode().value_or("");
  const bool quantizes =
      detail::classQuantizes(layer.mode.className, mode) && !(layer.mode.hasLora && mode == "float8");
  return detail::refusalOfPolicy(layer.mode, policy, quantizes);
}

RecordedModel readModel(const std::string &path) {
  RecordedModel model = path.ends_with(".mlir") ? readModule(path) : readArchive(path);
  model.description += fmt::format(", {} layers", model.layers.size());
  return model;
}

} // namespace halftone::tools
