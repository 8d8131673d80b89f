// The target-independent parts of blocking.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/Blocking.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

namespace halftone::compiler {

int64_t ceilDivide(int64_t a, int64_t b) { return a == 0 ? 0 : (a - 1) / b + 1; }
int64_t roundUp(int64_t value, int64_t step) { return ceilDivide(value, step) * step; }

int64_t blockedAxis(llvm::ArrayRef<int64_t> shape) {
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (extent > 1)
      return axis;
  return 0;
}

llvm::SmallVector<int64_t> Blocking::partialReductionTile(llvm::ArrayRef<int64_t> shape, int64_t reduced) const {
  llvm::SmallVector<int64_t> tile;
  int64_t blocked = blockedAxis(shape);
  for (int64_t axis = 0; axis < reduced; ++axis)
    tile.push_back(axis == blocked ? rowsPerBlock(shape) : std::max<int64_t>(shape[axis], 1));
  return tile;
}

int64_t Blocking::nearestParts(int64_t k, int64_t wanted, int64_t limit) {
  constexpr int64_t widestStep = 16;
  const int64_t step = std::gcd(k, widestStep);
  const auto divides = [&](int64_t parts) { return k % parts == 0 && k / parts % step == 0; };
  for (int64_t parts = std::max<int64_t>(wanted, 2); parts <= limit; ++parts)
    if (divides(parts))
      return parts;
  for (int64_t parts = std::min(wanted, limit); parts > 1; --parts)
    if (divides(parts))
      return parts;
  return 1;
}

} // namespace halftone::compiler
