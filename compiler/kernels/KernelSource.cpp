// Reading of the linalg form.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/KernelSource.h"
#include "compiler/kernels/ScalarBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

/// Returns true if the counts of leading dims, taken consecutively, fit into the kernel's dims.
static bool haveLeadingDims(const KernelForm &form, int64_t dims) {
  int64_t left = form.kind == dialect::KernelKind::scatter ? dims - 1 : dims; // one dim has the rows that are indexed
  if (form.kind == dialect::KernelKind::cumulative && form.reduced == 0)
    return false;
  for (const int64_t count : {form.outer, form.reduced, form.indices}) {
    if (count < 0 || count > left)
      return false;
    left -= count;
  }
  return true;
}

/// Checks the facts on which every access depends: the dims of the loops, and maps that accessOf() can read.
static LogicalResult checkLoops(linalg::GenericOp generic, int64_t dims) {
  const SmallVector<int> loops = dimsOf(generic);
  if (loops.size() != generic.getNumLoops() || llvm::any_of(loops, [&](int dim) { return dim < 0 || dim >= dims; }))
    return generic.emitError("expected halftone.dims with one dim of the kernel for each loop");
  for (AffineMap map : generic.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        return generic.emitError("expected indexing maps whose results are dims or constants");
  return success();
}

FailureOr<KernelSource> KernelSource::read(func::FuncOp function) {
  FailureOr<KernelForm> form = KernelForm::read(function);
  if (failed(form))
    return failure();
  KernelSource source;
  source.function = function;
  source.form = std::move(*form);
  source.indexArguments = unsigned(KernelForm::indexArguments(function));
  source.dims = source.form.dims(function);
  if (source.dims < 0 || source.form.lookupArguments < 0)
    return function.emitError("expected an index argument for each dim and block size");
  if (!haveLeadingDims(source.form, source.dims))
    return function.emitError()
           << "expected halftone.outer, halftone.reduced and halftone.indices to add up to at most " << source.dims
           << " dims, got " << source.form.outer << ", " << source.form.reduced << " and " << source.form.indices;
  for (auto generic : function.getBody().front().getOps<linalg::GenericOp>()) {
    if (failed(checkLoops(generic, source.dims)) || failed(checkBody(generic)))
      return failure();
    source.generics.push_back(generic);
  }
  return source;
}

TensorAccess KernelSource::accessOf(linalg::GenericOp generic, OpOperand &operand) const {
  SmallVector<int> dims = dimsOf(generic);
  TensorAccess access;
  for (AffineExpr expr : generic.getMatchingIndexingMap(&operand).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    access.dims.push_back(dim ? dims[dim.getPosition()] : -1);
    access.constants.push_back(dim ? 0 : cast<AffineConstantExpr>(expr).getValue());
  }
  return access;
}

TypedAttr KernelSource::initialOf(linalg::GenericOp generic, unsigned output) const {
  auto fill = generic.getDpsInits()[output].getDefiningOp<linalg::FillOp>();
  Value initial = fill ? fill.getInputs()[0] : Value();
  // legalize-storage widens a bool with an op after the constant.
  auto widened = initial ? initial.getDefiningOp<arith::ExtUIOp>() : arith::ExtUIOp();
  auto constant = (widened ? widened.getIn() : initial).getDefiningOp<arith::ConstantOp>();
  if (!widened)
    return constant.getValue();
  APInt value = cast<IntegerAttr>(constant.getValue()).getValue();
  return IntegerAttr::get(widened.getType(), value.zext(widened.getType().getIntOrFloatBitWidth()));
}

int64_t KernelSource::transposedOperands() const {
  int64_t count = 0;
  for (linalg::GenericOp generic : generics)
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      AffineMap map = generic.getMatchingIndexingMap(operand);
      unsigned dims = map.getNumDims();
      count += dims >= 2 && map.getNumResults() >= 2 && map.isFunctionOfDim(dims - 1) &&
               map.getResults().back() == getAffineDimExpr(dims - 2, map.getContext());
    }
  return count;
}

bool KernelSource::holdsF64() const {
  bool found = false;
  auto is64 = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  function.walk([&](Operation *op) {
    found |= llvm::any_of(op->getResultTypes(), is64) || llvm::any_of(op->getOperandTypes(), is64);
  });
  return found;
}

SmallVector<int> dimsOf(linalg::GenericOp generic) { return GenericForm::read(generic).dims; }
SmallVector<std::string> combinersOf(linalg::GenericOp generic) { return GenericForm::read(generic).combiners; }

} // namespace halftone::compiler
