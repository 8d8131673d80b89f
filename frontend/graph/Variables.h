// The state behind a Variable: its memory, and facts for layers, optimizers and traces.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Arguments.h"
#include "halftone/Value.h"
#include "runtime/VariableStore.h"
#include "runtime/base/ConfigurationEpoch.h"
#include <cstdint>
#include <memory>
#include <span>
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
  bool follows = false; // moves to the device of functions that read it, as constants and random states do
  Regularizer regularizer{};
  Constraint constraint{};
};

struct VariableFacts {
  std::string name, path;
  VariableRole role = VariableRole::weight;
  UpdateKind update = UpdateKind::gradient;
  bool trainable = true, autocast = true, follows = false;
  Regularizer regularizer{};
  Constraint constraint{};
};
/// A variable with a copy of `initial`, on the thread's default device, under the one lock of all variables.
Variable makeVariable(const Tensor &initial, const VariableFacts &facts);
/// Like makeVariable(), with zeros.
Variable makeZeros(const Shape &shape, DType dtype, const VariableFacts &facts);

/// Checks that there is enough memory for a variable and its initial value, which is drawn in float32 at least.
/// runtime_error with the required and the free bytes if not; value_error if the byte count overflows 64 bits. `what`
/// begins the message.
void checkMemoryFor(const std::string &what, const Shape &shape, DType dtype);

/// The value of a scalar variable.
double hostScalar(const Variable &variable);
/// Writes all elements, rounded to the variable's dtype. Requires that the caller holds the variable's lock.
Status writeLocked(const Variable &variable, std::span<const double> values);

/// The dtype in which this thread reads autocast variables: nullopt outside scopes and in a scope without a dtype.
std::optional<DType> autocastDtype();
bool autocastScopeOpen(); // true if this thread has an open scope

/// A scope in which this thread reads `value` in place of the variable, in the dtype of the read. A layer that computes
/// with a function of another layer's weight calls that layer in such a scope.
class VariableOverride {
public:
  VariableOverride(Variable variable, Value value);
  ~VariableOverride();
  VariableOverride(const VariableOverride &) = delete;
  /// Null if the variable itself is read.
  static const Value *of(const VariableImpl &variable);

private:
  Variable variable_;
  Value value_;
  VariableOverride *outer_;
};

/// The configuration epoch, part of program keys. It increases with configurationChanges(), and differs between the
/// kinds of AutocastScope.
uint64_t configurationEpoch();

} // namespace halftone::detail
