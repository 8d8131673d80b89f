// The facts of a kernel on which the target's schedules, blocks and layouts depend.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Numerics.h"
#include "halftone/DType.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <limits>
#include <variant>

namespace halftone::compiler {

/// The rows and columns of the output that one block of a matmul kernel computes. The last block along an axis may be
/// smaller.
struct MatmulTile {
  int64_t m = 0, n = 0;
};

/// A matrix product.
struct MatmulTraits {
  DType lhs, rhs, accumulator;
  int64_t rows = 0, columns = 0, depth = 0; // M, N, K
  int64_t batch = 1;                        // the number of products
  Numerics numerics = Numerics::fast();
  bool splitDepth = false;    // K is more than one dim
  int64_t depthRun = 0;       // the extent of the last dim of K; 0 if an operand has another dim of K innermost
  bool computed = false;      // an operand has a prologue
  bool lhsAlongDepth = false; // K is the left operand's innermost axis
  bool vanishes = false;      // a loop stacked the right operand; its elements may become subnormal over the steps
  bool panels = false;        // the right operand is packed in panels (#halftone.panels)
  bool halfBytes = false;     // the panels hold packed int4 elements, two per byte
  bool window = false;        // the left operand is a window of an image
  // For a window with positive strides and without base dilation along the last spatial axis: the number of elements in
  // a row of taps, the distance in memory between the elements of one tap at adjacent positions, and the positions per
  // line.
  int64_t windowRun = 0, windowPitch = 0, windowLine = 0;
  int64_t windowChannels = 0; // of a window without base dilation
  // Set only for a schedule: the tile of the kernel, and for each dim the largest power of two up to 16 that divides
  // its extent.
  MatmulTile tile = {};
  llvm::SmallVector<int64_t, 4> divisors = {};
};

/// The extents and the dtype of an `attention` (AttentionOp) or of its gradient.
struct AttentionTraits {
  DType dtype;
  int64_t queries = 0, keys = 0, depth = 0, width = 0; // t, s, h, e
  bool isGradient = false;                             // of an `attention_grad`
};

/// The queries and keys whose scores one step of an attention kernel computes. A block has the queries of one tile.
struct AttentionTile {
  int64_t queries = 0, keys = 0;
};

/// A grouped convolution as a reduction loop.
struct GroupedTraits {
  DType dtype;                       // of the image
  int64_t filters = 0, channels = 0; // per group
  int64_t channelDim = -1;           // the dim of the channels, or -1
};

/// A loop whose steps treat the rows of a batch independently.
struct RecurrenceTraits {
  DType factors = DType::float32; // of the contractions: bfloat16 only if all of them are
  int64_t rows = 0, contractions = 0;
  int64_t columns = std::numeric_limits<int64_t>::max(); // the least extent of a carry after the rows
  int64_t weights = 0;                                   // total elements of the contractions' right operands
};

/// A row or finish kernel whose linalg form exists, with its extents.
struct RowTraits {
  mlir::func::FuncOp kernel;
  llvm::ArrayRef<int64_t> extents;
};

/// The facts on which the schedule of a kernel depends (Target::schedule).
using KernelTraits = std::variant<MatmulTraits, AttentionTraits, GroupedTraits, RecurrenceTraits, RowTraits>;

} // namespace halftone::compiler
