// The facts of kernels that a target asks for: what its schedules, blocks and layouts depend on.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Numerics.h"
#include "halftone/DType.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <limits>
#include <variant>

namespace halftone::compiler {

/// Rows and columns of the output that one block of a matmul kernel computes. The last block along an axis may be
/// smaller.
struct MatmulTile {
  int64_t m = 0, n = 0;
};

/// A product of matrices.
struct MatmulTraits {
  DType lhs, rhs, accumulator;
  int64_t rows = 0, columns = 0, depth = 0; // M, N, K
  int64_t batch = 1;                        // how many such products there are
  Numerics numerics = Numerics::fast();
  bool splitDepth = false;    // K is more than one dim
  int64_t depthRun = 0;       // the extent of the last dim of K; 0 if an operand has another of these dims innermost
  bool computed = false;      // an operand passes through a prologue
  bool lhsAlongDepth = false; // K is the left operand's innermost axis
  bool vanishes = false;      // a loop stacked the right operand, whose elements may become subnormal over the steps
  bool panels = false;        // the right operand is packed in panels (#halftone.panels)
  bool halfBytes = false;     // the panels hold elements of four bits, two in a byte
  bool window = false;        // the left operand is a window of an image
  // Of a window that goes forward, without holes, along the last spatial axis: how many elements a row of taps has, how
  // far apart in memory the elements of one tap are at neighbouring positions, and how many positions a line of the image has.
  int64_t windowRun = 0, windowPitch = 0, windowLine = 0;
  int64_t windowChannels = 0; // of a window without holes along any axis
  // Set only for a schedule: the tile of the kernel, and for each dim the largest power of two, up to 16, that divides its extent.
  MatmulTile tile = {};
  llvm::SmallVector<int64_t, 4> divisors = {};
};

/// The extents of one `attention` (AttentionOp) or of its gradient, and its dtype.
struct AttentionTraits {
  DType dtype;
  int64_t queries = 0, keys = 0, depth = 0, width = 0; // t, s, h, e
  bool isGradient = false;                             // of an `attention_grad`
};

/// Queries and keys whose scores one step of an attention kernel makes. A block has the queries of one tile.
struct AttentionTile {
  int64_t queries = 0, keys = 0;
};

/// A convolution in groups as a reduction loop.
struct GroupedTraits {
  DType dtype;                       // of the image
  int64_t filters = 0, channels = 0; // of a group
  int64_t channelDim = -1;           // the dim of the channels; -1: there is none
};

/// The steps of a loop whose bodies treat the rows of a batch apart.
struct RecurrenceTraits {
  DType factors = DType::float32; // of the contractions: bfloat16 if all of them are
  int64_t rows = 0, contractions = 0;
  int64_t columns = std::numeric_limits<int64_t>::max(); // the least extent of a carry behind that of the rows
  int64_t weights = 0;                                   // elements of the contractions' right operands, all together
};

/// A row or finish kernel whose linalg form is written, at these extents.
struct RowTraits {
  mlir::func::FuncOp kernel;
  llvm::ArrayRef<int64_t> extents;
};

/// What the schedule of a kernel depends on (Target::schedule).
using KernelTraits = std::variant<MatmulTraits, AttentionTraits, GroupedTraits, RecurrenceTraits, RowTraits>;

} // namespace halftone::compiler
