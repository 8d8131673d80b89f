// Detects subnormal bf16 numbers while a matmul packs or multiplies them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"

namespace halftone::compiler {

/// The instructions that multiply pairs of bf16 treat subnormal numbers as 0. Code that loads pairs therefore also
/// checks them: between start() and stop(), a vector that loops carry contains the smallest nonzero magnitudes.
/// Products that support subnormal numbers need no watch.
class SubnormalWatch {
public:
  /// For vectors of `lanes` groups. If `watches` is false, all functions do nothing.
  SubnormalWatch(CodeBuilder &code, int64_t lanes, bool watches) : code(code), lanes(lanes), watches(watches) {}

  void start();
  void stop() { minima.clear(); }
  bool isOn() const { return !minima.empty(); }
  /// Checks a vector of groups.
  void check(Emitted groups);
  /// Returns the magnitudes `minima`, updated with those of `groups`.
  static Emitted updated(CodeBuilder &code, Emitted minima, Emitted groups);
  /// The magnitudes as the argument and result of a core: one vector, or empty without `watches`.
  const Values &magnitudes() const { return minima; }
  void setMagnitudes(const Values &seen) { minima = seen; }
  /// Stores the vector of magnitudes at `at`, which is aligned to a vector.
  void save(Emitted at) const;
  /// Emits whether a number was subnormal that check() checked since start(), or before save(at).
  Emitted foundSubnormal(Emitted at) const;
  /// Like foundSubnormal(), but ignores the numbers before save().
  Emitted foundSinceSave() const { return isSubnormal(minima[0]); }

  /// Emits loops whose bodies check groups.
  Values loop(Emitted begin, Emitted end, Emitted step, llvm::ArrayRef<Emitted> carried,
              llvm::function_ref<Values(Emitted, const Values &)> body);
  void loop(Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body);

private:
  Emitted isSubnormal(Emitted magnitudes) const;
  Values takeMagnitudes(const Values &all);

  CodeBuilder &code;
  int64_t lanes;
  bool watches;
  Values minima; // one vector of 16-bit numbers, or empty
};

} // namespace halftone::compiler
