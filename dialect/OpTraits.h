// Marker traits of ops: properties of each op of a class, independent of its attributes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/OpDefinition.h"

namespace halftone::dialect {

// ComputeOpInterface defines their meaning.
template <class Op> class Inexact : public mlir::OpTrait::TraitBase<Op, Inexact> {};
template <class Op> class AlwaysCloned : public mlir::OpTrait::TraitBase<Op, AlwaysCloned> {};
template <class Op> class KeepsDtype : public mlir::OpTrait::TraitBase<Op, KeepsDtype> {};
template <class Op> class Decision : public mlir::OpTrait::TraitBase<Op, Decision> {};

/// The op has no gradient, or cannot be tested by itself against the interpreter. The op's definition states the
/// reason.
template <class Op> class NoGradient : public mlir::OpTrait::TraitBase<Op, NoGradient> {};
template <class Op> class NotComparedAlone : public mlir::OpTrait::TraitBase<Op, NotComparedAlone> {};

} // namespace halftone::dialect
