// Traits of linalg forms by kernel kind: block sizes, and the dims that one linear index covers.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/FormTraits.h"
#include "compiler/kernels/KernelForm.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone::compiler;
using halftone::dialect::KernelKind;
using Groups = llvm::SmallVector<llvm::SmallVector<int>>;

namespace {
/// The groups of a kernel of `dims` dims with one generic over its last two dims.
Groups groupsOf(KernelKind kind, size_t dims, const std::string &attributes) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::func::FuncDialect, mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect>();
  context.allowUnregisteredDialects(); // for the attributes
  std::string arguments;
  for (size_t index = 0; index < dims + size_t(traitsOf(kind).blockSizes); ++index)
    arguments += fmt::format("%i{}: index, ", index);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      fmt::format(R"(#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @kernel({}%x: tensor<?x?xf32>) -> tensor<?x?xf32>
    attributes {{halftone.kind = "{}", halftone.outer = 1 : i64{}}} {{
  %o = tensor.empty(%i0, %i1) : tensor<?x?xf32>
  %y = linalg.generic {{halftone.dims = array<i64: {}, {}>, indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) {{
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }} -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}})",
                  arguments, halftone::dialect::stringifyKernelKind(kind).str(), attributes, dims - 2, dims - 1),
      &context);
  REQUIRE(module);
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  const auto form = KernelForm::read(function);
  REQUIRE(succeeded(form));
  CHECK(form->kind == kind);
  CHECK(form->dims(function) == int64_t(dims));
  return traitsOf(kind).linearGroups(function, *form);
}
} // namespace

TEST_CASE("A linear index runs over the dims of a generic, of a matmul's role, or of a part of a scatter",
          "[kernels]") {
  for (const KernelKind kind :
       {KernelKind::loop, KernelKind::reduction_loop, KernelKind::row, KernelKind::finish, KernelKind::cumulative,
        KernelKind::attention, KernelKind::attention_grad, KernelKind::sort, KernelKind::recurrence})
    CHECK(groupsOf(kind, 3, "") == Groups{{1, 2}});
  CHECK(groupsOf(KernelKind::matmul, 5, ", halftone.roles = array<i64: 0, 2, 1, 2>") ==
        Groups{{}, {0, 1}, {2}, {3, 4}});
  CHECK(groupsOf(KernelKind::scatter, 6, ", halftone.indices = 2 : i64") == Groups{{0}, {1}, {2, 3}, {4, 5}});
}
