// The machine that kernels are compiled for: all that passes, forms and the kernel compiler may ask of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelDumps.h"
#include "compiler/kernels/MathTraits.h"
#include "compiler/kernels/RowTile.h"
#include "compiler/targets/Blocking.h"
#include "halftone/DType.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/base/Status.h"
#include "runtime/plan/Executable.h"
#include "llvm/IR/Module.h"
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace halftone::compiler {

/// The facts of one product of matrices that its instruction depends on.
struct MatmulTraits {
  DType lhs, rhs, accumulator;
  int64_t rows = 0, columns = 0, depth = 0; // M, N, K
  bool strict = false;
  bool splitDepth = false;    // K is more than one dim
  int64_t depthRun = 0;       // the extent of the last dim of K; 0 if an operand has another of these dims innermost
  bool computed = false;      // an operand passes through a prologue
  bool lhsAlongDepth = false; // K is the left operand's innermost axis
  bool panels = false;        // the right operand is kept in the panels that the instruction reads
  bool halfBytes = false;     // in such panels that hold two elements in a byte
  bool window = false;        // the left operand is a window of an image
  // Of a window that goes forward, without holes, along the last spatial axis: how many elements a row of taps has, how
  // far apart in memory the elements of one tap are at neighbouring places, and how many places a line of the image has.
  int64_t windowRun = 0, windowPitch = 0, windowLine = 0;
  int64_t windowChannels = 0; // of a window without holes along any axis
};

/// The extents of one `attention` (AttentionOp), and its dtype.
struct AttentionTraits {
  DType dtype;
  int64_t queries = 0, keys = 0, depth = 0, width = 0; // t, s, h, e
};

/// Queries and keys whose scores one step of an attention kernel makes. A block has the queries of one tile.
struct AttentionTile {
  int64_t queries = 0, keys = 0;
};

/// How a product is made, as the linalg form says it.
struct MatmulChoice {
  std::string_view instruction; // "": one multiply-add at a time, of factors widened to the accumulator's type
  bool fewRows = false;         // M is small: the right operand is read in place where its layout allows
  bool tallSums = false;        // sums of many rows and few columns are made at a time
  bool alongPlaces = false;     // a window's image has few channels: a tap of neighbouring places is packed at a time
  bool readsImage = false;      // elements of a window are read where the image lies, and its taps outside are left out
  bool evenDepth = false;       // K is even, which the instruction asks for: pairs of a row are neighbours in memory
  bool wholeRuns = false;       // vectors along K lie in one run of the last of its dims
  bool fixesTile = false;       // the code has the rows and columns of a tile, and steps along dims, as constants
};

/// Emitted code beside the function itself.
struct EmittedKernel {
  std::string method; // how the code computes, for reports
  LaunchShape launch;
};

/// A weight's layout for products of any number of rows: panels of `columns` columns, `group` neighbours along K
/// together.
struct WeightPanels {
  int64_t columns = 0, group = 0;
  int64_t bits = 0; // of an element; 0: those of its dtype
};

/// A kind of machine. Each kind has a folder in compiler/targets.
class Target {
public:
  /// "host" (this machine's CPU), "x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids", "graniterapids", any other
  /// "<triple>[:<cpu>]" that LLVM was built with, or "sm_80[:<multiprocessors>]" (NVIDIA GPUs). "emulated:" before the name of an x86 CPU: blocks
  /// and instructions of that CPU, less AMX, computed by those of this machine, slowly; so its code can be tried here.
  /// value_error listing the known names when `name` is none.
  static StatusOr<std::shared_ptr<const Target>> find(std::string_view name);
  /// Adds the dialects that belong to one kind of target, with their lowerings to LLVM IR.
  static void registerDialects(mlir::DialectRegistry &registry);
  virtual ~Target() = default;

  std::string name;      // as asked
  std::string processor; // LLVM's -mcpu: "znver4"
  MathTraits math;
  bool shortIndices = false; // i32 indices are faster than i64 ones

  /// All that decides which code a kernel becomes: part of every kernel's key.
  virtual std::string key() const = 0;
  virtual const Blocking &blocking() const = 0;
  virtual MatmulChoice chooseMatmul(const MatmulTraits &traits) const = 0;
  /// Whether a matmul reads its left operand through a window of an image in memory (`halftone.window`).
  virtual bool readsWindows() const { return false; }
  /// Whether a matmul of so many rows should read a right operand whose K is several axes, and lies in runs of `run` elements,
  /// as it is. Otherwise a transpose lays it out as a matrix first.
  virtual bool readsDepthInRuns(DType /*dtype*/, int64_t /*rows*/, int64_t /*run*/) const { return false; }
  /// Whether a convolution of this dtype, in groups of so many channels and filters, should be lowered to a sum of products,
  /// with lanes along the filters of one or several groups, and not to a contraction for each group.
  virtual bool sumsGroups(DType /*dtype*/, int64_t /*channels*/, int64_t /*filters*/) const { return false; }
  /// The tile of an attention kernel; nullopt where there is no code for one, or where two products with a softmax
  /// between them are as fast.
  virtual std::optional<AttentionTile> attentionTile(const AttentionTraits & /*traits*/) const { return std::nullopt; }
  /// The layout of a weight, K x N along whichever axes, for the matmuls that read it as their right operand, where
  /// that makes their products faster. A function of dtype, extents and target alone, so that all batches share the
  /// copy; nullopt: row-major.
  virtual std::optional<WeightPanels> weightPanels(bool strict, DType weight, int64_t k, int64_t n) const = 0;
  /// The same of a weight of integers of four bits that values of dtype `lhs` are multiplied by: two in a byte.
  virtual std::optional<WeightPanels> halfBytePanels(DType /*lhs*/, int64_t /*k*/, int64_t /*n*/) const {
    return std::nullopt;
  }
  /// How the threads of a block share rows in the code of `kernel`, a linalg form of a row or finish kernel, at these
  /// extents; nullopt on targets where one thread computes a block.
  virtual std::optional<RowTile> rowTile(mlir::func::FuncOp /*kernel*/, llvm::ArrayRef<int64_t> /*extents*/) const {
    return std::nullopt;
  }
  /// Bytes of scratch per thread, on a GPU per block, that the code of `kernel` uses at these extents. `kernel` is a linalg
  /// form, legalized or not.
  virtual int64_t scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const = 0;

  /// Replaces `kernel`, a linalg form after legalize-storage (docs/kernel-form.md), by its code: a function of the same
  /// name, of ops that the vocabulary of kernels' code has (checkVocabulary) and of math that expand-math knows. On
  /// failure a diagnostic says which part of the kernel has no code.
  virtual mlir::FailureOr<EmittedKernel> emit(mlir::func::FuncOp kernel) const = 0;
  /// The ops, by full name, that only this target's code may hold: its functions, and its instructions.
  virtual llvm::ArrayRef<llvm::StringLiteral> vocabulary() const = 0;
  /// The bytes that a device loads, of code in LLVM IR. `dumps`, unless null, gets llvm and assembly.
  virtual StatusOr<std::string> makeCode(llvm::Module &module, KernelDumps *dumps) const = 0;
};

} // namespace halftone::compiler
