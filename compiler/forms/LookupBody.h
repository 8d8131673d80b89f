// Reads at computed indices in the body of a generic, for the nodes that a LookupReader creates.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/ValueGraph.h"

namespace halftone::compiler {

class GenericBody;

/// Emits the row-major index into the flat tensor, and the read. `body` emits the indices that are values, and provides
/// the extents and starts of axes.
class LookupBody {
public:
  explicit LookupBody(GenericBody &body) : body(body) {}

  /// Declares that `node` reads `tensor`, which is flat.
  void add(ValueNode *node, mlir::Value tensor) { lookedUp[node] = tensor; }
  /// Clamps `value`, an i64, to [0, lookup argument `argument`).
  mlir::Value clamped(mlir::Value value, int argument);
  /// The element at the position of `node`, a lookup, in its stored type.
  mlir::Value element(ValueNode *node);
  /// The element that `node`, a concat, takes from one of its inputs, in its stored type.
  mlir::Value concat(ValueNode *node);

private:
  mlir::Value indexOf(const LookupAxis &axis, mlir::Value &inside);

  GenericBody &body;
  std::map<ValueNode *, mlir::Value> lookedUp;
};

} // namespace halftone::compiler
