// The facts of a call in which the processes that make it together must agree.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ProcessRun.h"
#include "frontend/training/Trainer.h"
#include "halftone/Data.h"

namespace halftone::detail {

/// One fact for each argument of a call, by the fields of its struct, but for those that may differ (mayDiffer()). Of
/// tensors only names, shapes and dtypes are facts; of callbacks those of the library that may write to a model or stop the
/// training. Functions of the user's have no facts: what they make of a model is one (programFacts()).
void addArgs(const FitArgs &args, std::vector<Fact> &facts);
void addArgs(const EvaluateArgs &args, std::vector<Fact> &facts);
void addArgs(const PredictArgs &args, std::vector<Fact> &facts);
void addArgs(const BatchArgs &args, std::vector<Fact> &facts);
void addData(const Batch &arrays, std::vector<Fact> &facts);
void addData(const Dataset &dataset, std::vector<Fact> &facts);
/// The library's build, its global settings, and the distribution.
void addSettings(std::vector<Fact> &facts);
/// The class, policy and config of each layer, and the calls of a graph.
void addModel(const Layer &model, std::vector<Fact> &facts);
/// The arguments of compile(); without one, that there was none.
void addCompiled(const CompiledModel *compiled, std::vector<Fact> &facts);
/// The fields of a config, a fact each, named "<owner>: <field>".
void addConfig(const std::string &owner, const Config &config, std::vector<Fact> &facts);

} // namespace halftone::detail
