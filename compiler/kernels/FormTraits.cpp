// The rows of the table of kernel kinds.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/FormTraits.h"
#include "compiler/kernels/KernelForm.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace halftone::compiler {
using namespace mlir;
using dialect::KernelKind;

namespace {

using Groups = SmallVector<SmallVector<int>>;

/// Divides the dims, from 0 on, into groups of these sizes.
Groups groupsOfSizes(ArrayRef<int64_t> sizes) {
  Groups groups;
  int begin = 0;
  for (const int64_t size : sizes) {
    groups.push_back(llvm::to_vector(llvm::seq(begin, begin + static_cast<int>(size))));
    begin += static_cast<int>(size);
  }
  return groups;
}

Groups groupsOfGenerics(func::FuncOp function, const KernelForm &) {
  Groups groups;
  function.walk([&](linalg::GenericOp generic) { groups.push_back(GenericForm::read(generic).dims); });
  return groups;
}

/// Batch, M, N and K.
Groups groupsOfMatmul(func::FuncOp, const KernelForm &form) { return groupsOfSizes(form.roles); }

/// Outer dims, the rows that are indexed, dims of the indices, and the rest.
Groups groupsOfScatter(func::FuncOp function, const KernelForm &form) {
  return groupsOfSizes({form.outer, 1, form.indices, form.dims(function) - form.outer - 1 - form.indices});
}

constexpr FormTraits rows[] = {
    {KernelKind::loop, 2, 100, groupsOfGenerics},
    {KernelKind::reduction_loop, 2, 500, groupsOfGenerics},
    {KernelKind::row, 1, 300, groupsOfGenerics},
    {KernelKind::finish, 1, 500, groupsOfGenerics},
    {KernelKind::matmul, 2, 1500, groupsOfMatmul},
    {KernelKind::scatter, 1, 150, groupsOfScatter},
    {KernelKind::cumulative, 2, 300, groupsOfGenerics},
    {KernelKind::attention, 2, 2500, groupsOfGenerics},
    {KernelKind::attention_grad, 3, 3500, groupsOfGenerics},
    {KernelKind::sort, 1, 500, groupsOfGenerics},
    {KernelKind::recurrence, 1, 3000, groupsOfGenerics},
};

constexpr bool areInOrder() {
  for (size_t index = 0; index < std::size(rows); ++index)
    if (static_cast<size_t>(rows[index].kind) != index)
      return false;
  return std::size(rows) == dialect::getMaxEnumValForKernelKind() + 1;
}
static_assert(areInOrder(), "each kind has a row, at the index of its enumerator");

} // namespace

const FormTraits &traitsOf(KernelKind kind) { return rows[static_cast<size_t>(kind)]; }

} // namespace halftone::compiler
