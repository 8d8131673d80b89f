// Creates the buffers of the feeds, fetches, variables and shadows of @main.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/AssignSlotsSignature.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

Status SignatureBuffers::addArguments(func::FuncOp main) {
  for (BlockArgument argument : main.getArguments()) {
    auto type = bufferType(argument.getType());
    if (!type)
      return type.status();
    unsigned number = argument.getArgNumber();
    if (auto variable = main.getArgAttrOfType<FlatSymbolRefAttr>(number, variableAttr)) {
      auto buffer = variableBuffer(variable);
      if (!buffer)
        return buffer.status();
      buffers[argument] = *buffer;
    } else if (auto shadow = main.getArgAttrOfType<FlatSymbolRefAttr>(number, shadowAttr)) {
      auto buffer = shadowBuffer(shadow);
      if (!buffer)
        return buffer.status();
      buffers[argument] = *buffer;
    } else if (auto name = main.getArgAttrOfType<StringAttr>(number, nameAttr)) {
      buffers[argument] = draft.add(SlotKind::feed, *type, draft.feeds.size());
      draft.feeds.push_back({name.str(), *type});
    } else {
      return cannotAssign("an argument of @main is neither a feed nor a variable nor a shadow");
    }
  }
  return Status::ok();
}

StatusOr<BufferId> SignatureBuffers::variableBuffer(FlatSymbolRefAttr symbol) {
  auto [entry, isNew] = variables.try_emplace(symbol, -1);
  if (!isNew)
    return entry->second;
  auto variable = symbols.lookup<VariableOp>(symbol.getValue());
  if (!variable)
    return cannotAssign("no variable @" + symbol.getValue());
  auto type = bufferType(variable.getType());
  if (!type)
    return type.status();
  entry->second = draft.add(SlotKind::variable, *type, draft.variables.size());
  draft.variables.push_back({symbol.getValue().str(), variable.getPath().str(), *type, false, false});
  return entry->second;
}

StatusOr<BufferId> SignatureBuffers::shadowBuffer(FlatSymbolRefAttr symbol) {
  if (auto known = shadows.find(symbol); known != shadows.end())
    return known->second;
  auto shadow = symbols.lookup<ShadowOp>(symbol.getValue());
  if (!shadow)
    return cannotAssign("no shadow @" + symbol.getValue());
  auto type = bufferType(shadow.getType());
  if (!type)
    return type.status();
  auto source = symbols.lookup<ShadowOp>(shadow.getSource()) ? shadowBuffer(shadow.getSourceAttr())
                                                             : variableBuffer(shadow.getSourceAttr());
  if (!source)
    return source.status();
  const BufferId buffer = draft.add(SlotKind::shadow, *type, draft.shadows.size());
  draft.shadows.push_back(shadow);
  draft.shadowed.push_back(*source);
  return shadows[symbol] = buffer;
}

Status SignatureBuffers::addResults(func::FuncOp main) {
  for (OpOperand &result : main.getBody().front().getTerminator()->getOpOperands()) {
    unsigned number = result.getOperandNumber();
    BufferId buffer = buffers.lookup(result.get());
    if (auto variable = main.getResultAttrOfType<FlatSymbolRefAttr>(number, variableAttr)) {
      auto old = variableBuffer(variable);
      if (!old)
        return old.status();
      draft.updates.push_back({*old, buffer});
    } else if (auto shadow = main.getResultAttrOfType<FlatSymbolRefAttr>(number, shadowAttr)) {
      auto old = shadowBuffer(shadow);
      if (!old)
        return old.status();
      draft.updates.push_back({*old, buffer});
    } else if (auto name = main.getResultAttrOfType<StringAttr>(number, nameAttr)) {
      auto type = bufferType(result.get().getType());
      if (!type)
        return type.status();
      draft.fetches.push_back({name.str(), *type});
      draft.fetched.push_back(buffer);
    } else {
      return cannotAssign("a result of @main is neither a fetch nor a variable nor a shadow");
    }
  }
  return Status::ok();
}

} // namespace halftone::compiler
