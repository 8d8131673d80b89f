// The states in checkpoints: compile()'s optimizer, and the other optimizers of a model's steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/SavedVariables.h"
#include "frontend/training/OwnOptimizers.h"
#include <string>
#include <vector>

namespace halftone::detail {

/// The values that a file gives to `variables`, among which those of `optimizer` may be; null if none are. A loss scale that the
/// file lacks begins anew, and the one that has no variables is not used.
FileState stateIn(const Safetensors &contents, const std::vector<SavedVariable> &variables, const Optimizer *optimizer);

/// The variables of the optimizer with a number among those of the steps, by the names and places that files give them:
/// "own_optimizer/adam/iteration", "own_optimizer_1/adam/iteration".
std::vector<SavedVariable> savedOwnOptimizer(const Layer &model, const Optimizer &optimizer, int64_t number);
/// Takes the states of such optimizers out of the contents of the file at `path`. They have copies of the tensors, which outlive
/// the mapped file.
AwaitedStates takeStates(Safetensors &contents, const std::string &path);
/// Adds states to a file's contents, numbered from `first` on.
void addStates(const AwaitedStates &states, int64_t first, Safetensors &contents);

} // namespace halftone::detail
