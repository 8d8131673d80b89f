// The words in which emitters of all targets write code: constants, memory, loops and branches over emitted values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Emitted.h"
#include "llvm/ADT/SmallVector.h"

namespace halftone::compiler {

using Values = llvm::SmallVector<Emitted>;

/// The same as MLIR takes them.
llvm::SmallVector<mlir::Value> plain(llvm::ArrayRef<Emitted> values);

/// Bytes of an element in memory; a vector has the bytes of its elements' type.
int64_t elementBytes(mlir::Type type);

/// Adds ops at the place where it stands. Alignments are in bytes; 0 stands for the alignment of one element.
class CodeBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  CodeBuilder(const CodeBuilder &) = delete; // emitted values point to their builder
  CodeBuilder &operator=(const CodeBuilder &) = delete;

  Emitted wrap(mlir::Value value) { return {*this, value}; }
  Values wrapAll(mlir::ValueRange values);

  /// The type of extents, indices and offsets: i64, or i32 with `shortIndices`.
  mlir::IntegerType indexType() { return getIntegerType(shortIndices ? 32 : 64); }
  /// An integer of any width as an index that it fits. An integer narrower than an index must not be negative.
  Emitted asIndex(Emitted integer);
  /// An index as an i64.
  Emitted asLong(Emitted index) { return index.widenSigned(getI64Type()); }
  /// An index.
  Emitted constant(int64_t value);
  Emitted constant(mlir::TypedAttr value);
  Emitted zero(mlir::Type type) { return constant(getZeroAttr(type)); }
  /// `scalar` in all lanes; itself for 0 lanes or when it is a vector.
  Emitted splat(Emitted scalar, int64_t lanes);
  /// 0, 1, 2, ... as integers of type `element`.
  Emitted steps(mlir::Type element, int64_t lanes);
  /// `rows`, as many vectors as each has lanes, as the rows of a square: its columns.
  Values transpose(Values rows);

  /// The address `elements` elements after `pointer`.
  Emitted address(Emitted pointer, mlir::Type element, Emitted elements);
  Emitted load(mlir::Type type, Emitted pointer, int64_t alignment = 0);
  void store(Emitted value, Emitted pointer, int64_t alignment = 0);
  /// Lanes outside of `mask` are 0, and their memory is not touched.
  Emitted loadMasked(mlir::VectorType type, Emitted pointer, Emitted mask);
  void storeMasked(Emitted value, Emitted pointer, Emitted mask, int64_t alignment = 0);
  /// Asks for the cache line at `pointer`, to read it or to write it.
  void prefetch(Emitted pointer, bool toWrite);

  /// A loop from `begin` to `end` by `step`; `body` gets the index.
  void loop(Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body);
  /// One that carries values: `body` gets the index and the present values and returns the next. Returns the last.
  Values loop(Emitted begin, Emitted end, Emitted step, llvm::ArrayRef<Emitted> carried,
              llvm::function_ref<Values(Emitted, const Values &)> body);
  /// Code for either outcome of `condition`, an i1.
  void branch(Emitted condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr);
  /// The values that the code for either outcome returns; both return values of the same types.
  Values choose(Emitted condition, llvm::function_ref<Values()> then, llvm::function_ref<Values()> otherwise);

  bool shortIndices = false;
};

} // namespace halftone::compiler
