// CPUs as targets: the facts on which emitters depend.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "compiler/targets/cpu/CpuBlocking.h"
#include "compiler/targets/cpu/CpuLowerings.h"
#include <vector>

namespace halftone::compiler {
struct ProductRow;

/// A 64-bit, little-endian CPU with ELF objects. A CPU without a table row gets generic vectors.
struct CpuTarget : Target, private CpuBlocking, private CpuLowerings {
  std::string triple;           // LLVM's
  std::string features;         // LLVM's -mattr; with triple and processor, part of every kernel's key
  int64_t vectorBytes = 16;     // size of the preferred vector register
  bool hasMaskedMemory = false; // cheap masked loads and stores (AVX-512)
  bool hasStreaming = false;    // non-temporal stores of whole aligned vectors (x86)
  int64_t vectorRegisters = 16;
  std::vector<const ProductRow *> products; // the available ones (matmul/Products.h), in order of preference
  /// The processor that these facts describe, if its instructions are emulated; the code is then for this machine,
  /// which `triple`, `processor` and `features` describe. "" if none is emulated.
  std::string emulated;

  std::string key() const override; // triple, processor and features, and the name of the emulated CPU
  const Blocking &blocking(Numerics /*numerics*/) const override { return *this; }
  const Lowerings &lowerings() const override { return *this; }
  ScheduleAttrInterface schedule(mlir::MLIRContext *context, const KernelTraits &traits) const override;
  int64_t scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const override;
  mlir::FailureOr<EmittedKernel> emit(mlir::func::FuncOp kernel) const override;
  llvm::ArrayRef<llvm::StringLiteral> legalOps() const override;
  StatusOr<std::unique_ptr<MachineCode>> machine() const override;
  StatusOr<std::string> makeCode(llvm::Module &module, MachineCode &machine, KernelDumps *dumps) const override;

  /// As Target::registerDialects.
  static void registerDialects(mlir::DialectRegistry &registry);
  /// As Target::find.
  static StatusOr<CpuTarget> find(std::string_view name);

private:
  const CpuTarget &target() const override { return *this; }
};

} // namespace halftone::compiler
