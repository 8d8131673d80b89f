// What stands behind a Variable: its memory and what layers, optimizers and traces ask of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Arguments.h"
#include "halftone/Value.h"
#include "runtime/VariableStore.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace halftone::detail {

enum class VariableRole : uint8_t { weight, state, seed, slot, iteration, learning_rate, loss_scale, metric, constant };
enum class UpdateKind : uint8_t { gradient, assign, overwrite };

struct VariableImpl {
  VariableHandle memory;
  std::string name, path;
  Shape shape;
  DType dtype = DType::float32;
  VariableRole role = VariableRole::weight;
  UpdateKind update = UpdateKind::gradient;
  bool trainable = true, autocast = true;
  Regularizer regularizer{};
  Constraint constraint{};
};

struct VariableArgs {
  std::string name, path;
  VariableRole role = VariableRole::weight;
  UpdateKind update = UpdateKind::gradient;
  bool trainable = true, autocast = true;
  Regularizer regularizer{};
  Constraint constraint{};
};
/// A variable holding a copy of `initial`, on the thread's default device, under the lock that all share.
Variable makeVariable(const Tensor &initial, const VariableArgs &args);

/// runtime_error with the bytes asked for and those free when a variable and its first value, which is drawn in float32
/// at least, cannot be had; value_error when no number counts its bytes. `what` begins the message.
void checkMemoryFor(const std::string &what, const Shape &shape, DType dtype);

/// What a scalar variable holds, and a new value for it, rounded to its dtype: for numbers that every step reads or
/// resets.
double hostNumber(const Variable &variable);
void setHostNumber(const Variable &variable, double value);

/// The dtype in which autocast variables are read on this thread: nullopt outside scopes and in a scope without one.
std::optional<DType> autocastDtype();
bool autocastScopeOpen(); // any on this thread

/// A number that grows whenever something that a trace depends on changes: trainable flags, policies; another one in
/// each kind of AutocastScope. Part of program keys.
uint64_t configurationEpoch();
void bumpConfigurationEpoch();

} // namespace halftone::detail
