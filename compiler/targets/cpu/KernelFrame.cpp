// Creates the function around a kernel's blocks on CPUs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/KernelFrame.h"
#include "compiler/targets/cpu/MaskedMemory.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace halftone::compiler {
using namespace mlir;

int64_t lanesOf(const KernelSource &source, const CpuTarget &target) {
  return std::max<int64_t>(1, target.vectorBytes / (source.holdsF64() ? 8 : 4));
}

KernelFrame::KernelFrame(const KernelSource &source, const CpuTarget &target)
    : BlockFrame(source), target(target), lanes(lanesOf(source, target)) {
  Type pointer = LLVM::LLVMPointerType::get(getContext()), i64 = getI64Type();
  code = func::FuncOp::create(*this, source.function.getSymName(),
                              getFunctionType({pointer, pointer, i64, i64, pointer}, {}));
  Block *entry = code.addEntryBlock();
  setInsertionPointToStart(entry);
  blockBegin = wrap(entry->getArgument(2));
  blockEnd = wrap(entry->getArgument(3));
  scratch = wrap(entry->getArgument(4));
  Values values;
  for (unsigned position = 0; position < source.indexArguments; ++position)
    values.push_back(load(i64, address(wrap(entry->getArgument(1)), i64, constant(position))));
  bind(std::move(values), [&](unsigned position) {
    return load(pointer, address(wrap(entry->getArgument(0)), pointer, constant(position)));
  });
}

KernelFrame::~KernelFrame() {
  if (code)
    code.erase();
}

Values KernelFrame::call(const Core &core, ArrayRef<Emitted> arguments, TypeRange results) {
  return wrapAll(*this, callCore(*this, core, plain(arguments), results, code, cores));
}

/// AVX has masked loads and stores of 32 and 64 bits.
bool KernelFrame::hasMaskedInstructions(VectorType type) const {
  return target.hasMaskedMemory || (target.vectorBytes >= 32 && type.getElementTypeBitWidth() >= 32);
}

Emitted KernelFrame::loadMasked(VectorType type, Emitted pointer, Emitted mask) {
  if (hasMaskedInstructions(type))
    return BlockFrame::loadMasked(type, pointer, mask);
  const Type element = type.getElementType(), bits = getIntegerType(type.getElementTypeBitWidth());
  return call(maskedLoadCore(type), {pointer, mask}, type.clone(bits))[0].bitsAs(element);
}

void KernelFrame::storeMasked(Emitted value, Emitted pointer, Emitted mask, int64_t alignment) {
  const auto type = cast<VectorType>(value.type());
  if (hasMaskedInstructions(type))
    BlockFrame::storeMasked(value, pointer, mask, alignment);
  else
    call(maskedStoreCore(type), {pointer, mask, value.bits()});
}

void KernelFrame::finish() {
  func::ReturnOp::create(*this);
  source.function.erase();
  code = {};
}

} // namespace halftone::compiler
