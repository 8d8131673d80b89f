// The iteration dims of a kernel, found by cutting: a group of axes is one dim until some access needs it apart.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace halftone::compiler {

/// Dims in an access, in memory order; together they enumerate a value's elements row-major. Axes of extent 1 have
/// none, but an operand may: then `noDim` stands where the reader has no dim of extent 1 for it.
using Access = llvm::SmallVector<int, 6>;
inline constexpr int noDim = -1;

/// An ordered list of dims in groups (outer, inner, ...). A group starts as one dim (none when its extent is 1); `cut`
/// splits dims as reshapes, broadcasts and transposes demand. A split renumbers dims: accesses computed before are
/// void, and the caller starts over while `takeRefined` says so. Dims only ever get finer, so this ends.
class IterationSpace {
public:
  /// Adds a group with the axes `extents`, after those there are. With one of extent 0 among them it is a dim of extent
  /// 0.
  int addGroup(llvm::ArrayRef<int64_t> extents);
  /// Adds a group that has a dim of extent 1 rather than none.
  int addKeptGroup(llvm::ArrayRef<int64_t> extents);

  int size() const { return dims.size(); }
  int64_t extent(int dim) const { return dims[dim].extent; }
  /// The product of the extents of `dims`.
  int64_t extentOf(llvm::ArrayRef<int> dims) const;
  Access all() const;
  Access group(int id) const;
  int groupSize(int id) const { return group(id).size(); }

  /// The pieces of `access` whose extents are `extents`, in order; where nothing is accessed, pieces of any extent.
  /// nullopt when a dim had to be split (see takeRefined), or when the two do not nest.
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
