// Helpers for plan drafts: descriptions of collectives, bytes of constants, steps that exclude each other.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/AssignSlotsDraft.h"
#include "dialect/TypeInference.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

static std::vector<std::vector<int64_t>> offsetsOf(ArrayAttr attribute) {
  std::vector<std::vector<int64_t>> offsets;
  for (Attribute own : attribute) {
    const ArrayRef<int64_t> list = cast<DenseI64ArrayAttr>(own).asArrayRef();
    offsets.emplace_back(list.begin(), list.end());
  }
  return offsets;
}

bool PlanDraft::exclude(const DraftStep &a, const DraftStep &b) const {
  if (!a.predicate || !b.predicate)
    return false;
  const auto areExclusive = [&](const BufferPredicate &one, const BufferPredicate &other) {
    return one.value == other.value ? one.negated != other.negated
                                    : buffers[one.value].restOf == other.value && !one.negated && !other.negated;
  };
  return areExclusive(*a.predicate, *b.predicate) || areExclusive(*b.predicate, *a.predicate);
}

CollectiveStep describe(Operation *op) {
  using Kind = halftone::CollectiveKind;
  return llvm::TypeSwitch<Operation *, CollectiveStep>(op)
      .Case([](AllReduceOp reduce) {
        return CollectiveStep{.kind = reduce.getKind() == dialect::CollectiveKind::sum ? Kind::sum : Kind::max};
      })
      .Case([](ReduceScatterOp scatter) {
        return CollectiveStep{.kind = Kind::scattered_sum,
                              .offsets = offsetsOf(scatter.getBorders()),
                              .rank = static_cast<int64_t>(scatter.getRank())};
      })
      .Case([](AllGatherOp gather) {
        return CollectiveStep{.kind = Kind::gather,
                              .offsets = offsetsOf(gather.getBorders()),
                              .rank = static_cast<int64_t>(gather.getRank())};
      });
}

Value reshapedFrom(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

Status cannotAssign(const llvm::Twine &message) {
  return Status(ErrorKind::internal_error, ("assign-slots: " + message).str());
}

StatusOr<TensorType> bufferType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto dtype = tensor ? dtypeOf(tensor.getElementType()) : std::nullopt;
  if (!dtype)
    return cannotAssign("expected every value to be a tensor of a known dtype");
  std::vector<int64_t> dims(tensor.getShape().begin(), tensor.getShape().end());
  if (auto panels = PanelsAttr::of(type); panels && panels.getBits() != 0)
    dims[size_t(panels.getDepth())] /= 2; // two elements per byte
  return TensorType{*dtype, std::move(dims)};
}

std::string bytesOf(DenseElementsAttr elements) {
  std::string bytes;
  auto append = [&](const llvm::APInt &value, unsigned width) {
    uint64_t bits = value.getZExtValue();
    for (unsigned byte = 0; byte < width; ++byte)
      bytes.push_back(static_cast<char>(bits >> (8 * byte)));
  };
  unsigned width = (elements.getElementType().getIntOrFloatBitWidth() + 7) / 8;
  if (isa<FloatType>(elements.getElementType()))
    for (const llvm::APFloat &value : elements.getValues<llvm::APFloat>())
      append(value.bitcastToAPInt(), width);
  else
    for (const llvm::APInt &value : elements.getValues<llvm::APInt>())
      append(value, width);
  return bytes;
}

} // namespace halftone::compiler
