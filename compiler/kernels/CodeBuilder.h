// The builder with which emitters of all targets generate code: constants, memory accesses, loops and branches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Emitted.h"
#include "llvm/ADT/SmallVector.h"

namespace halftone::compiler {

using Values = llvm::SmallVector<Emitted>;

/// Converts to MLIR values.
llvm::SmallVector<mlir::Value> plain(llvm::ArrayRef<Emitted> values);

/// Bytes per element in memory; for a vector, those of its element type.
int64_t elementBytes(mlir::Type type);

/// Adds ops at the insertion point. Alignments are in bytes; 0 means the alignment of one element.
class CodeBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  CodeBuilder(const CodeBuilder &) = delete; // emitted values point to their builder
  CodeBuilder &operator=(const CodeBuilder &) = delete;
  virtual ~CodeBuilder() = default;

  Emitted wrap(mlir::Value value) { return {*this, value}; }

  /// The type of extents, indices and offsets: i64, or i32 with `shortIndices`.
  mlir::IntegerType indexType() { return getIntegerType(shortIndices ? 32 : 64); }
  /// Converts an integer of any width to an index, which must be able to represent it. An integer narrower than an
  /// index must not be negative.
  Emitted asIndex(Emitted integer);
  /// Converts an index to i64.
  Emitted asLong(Emitted index) { return index.widenSigned(getI64Type()); }
  /// A constant of the index type.
  Emitted constant(int64_t value);
  Emitted constant(mlir::TypedAttr value);
  Emitted zero(mlir::Type type) { return constant(getZeroAttr(type)); }
  /// Broadcasts `scalar` to all lanes; returns it unchanged for 0 lanes or if it is a vector.
  Emitted splat(Emitted scalar, int64_t lanes);
  /// The vector 0, 1, 2, ... with integer type `element`.
  Emitted steps(mlir::Type element, int64_t lanes);
  /// Transposes a square matrix: `rows` has as many vectors as each has lanes.
  Values transpose(Values rows);

  /// The address of the element `elements` elements after `pointer`.
  Emitted address(Emitted pointer, mlir::Type element, Emitted elements);
  Emitted load(mlir::Type type, Emitted pointer, int64_t alignment = 0);
  void store(Emitted value, Emitted pointer, int64_t alignment = 0);
  /// Lanes outside of `mask` are 0; their memory is not accessed.
  virtual Emitted loadMasked(mlir::VectorType type, Emitted pointer, Emitted mask);
  virtual void storeMasked(Emitted value, Emitted pointer, Emitted mask, int64_t alignment = 0);
  /// Prefetches the cache line at `pointer` for reading or writing.
  void prefetch(Emitted pointer, bool toWrite);

  /// A loop from `begin` to `end` by `step`; `body` receives the index.
  void loop(Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body);
  /// A loop that carries values: `body` receives the index and the current values and returns the next ones. Returns
  /// the final values.
  Values loop(Emitted begin, Emitted end, Emitted step, llvm::ArrayRef<Emitted> carried,
              llvm::function_ref<Values(Emitted, const Values &)> body);
  /// Emits a branch on `condition`, an i1.
  void branch(Emitted condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr);
  /// Emits a branch that yields values. Both sides return values of the same types.
  Values choose(Emitted condition, llvm::function_ref<Values()> then, llvm::function_ref<Values()> otherwise);

  bool shortIndices = false;
};

/// The inverse of plain().
Values wrapAll(CodeBuilder &code, mlir::ValueRange values);

} // namespace halftone::compiler
