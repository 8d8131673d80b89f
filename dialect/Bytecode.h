// The dialect version in bytecode.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Bytecode/BytecodeImplementation.h"
#include <cstdint>

namespace halftone::dialect {

/// The dialect version as stored in bytecode. It increases with each change after which an older file would be misread.
/// Readers accept their own version and all earlier ones; they refuse a newer one.
struct BytecodeVersion : mlir::DialectVersion {
  /// From this version on the tile of a `contract` is a property. Before, it was the discardable attribute
  /// `halftone.tile`.
  static constexpr uint64_t tileIsProperty = 2;
  /// From this version on `gather` and `scatter_add` have batch axes, and `cumsum` has a kind. Before, there were no
  /// batch axes, and each cumsum was a sum.
  static constexpr uint64_t lookupsHaveBatches = 3, cumsumHasKind = 3;
  static constexpr uint64_t current = cumsumHasKind;

  explicit BytecodeVersion(uint64_t number) : number(number) {}
  uint64_t number;

  /// The version of the file being read: 1 if the file does not state it.
  static uint64_t of(const mlir::DialectBytecodeReader &reader);
  /// The version to write: the current one, unless a BytecodeWriterConfig sets another.
  static uint64_t of(const mlir::DialectBytecodeWriter &writer);
};

/// The interface that writes and reads the version, and upgrades modules of earlier versions.
std::unique_ptr<mlir::DialectInterface> bytecodeInterface(mlir::Dialect *dialect);

} // namespace halftone::dialect
