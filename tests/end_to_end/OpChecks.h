// Checks of ops and programs compiled for a target against the interpreter.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ForcedTargets.h"
#include "OpTable.h"
#include <catch2/catch.hpp>
#include <set>

namespace halftone::test {

/// Runs these ops in one program. The feeds are those of the table.
StatusOr<tools::Comparison> compareCases(const std::vector<OpCase> &cases, const std::string &target, bool strict);

/// Checks that each case agrees with the interpreter. Names the case if it does not compile.
void check(const std::vector<OpCase> &cases, const std::string &target, bool strict);

/// Checks the modes that `Target` covers. In strict mode each op is a kernel. In fast mode a kernel contains many ops,
/// so there are fewer kernels to compile.
template <class Target> void checkModes(const std::vector<OpCase> &cases) {
  if (!Target::runs()) {
    WARN(Target::target << " does not run here");
    return;
  }
  if constexpr (Target::isStrict)
    check(cases, Target::target, true);
  if constexpr (Target::isFast)
    check(cases, Target::target, false);
}

/// Checks that the program agrees with the interpreter on random feeds.
void checkProgram(const std::string &text, const std::string &target, bool strict, uint32_t seed);

/// A layer's product with casts, bias and relu, and a product of ones. Their sums of `depth` numbers are float16. In
/// the product of ones some partial sums exceed float16, but no final sum does.
std::string longSumProgram(int64_t depth);

/// Checks sums of equal numbers, whose rounding errors do not cancel: of rows, of columns, over all and over some axes,
/// and after other ops. Each is as close to the exact sum as the order of summation guarantees (dialect::SumBound).
void checkEqualSums(const std::string &target, bool strict);

std::vector<OpCase> only(std::vector<OpCase> cases, const std::set<std::string> &ops);
std::vector<OpCase> without(std::vector<OpCase> cases, const std::set<std::string> &ops);

/// Elementwise ops whose compiled bits may differ from the interpreter's.
extern const std::set<std::string> transcendental;

} // namespace halftone::test
