// The matrices of a recurrence kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/recurrence/RecurrencePlan.h"
#include "compiler/kernels/RecurrenceDims.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

bool isContraction(linalg::GenericOp generic) { return combinersOf(generic)[0] == "sum"; }

int64_t weightColumns(const KernelSource &source, const CpuTarget &target) {
  const MatmulSizes sizes(target, Float32Type::get(source.function.getContext()), productOf(source, target));
  return shapesOfEights(target, sizes).front().vectors * lanesOf(source, target);
}

static int64_t wordsOf(Value tensor) { return elementBytes(getElementTypeOrSelf(tensor)) > 4 ? 2 : 1; }

/// The dim of an output's columns; -1 if it has none.
static int columnDimOf(const KernelSource &source, OpResult result) {
  auto generic = cast<linalg::GenericOp>(result.getOwner());
  const TensorAccess access = source.accessOf(generic, *generic.getDpsInitOperand(result.getResultNumber()));
  return !access.dims.empty() && access.dims.back() >= recurrenceOuterDims ? access.dims.back() : -1;
}

/// The concat of which a tensor is a part, as its whole tensor.
static std::optional<TensorPart> partOf(Value tensor) {
  if (!tensor.hasOneUse())
    return std::nullopt;
  auto insert = dyn_cast<tensor::InsertSliceOp>(*tensor.user_begin());
  if (!insert || insert.getSource() != tensor)
    return std::nullopt;
  const auto start = dyn_cast<BlockArgument>(dyn_cast<Value>(insert.getMixedOffsets().back()));
  Value whole = insert.getResult();
  for (auto next = dyn_cast<tensor::InsertSliceOp>(*whole.user_begin()); next && next.getDest() == whole;
       next = dyn_cast<tensor::InsertSliceOp>(*whole.user_begin()))
    whole = next.getResult();
  return TensorPart{whole, start};
}

namespace {

class PlanReader {
public:
  PlanReader(const KernelSource &source, const CpuTarget &target) : source(source), target(target) {}

  FailureOr<RecurrencePlan> read() {
    if (source.dims < recurrenceOuterDims || source.form.lookupArguments < recurrenceArguments ||
        source.form.carries.size() % 2 != 0)
      return source.function.emitError() << "a recurrence kernel must have at least " << recurrenceOuterDims
                                         << " dims and " << recurrenceArguments
                                         << " lookup arguments, and halftone.carries of even length";
    if (failed(readCarries()))
      return failure();
    for (linalg::GenericOp generic : source.generics) {
      if (!isContraction(generic)) {
        llvm::for_each(generic.getResults(), [&](OpResult result) { addLocal(result); });
        continue;
      }
      if (generic.getNumDpsInputs() != 2 || !isa<BlockArgument>(generic.getDpsInputs()[1]))
        return generic.emitError("expected a contraction of two tensors, the right one an operand of the kernel");
      addProduct(generic);
    }
    return std::move(plan);
  }

private:
  LogicalResult readCarries() {
    const ArrayRef<int64_t> pairs = source.form.carries;
    const auto isIndex = [](int64_t index, size_t count) { return index >= 0 && size_t(index) < count; };
    for (size_t pair = 0; pair < pairs.size(); pair += 2) {
      if (!isIndex(pairs[pair], source.operands().size()) || !isIndex(pairs[pair + 1], source.results().size()))
        return source.function.emitError("expected halftone.carries to contain indices of operands and results");
      const auto result = dyn_cast<OpResult>(source.results()[size_t(pairs[pair + 1])]);
      if (!result || !isa<linalg::GenericOp>(result.getOwner()))
        return source.function.emitError("expected a generic that computes the next value of each carry");
      const BlockArgument operand = source.operands()[size_t(pairs[pair])];
      plan.carries.push_back({operand, result});
      for (const auto role : {RecurrenceMatrix::present, RecurrenceMatrix::next})
        plan.matrices.push_back({role, role == RecurrenceMatrix::present ? Value(operand) : Value(result), rowDim,
                                 columnDimOf(source, result), wordsOf(result)});
    }
    return success();
  }

  /// Results of the kernel are in memory, or are carries; parts of concats are in their concats.
  void addLocal(OpResult result) {
    if (llvm::is_contained(source.results(), result))
      return;
    if (const auto part = partOf(result)) {
      plan.parts[result] = *part;
      if (!llvm::is_contained(wholeTensors, part->whole)) {
        wholeTensors.push_back(part->whole);
        plan.matrices.push_back(
            {RecurrenceMatrix::local, part->whole, rowDim, columnsOfWhole(part->whole), wordsOf(part->whole)});
      }
      return;
    }
    plan.matrices.push_back({RecurrenceMatrix::local, result, rowDim, columnDimOf(source, result), wordsOf(result)});
  }

  /// The dim of a concat's columns, taken from the initial tensor.
  int columnsOfWhole(Value whole) {
    Value dest = whole;
    while (auto insert = dest.getDefiningOp<tensor::InsertSliceOp>())
      dest = insert.getDest();
    auto empty = dest.getDefiningOp<tensor::EmptyOp>();
    return int(cast<BlockArgument>(empty.getDynamicSizes().back()).getArgNumber());
  }

  void addProduct(linalg::GenericOp contraction) {
    const Value sums = contraction.getResult(0);
    const SmallVector<int> dims = dimsOf(contraction); // rows, columns, depth
    const Value lhs = contraction.getDpsInputs()[0];
    plan.matrices.push_back({RecurrenceMatrix::weights, sums, dims[2], dims[1], 1});
    const Type element = getElementTypeOrSelf(lhs);
    const bool hasPairs = productOf(source, target).group > 1;
    if (hasPairs || !element.isF32())
      plan.matrices.push_back({RecurrenceMatrix::packedRows, sums, rowDim, dims[2], 1});
    if (!hasPairs && (element.isF32() || element.isBF16())) // every f16 is normal in f32
      plan.matrices.push_back({RecurrenceMatrix::scaledRows, sums, rowDim, dims[2], 1});
    plan.matrices.push_back({RecurrenceMatrix::local, sums, rowDim, dims[1], 1});
  }

  const KernelSource &source;
  const CpuTarget &target;
  RecurrencePlan plan;
  SmallVector<Value> wholeTensors;
};

} // namespace

FailureOr<RecurrencePlan> RecurrencePlan::read(const KernelSource &source, const CpuTarget &target) {
  return PlanReader(source, target).read();
}

int64_t RecurrencePlan::scratchBytes(const KernelSource &source, ArrayRef<int64_t> extents,
                                     const CpuTarget &target) const {
  AttentionScratch scratch(source, target);
  scratch.add(1, 1); // the head
  const int64_t blockRows = extents[size_t(source.dims)];
  for (const RecurrenceMatrix &matrix : matrices) {
    const int64_t columns = matrix.columnDim < 0 ? 1 : extents[size_t(matrix.columnDim)];
    if (matrix.role == RecurrenceMatrix::weights)
      scratch.addPanels(scratch.padded(extents[size_t(matrix.rowDim)]), columns, weightColumns(source, target));
    else
      scratch.add(blockRows, columns * matrix.words);
  }
  return scratch.bytes;
}

} // namespace halftone::compiler
