// Extracts the contract of a module as text, and compares two contracts.
// SPDX-License-Identifier: Apache-2.0
#include "PassContract.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <fmt/format.h>

using namespace mlir;
using namespace halftone::dialect;

namespace {

const char *const gradientSubject = "a gradient", *const stageSubject = "attribute halftone.stage";
const char *const layerSubject = "layer ";

/// The subjects that a pass may change, by name prefix.
struct Permission {
  StringLiteral pass, subjects;
};
constexpr Permission permissions[] = {
    {"halftone-inline-layers", "attribute halftone.layers"},
    {"halftone-attach-target", "attribute halftone.target"},
    {"halftone-attach-target", "attribute halftone.numerics"},
    {"halftone-lift-variables", "state "},
    {"halftone-hoist-shadows", "state "},
    {"halftone-hoist-shadows", "shadow "},
    {"halftone-form-kernels", "kernel "},
    {"halftone-repeat-results", "kernel "},
    {"halftone-outline-kernels", "kernel "},
};

template <class T> std::string textOf(const T &entity) {
  std::string text;
  llvm::raw_string_ostream(text) << entity;
  return text;
}

std::string textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  op->print(out, OpPrintingFlags().useLocalScope().skipRegions().enableDebugInfo(false));
  return text;
}

/// Adds the arguments or results of @main: feeds or fetches, then those for variables and shadows.
void addSide(Contract &contract, const char *named, const char *side, TypeRange types,
             llvm::function_ref<DictionaryAttr(unsigned)> attributes) {
  int names = 0, ties = 0;
  for (auto [i, type] : llvm::enumerate(types)) {
    NamedAttrList others(attributes(i));
    Attribute name = others.erase(nameAttr), tie = others.erase(variableAttr);
    const Attribute shadow = others.erase(shadowAttr);
    tie = tie ? tie : shadow;
    std::string text = fmt::format("{} : {}", name ? textOf(name) : tie ? textOf(tie) : "no name", textOf(type));
    if (!others.empty())
      text += " " + textOf(Attribute(others.getDictionary(type.getContext())));
    const bool isTie = tie && !name;
    if (!isTie && ties > 0)
      contract[fmt::format("a {} after those of state", named)] = "";
    contract[isTie ? fmt::format("state {} {}", side, ties++) : fmt::format("{} {}", named, names++)] = std::move(text);
  }
}

std::string signatureOf(func::FuncOp function) {
  std::string text = fmt::format(
      "{}, {}", SymbolTable::getSymbolVisibility(function) == SymbolTable::Visibility::Public ? "public" : "not public",
      function.isExternal() ? "without a body" : "with a body");
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    if (attribute.getName().strref().starts_with("halftone."))
      text += ", " + attribute.getName().str() + " = " + textOf(attribute.getValue());
  return text;
}

void addFunction(Contract &contract, func::FuncOp function) {
  std::string &text = contract["function @" + function.getSymName().str()];
  text = signatureOf(function);
  if (function.getSymName() != "main") {
    text += ", " + textOf(function.getFunctionType());
    return;
  }
  const auto attributesAt = [&](ArrayAttr all, unsigned i) {
    return all ? cast<DictionaryAttr>(all[i]) : DictionaryAttr::get(function.getContext());
  };
  addSide(contract, "feed", "argument", function.getArgumentTypes(),
          [&](unsigned i) { return attributesAt(function.getArgAttrsAttr(), i); });
  addSide(contract, "fetch", "result", function.getResultTypes(),
          [&](unsigned i) { return attributesAt(function.getResAttrsAttr(), i); });
}

/// Elides the middle of a long text.
std::string shortened(const std::string &text) {
  constexpr size_t limit = 160;
  return text.size() <= limit ? text : text.substr(0, limit / 2) + " ... " + text.substr(text.size() - limit / 2);
}

bool maySkip(StringRef pass, StringRef subject) {
  return llvm::any_of(permissions, [&](const Permission &permission) {
    return permission.pass == pass && subject.starts_with(permission.subjects);
  });
}

} // namespace

Contract contractOf(ModuleOp module) {
  Contract contract;
  if (std::optional<StringRef> name = module.getSymName())
    contract["the module's name"] = name->str();
  for (NamedAttribute attribute : module->getDiscardableAttrs())
    if (attribute.getName().strref().starts_with("halftone."))
      contract["attribute " + attribute.getName().str()] = textOf(attribute.getValue());
  for (Operation &op : *module.getBody()) {
    if (auto kernel = dyn_cast<KernelOp>(op))
      contract["kernel @" + kernel.getSymName().str()] =
          fmt::format("{} {}", stringifyKernelKind(kernel.getKind()).str(), textOf(kernel.getFunctionType()));
    else if (auto variable = dyn_cast<VariableOp>(op))
      contract["variable @" + variable.getSymName().str()] = textOf(&op);
    else if (auto shadow = dyn_cast<ShadowOp>(op))
      contract["shadow @" + shadow.getSymName().str()] = textOf(&op);
    else if (auto function = dyn_cast<func::FuncOp>(op);
             function && (function.getSymName() == "main" || function.isPublic()))
      addFunction(contract, function);
    else if (auto symbol = dyn_cast<SymbolOpInterface>(op); symbol && symbol.isPublic())
      contract["symbol @" + symbol.getName().str()] = op.getName().getStringRef().str();
  }
  module.walk([&](LayerOp layer) {
    contract.emplace(fmt::format("{}{}, call {}", layerSubject, layer.getPath().str(), layer.getCall()),
                     textOf(Attribute(layer->getAttrDictionary())));
  });
  if (module.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted())
    contract[gradientSubject] = "";
  return contract;
}

bool endsProgram(StringRef pass) { return pass == "halftone-lower-to-linalg"; }

std::string breachOf(StringRef pass, const Contract &before, const Contract &after) {
  std::vector<std::string> changes;
  for (const auto &[subject, was] : before) {
    const auto found = after.find(subject);
    if (maySkip(pass, subject) || (found != after.end() && found->second == was))
      continue;
    if (found != after.end())
      changes.push_back(fmt::format("changes {} from {} to {}", subject, shortened(was), shortened(found->second)));
    else if (subject != gradientSubject && subject != stageSubject && !subject.starts_with(layerSubject))
      changes.push_back(fmt::format("removes {}{}{}", subject, was.empty() ? "" : ", which was ", shortened(was)));
  }
  for (const auto &[subject, is] : after)
    if (!before.contains(subject) && !maySkip(pass, subject))
      changes.push_back(fmt::format("adds {}{}{}", subject, is.empty() ? "" : ", which is ", shortened(is)));
  constexpr size_t limit = 3;
  std::string text =
      fmt::format("{}", fmt::join(changes.begin(), changes.begin() + std::min(limit, changes.size()), "; "));
  return changes.size() > limit ? fmt::format("{}; and {} more changes", text, changes.size() - limit) : text;
}
