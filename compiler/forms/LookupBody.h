// Reads from computed places in the body of a generic, from nodes that a LookupReader makes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/ValueGraph.h"

namespace halftone::compiler {

class GenericBody;

/// Emits the index of each place, row-major in a flat tensor, and the read; `body` emits the indices that are values, and
/// has the extents and starts of axes.
class LookupBody {
public:
  explicit LookupBody(GenericBody &body) : body(body) {}

  /// `node` is looked up in `tensor`, which is flat.
  void add(ValueNode *node, mlir::Value tensor) { lookedUp[node] = tensor; }
  /// `value`, an i64, in [0, number `number` of the graph).
  mlir::Value clamped(mlir::Value value, int number);
  /// The element at the position of `node`, a lookup, as stored.
  mlir::Value element(ValueNode *node);
  /// The element that `node`, a piece, takes of its inputs, as stored.
  mlir::Value piece(ValueNode *node);

private:
  mlir::Value indexOf(const LookupAxis &axis, mlir::Value &inside);

  GenericBody &body;
  std::map<ValueNode *, mlir::Value> lookedUp;
};

} // namespace halftone::compiler
