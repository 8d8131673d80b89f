// Optimizer states in checkpoints: compile()'s optimizer, and the other optimizers of a model's steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/SavedVariables.h"
#include "frontend/training/OwnOptimizers.h"
#include <string>
#include <vector>

namespace halftone::detail {

/// The values that a file has for `variables`, which may include those of `optimizer` (null if they do not). A loss
/// scale missing in the file is reset; a loss scale in the file without variables here is ignored.
FileState stateIn(const Safetensors &contents, const std::vector<SavedVariable> &variables, const Optimizer *optimizer);

/// The variables of the own optimizer with this number among the steps' optimizers, with the names and places that
/// files use:
/// "own_optimizer/adam/iteration", "own_optimizer_1/adam/iteration".
std::vector<SavedVariable> savedOwnOptimizer(const Layer &model, const Optimizer &optimizer, int64_t number);
/// Removes the states of own optimizers from the contents of the file at `path` and returns them. They hold copies of
/// the tensors, which outlive the mapped file.
AwaitedStates takeStates(Safetensors &contents, const std::string &path);
/// Adds states to a file's contents, numbered from `first`.
void addStates(const AwaitedStates &states, int64_t first, Safetensors &contents);

} // namespace halftone::detail
