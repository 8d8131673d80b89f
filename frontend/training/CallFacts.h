// The facts of a joint call on which the processes must agree.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ProcessRun.h"
#include "frontend/training/Trainer.h"
#include "halftone/Data.h"

namespace halftone::detail {

/// Adds one fact per argument of a call, from the fields of its struct, except those that may differ (mayDiffer()). For
/// tensors only names, shapes and dtypes are facts; for callbacks, those of the library that may write to a model or
/// stop the training. User functions have no facts; their effect on a model is a fact (programFacts()).
void addArgs(const FitArgs &args, std::vector<Fact> &facts);
void addArgs(const EvaluateArgs &args, std::vector<Fact> &facts);
void addArgs(const PredictArgs &args, std::vector<Fact> &facts);
void addArgs(const BatchArgs &args, std::vector<Fact> &facts);
void addData(const Batch &arrays, std::vector<Fact> &facts);
void addData(const Dataset &dataset, std::vector<Fact> &facts);
/// Adds the library's build, its global settings, and the distribution.
void addSettings(std::vector<Fact> &facts);
/// Adds the class, policy and config of each layer, and the calls of a graph.
void addModel(const Layer &model, std::vector<Fact> &facts);
/// Adds the arguments of compile(), or the fact that there was none.
void addCompiled(const CompiledModel *compiled, std::vector<Fact> &facts);
/// Adds the fields of a config, one fact each, named "<owner>: <field>".
void addConfig(const std::string &owner, const Config &config, std::vector<Fact> &facts);

} // namespace halftone::detail
