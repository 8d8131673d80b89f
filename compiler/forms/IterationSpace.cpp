// Splits groups of axes into iteration dims.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/IterationSpace.h"
#include "runtime/base/Extents.h"
#include "llvm/ADT/STLExtras.h"

namespace halftone::compiler {

int IterationSpace::addGroup(llvm::ArrayRef<int64_t> extents) {
  int id = groups++;
  if (llvm::is_contained(extents, 0)) {
    dims.push_back({0, id});
    return id;
  }
  int64_t product = 1;
  for (int64_t extent : extents)
    product *= extent;
  if (product != 1)
    dims.push_back({product, id});
  return id;
}

int IterationSpace::addKeptGroup(llvm::ArrayRef<int64_t> extents) {
  int id = addGroup(extents);
  if (group(id).empty())
    dims.push_back({1, id});
  return id;
}

int64_t IterationSpace::extentOf(llvm::ArrayRef<int> dims) const {
  int64_t result = 1;
  for (int dim : dims)
    result = extentProduct(result, extent(dim));
  return result;
}

Access IterationSpace::all() const {
  Access access;
  for (int dim = 0; dim < size(); ++dim)
    access.push_back(dim);
  return access;
}

Access IterationSpace::group(int id) const {
  Access access;
  for (int dim = 0; dim < size(); ++dim)
    if (dims[dim].group == id)
      access.push_back(dim);
  return access;
}

std::optional<llvm::SmallVector<Access>> IterationSpace::cut(llvm::ArrayRef<int> access,
                                                             llvm::ArrayRef<int64_t> extents) {
  llvm::SmallVector<Access> parts;
  // Without elements, any division is as good as another.
  if (llvm::is_contained(extents, 0) || llvm::any_of(access, [&](int dim) { return dims[dim].extent == 0; })) {
    parts.resize(extents.size());
    if (!extents.empty())
      parts[(llvm::find(extents, 0) - extents.begin()) % extents.size()].assign(access.begin(), access.end());
    return parts;
  }
  size_t next = 0;
  for (int64_t wanted : extents) {
    Access &part = parts.emplace_back();
    int64_t product = 1;
    while (product != wanted) {
      if (next == access.size())
        return std::nullopt;
      int64_t extent = dims[access[next]].extent;
      int64_t rest = wanted / product;
      if (rest % extent == 0 && rest != 0) {
        part.push_back(access[next++]);
        product *= extent;
        continue;
      }
      if (rest == 0 || extent % rest != 0)
        return std::nullopt;
      Dim &dim = dims[access[next]];
      Dim tail{extent / rest, dim.group};
      dim.extent = rest;
      dims.insert(dims.begin() + access[next] + 1, tail);
      refined = true;
      return std::nullopt;
    }
  }
  // Kept dims of extent 1 may follow.
  for (; next < access.size(); ++next) {
    if (dims[access[next]].extent != 1)
      return std::nullopt;
    if (!parts.empty())
      parts.back().push_back(access[next]);
  }
  return parts;
}

bool IterationSpace::takeRefined() { return std::exchange(refined, false); }

} // namespace halftone::compiler
