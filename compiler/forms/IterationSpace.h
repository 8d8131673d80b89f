// The iteration dims of a kernel, found by splitting: a group of axes is one dim until an access separates them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace halftone::compiler {

/// The dims of an access, in memory order; together they enumerate a value's elements row-major. An axis of extent 1
/// has no dim, except that an operand may keep one: `noDim` then marks an axis for which the reader has no dim of
/// extent 1.
using Access = llvm::SmallVector<int, 6>;
inline constexpr int noDim = -1;

/// An ordered list of dims in groups (outer, inner, ...). A group starts as one dim, or none if its extent is 1; `cut`
/// splits dims as reshapes, broadcasts and transposes require. A split renumbers the dims, which invalidates all
/// accesses computed before, so the caller starts over as long as `takeRefined` returns true. This terminates because
/// dims only get finer.
class IterationSpace {
public:
  /// Appends a group with the axes `extents`. If one of them is 0, the group is a single dim of extent 0.
  int addGroup(llvm::ArrayRef<int64_t> extents);
  /// Appends a group that has a dim of extent 1 rather than none.
  int addKeptGroup(llvm::ArrayRef<int64_t> extents);

  int size() const { return dims.size(); }
  int64_t extent(int dim) const { return dims[dim].extent; }
  /// The product of the extents of `dims`.
  int64_t extentOf(llvm::ArrayRef<int> dims) const;
  Access all() const;
  Access group(int id) const;
  int groupSize(int id) const { return group(id).size(); }

  /// Divides `access` into consecutive parts of the extents `extents`; an empty access gives parts of any extent.
  /// Returns nullopt if a dim had to be split (see takeRefined), or if the two do not nest.
  std::optional<llvm::SmallVector<Access>> cut(llvm::ArrayRef<int> access, llvm::ArrayRef<int64_t> extents);
  bool takeRefined();

private:
  struct Dim {
    int64_t extent;
    int group;
  };
  llvm::SmallVector<Dim> dims;
  int groups = 0;
  bool refined = false;
};

} // namespace halftone::compiler
