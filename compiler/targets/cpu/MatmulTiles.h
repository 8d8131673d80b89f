// Products by AMX.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/MatmulPack.h"

namespace halftone::compiler {

/// Multiplies operands packed in groups by tiles of 16 x 16 sums, two by two.
class MatmulTiles {
public:
  MatmulTiles(const MatmulBlock &block, const MatmulPacking &packing)
      : block(block), packing(packing), frame(block.frame), lanes(block.sizes.lanes) {}

  /// The tiles' shapes, once for each call of the kernel.
  void configure() const;
  void release() const;
  /// The sums of the whole tile of the block.
  void multiply(const MatmulDepth &depth) const;

private:
  /// Neighbouring AMX tiles of sums: `down` x `across` from `row` and `column` on.
  struct Sums {
    Emitted row, column;
    int64_t down, across;
  };
  /// An instruction of AMX; `tiles` are the numbers of its tiles.
  void instruction(llvm::StringRef what, llvm::ArrayRef<int64_t> tiles, llvm::ArrayRef<Emitted> operands) const;
  void multiplySums(const Sums &sums, const MatmulDepth &depth) const;
  /// Runs `body` for each AMX tile of sums, with the address of its memory.
  void forTiles(const Sums &sums, llvm::function_ref<void(int64_t tile, Emitted at)> body) const;
  void inPairs(Emitted count, llvm::function_ref<void(Emitted, int64_t)> body) const;

  const MatmulBlock &block;
  const MatmulPacking &packing;
  KernelFrame &frame;
  int64_t lanes;
};

} // namespace halftone::compiler
