// Reproducible values for variables that the command line does not set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "halftone/Tensor.h"
#include "runtime/plan/Executable.h"
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace halftone::tools {

/// Pseudo-random values that depend only on a seed and a name (SplitMix64).
class Random {
public:
  Random(uint64_t seed, std::string_view name);
  uint64_t next();
  double uniform(double low, double high); // in [low, high)
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state_;
};

/// `values` as elements of `type`, each rounded once. device_error if out of memory.
Tensor tensorOf(const TensorType &type, std::span<const double> values);

/// A variable of a module or plan, without a value.
struct DeclaredVariable {
  std::string symbol, path;
  TensorType type;
  dialect::VariableRole role = dialect::VariableRole::weight;
};

/// Guesses the role of a variable, which a saved plan does not record, from the last component of its path and its
/// dtype.
dialect::VariableRole guessRole(const VariableSlot &slot);

/// The initial value by role:
///   weight, constant   glorot uniform over the last two axes (integers: 0); vectors named gamma, scale or variance: 1
///   state              0, a variance 1
///   seed               bits from the seed
///   learning_rate      0.001
///   loss_scale         2^15 for floats, 0 for integers
///   all others         0
Tensor initialValue(const DeclaredVariable &variable, uint64_t seed);

} // namespace halftone::tools
