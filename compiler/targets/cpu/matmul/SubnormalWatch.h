// Looking for subnormal bf16 numbers while a matmul packs or multiplies them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"

namespace halftone::compiler {

/// The instructions that multiply pairs of bf16 take subnormal numbers for 0. So code that loads pairs looks at them
/// too: between start() and stop() a vector, which loops carry, holds the smallest magnitudes above 0. Products that keep
/// subnormal numbers need no watch.
class SubnormalWatch {
public:
  /// For vectors of `lanes` groups. Without `watches` all functions do nothing.
  SubnormalWatch(CodeBuilder &code, int64_t lanes, bool watches) : code(code), lanes(lanes), watches(watches) {}

  void start();
  void stop() { least.clear(); }
  bool isOn() const { return !least.empty(); }
  /// Looks at a vector of groups.
  void look(Emitted groups);
  /// Updates the magnitudes `least` with those of `groups`.
  static Emitted looked(CodeBuilder &code, Emitted least, Emitted groups);
  /// The magnitudes as the argument and result of a core: one vector, or empty without `watches`.
  const Values &magnitudes() const { return least; }
  void setMagnitudes(const Values &seen) { least = seen; }
  /// Stores the vector of magnitudes at `at`, which is aligned to a vector.
  void save(Emitted at) const;
  /// Whether a number was subnormal: one passed to look() since start(), or before save(at).
  Emitted saw(Emitted at) const;
  /// Like saw(), without the numbers before save().
  Emitted sawOwn() const { return isSubnormal(least[0]); }

  /// Loops in whose bodies groups are looked at.
  Values loop(Emitted begin, Emitted end, Emitted step, llvm::ArrayRef<Emitted> carried,
              llvm::function_ref<Values(Emitted, const Values &)> body);
  void loop(Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body);

private:
  Emitted isSubnormal(Emitted magnitudes) const;
  Values takeOwn(const Values &all);

  CodeBuilder &code;
  int64_t lanes;
  bool watches;
  Values least; // one vector of 16-bit numbers, or nothing
};

} // namespace halftone::compiler
