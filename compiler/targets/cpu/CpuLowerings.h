// The forms of operands that CPU kernels read directly: windows, runs of K, groups of channels, packed weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Lowerings.h"

namespace halftone::compiler {
struct CpuTarget;

/// A part of CpuTarget, since the answers depend on its facts.
class CpuLowerings : public Lowerings {
public:
  bool readsWindows() const override { return true; }
  bool readsDepthInRuns(DType dtype, int64_t rows, int64_t run) const override;
  bool joinsDepth(const MatmulTraits &traits, int64_t products) const override;
  bool sumsGroups(DType dtype, int64_t channels, int64_t filters) const override;
  std::optional<WeightPanels> weightPanels(Numerics numerics, DType weight, int64_t k, int64_t n) const override;
  std::optional<WeightPanels> halfBytePanels(DType lhs, int64_t k, int64_t n) const override;

protected:
  virtual const CpuTarget &target() const = 0;
};

} // namespace halftone::compiler
