// Tiles of an attention kernel in which every key is masked.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/attention/AttentionTiles.h"

namespace halftone::compiler {

/// A tile of scores: `queries` queries from `firstQuery` on, and `keys` keys from `firstKey` on.
struct ScoreTile {
  Emitted firstQuery, queries, firstKey, keys;
};

/// Returns true if `scores`, of an attention kernel, have a mask besides `halftone.causal`.
bool hidesKeys(const KernelSource &source, mlir::linalg::GenericOp scores);

/// The mask of an attention kernel's scores; false if the form has none besides `halftone.causal`.
class AttentionMask {
public:
  /// `scores` computes the scores from `products`.
  AttentionMask(const AttentionTiles &tiles, mlir::linalg::GenericOp scores, mlir::Value products);
  explicit operator bool() const { return exists; }
  /// Whether any query of the tile sees any of its keys.
  Emitted seesAny(const ScoreTile &tile) const;

private:
  bool dependsOn(mlir::Value value, int dim) const;
  Emitted seesAny(const ScoreTile &tile, Emitted keys, Emitted columns) const;

  const AttentionTiles &tiles;
  mlir::linalg::GenericOp scores;
  mlir::Value products;
  bool exists = false, alongQueries = false, alongKeys = false;
};

} // namespace halftone::compiler
