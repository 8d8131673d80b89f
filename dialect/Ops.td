// All ops, with one file per family.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS
#define HALFTONE_OPS

include "ops/Scope.td"
include "ops/State.td"
include "ops/Cast.td"
include "ops/Elementwise.td"
include "ops/Contraction.td"
include "ops/Attention.td"
include "ops/Convolution.td"
include "ops/Reduction.td"
include "ops/Shape.td"
include "ops/Indexing.td"
include "ops/Sorting.td"
include "ops/Launch.td"
include "ops/Loop.td"
include "ops/Collective.td"

#endif // HALFTONE_OPS
