// The version of the dialect that bytecode carries.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Bytecode/BytecodeImplementation.h"
#include <cstdint>

namespace halftone::dialect {

/// A version of the dialect as bytecode has it. It grows with each change after which a file from before would be read
/// as something else. Readers take their own version and all before; they refuse one that is newer.
struct BytecodeVersion : mlir::DialectVersion {
  /// From this version on the tile of a `contract` is a property. Before, it was the discardable attribute
  /// `halftone.tile`.
  static constexpr uint64_t tileIsProperty = 2;
  /// From this version on `gather` and `scatter_add` have batch axes, and a `cumsum` a kind. Before, there were none, and
  /// each cumsum was of sums.
  static constexpr uint64_t lookupsHaveBatches = 3, cumsumHasKind = 3;
  static constexpr uint64_t current = cumsumHasKind;

  explicit BytecodeVersion(uint64_t number) : number(number) {}
  uint64_t number;

  /// The version of the file that is read: 1 if the file does not tell.
  static uint64_t of(const mlir::DialectBytecodeReader &reader);
  /// The version that is written: the present one, unless a BytecodeWriterConfig sets another.
  static uint64_t of(const mlir::DialectBytecodeWriter &writer);
};

/// The interface that writes and reads the version, and upgrades modules of a version before.
std::unique_ptr<mlir::DialectInterface> bytecodeInterface(mlir::Dialect *dialect);

} // namespace halftone::dialect
