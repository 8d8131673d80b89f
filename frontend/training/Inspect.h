// Finds the program of a model to look at, and example types to compile it for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/CompiledFunction.h"
#include "halftone/Model.h"

namespace halftone::detail {

/// A program, and the types and the layout to trace it with.
struct ProgramChoice {
  Program program = Program::predict;
  std::shared_ptr<CompiledFunction> function;
  std::vector<TensorType> types;
  FeedLayout layout;
};

/// The program that `args` name, else the training step of a compiled model and predict of another; for the shapes of
/// the full step of the last training run, else for those of the model's inputs. value_error if these are not known. The caller opens a
/// CallTransaction that outlives the choice and commits nothing: whoever looks at a program builds neither optimizer nor
/// metrics for it.
ProgramChoice chooseProgram(const Model &model, const IrArgs &args);

} // namespace halftone::detail
