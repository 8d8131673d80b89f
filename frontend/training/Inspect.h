// Selects the program of a model to inspect, and example types for compiling it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/CompiledFunction.h"
#include "halftone/Model.h"

namespace halftone::detail {

/// A program, and the types and layout with which to trace it.
struct ProgramChoice {
  Program program = Program::predict;
  std::shared_ptr<CompiledFunction> function;
  std::vector<TensorType> types;
  FeedLayout layout;
};

/// The program that `args` names, otherwise the training step of a compiled model and predict of any other model. The
/// types of the training and test steps are those of the full step of the last training run, if there was one;
/// otherwise they follow from the model's inputs. value_error if these are unknown. The caller opens a CallTransaction
/// that outlives the choice and does not commit it: inspecting a program must build neither optimizer nor metrics for
/// it.
ProgramChoice chooseProgram(const Model &model, const IrArgs &args);

} // namespace halftone::detail
