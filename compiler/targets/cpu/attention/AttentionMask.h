// Tiles of an attention kernel in which no query sees a key.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/attention/AttentionTiles.h"

namespace halftone::compiler {

/// A tile of scores: `queries` indices from `firstQuery` on, and `keys` from `firstKey` on.
struct ScoreTile {
  Emitted firstQuery, queries, firstKey, keys;
};

/// Whether `scores`, of an attention kernel, have a mask besides `halftone.causal`.
bool hidesKeys(const KernelSource &source, mlir::linalg::GenericOp scores);

/// The mask of an attention kernel's scores; false if the form has none, or nothing but `halftone.causal`.
class AttentionMask {
public:
  /// `scores` makes scores of `products`.
  AttentionMask(const AttentionTiles &tiles, mlir::linalg::GenericOp scores, mlir::Value products);
  explicit operator bool() const { return isThere; }
  /// Whether a query of the tile sees a key of it.
  Emitted seesAny(const ScoreTile &tile) const;

private:
  bool dependsOn(mlir::Value value, int dim) const;
  Emitted seesAny(const ScoreTile &tile, Emitted keys, Emitted columns) const;

  const AttentionTiles &tiles;
  mlir::linalg::GenericOp scores;
  mlir::Value products;
  bool isThere = false, alongQueries = false, alongKeys = false;
};

} // namespace halftone::compiler
