// The matmul emitter's state, shared by its three parts: packing, the multiplication, the epilogue.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Emitted.h"
#include "compiler/kernels/ScalarBody.h"
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/MatmulInstruction.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include <array>
#include <functional>
#include <optional>

namespace halftone::compiler {

/// Sizes of the micro-kernels, whose sums are in registers. Columns are done in panels of `vectors` vectors, the
/// rest of them vector by vector; rows in groups as large as the registers hold, the rest in smaller ones. `depth`
/// is how many indices of K are packed at a time.
struct MatmulSizes {
  int64_t lanes, vectors;
  llvm::SmallVector<int64_t, 3> panelRows, vectorRows; // descending, the last is 1
  int64_t depth = 256;                                 // at most
  int64_t rowStep = 1;                                 // sums are made for a multiple of it
  static constexpr int64_t sumsInFlight = 8;           // two multiply-adds a cycle, each of four cycles
  int64_t columns() const { return lanes * vectors; }
  MatmulSizes(const CpuTarget &cpu, mlir::linalg::GenericOp contraction, llvm::StringRef instruction);
};

/// Scratch of one tile, in elements of the accumulator: packed A, packed B, sums, and a square of lanes for
/// transposing with a line for the values that packing A watched. Before them stands, in eight bytes, which tile's A is
/// packed: batch * row tiles + row tile + 1.
struct MatmulScratch {
  static constexpr int64_t headBytes = 64;
  int64_t a, b, sums, square; // elements
  MatmulScratch(const MatmulSizes &sizes, int64_t tileRows, int64_t tileColumns);
};

enum MatmulRole { batchRole, rowRole, columnRole, depthRole };

/// Where code being emitted stands: an index for each role (the first lane's, when the role is that of the lanes).
struct MatmulPlace {
  std::array<Emitted, 4> linear;
  llvm::SmallVector<Emitted> index; // of each kernel dim
  std::optional<MatmulRole> laneRole;
  Emitted start, count; // with lanes: the first lane's index within the tile, and how many there are in the tile
  bool whole = false;   // all lanes are within the tile
};

/// The operands of a micro-kernel.
struct MatmulFactors {
  Emitted a, rowPitch, depthPitch; // A's element [row][k] is at a + row * rowPitch + k * depthPitch
  std::function<mlir::FailureOr<llvm::SmallVector<mlir::Value>>(Emitted k)> b; // B's vectors of row k
};

/// Where a micro-kernel's sums are: those of one row are contiguous.
struct MatmulSums {
  Emitted at, pitch;
  bool aligned = true;
};

class MatmulEmitter {
public:
  MatmulEmitter(const KernelSource &source, const CpuTarget &cpu, mlir::OpBuilder &builder);
  /// Returns how the product is made.
  mlir::FailureOr<std::string> emit();

private:
  using Lanes = llvm::SmallVector<mlir::Value>;

  // Matmul.cpp
  mlir::LogicalResult readSource();
  mlir::LogicalResult begin();
  mlir::LogicalResult emitBlock(Emitted block);
  std::string method(); // for reports
  void emitMultiplication(Emitted firstDepth, Emitted depth);
  void emitPanels(Emitted firstDepth, Emitted depth);
  void emitColumns(Emitted begin, Emitted end, int64_t vectors, Emitted firstDepth, Emitted depth);
  /// Packs the panel at `column`, multiplying the first `count` rows meanwhile where there are so many; how many were.
  Emitted emitFirstRows(int64_t count, int64_t vectors, MatmulFactors factors, Emitted column, Emitted firstDepth,
                        Emitted depth);
  void emitRows(llvm::ArrayRef<int64_t> counts, Emitted begin, int64_t vectors, const MatmulFactors &factors,
                Emitted column, Emitted firstDepth, Emitted depth);
  /// The sums of some rows, with those of earlier parts of K.
  Lanes multiplyRows(int64_t rows, int64_t vectors, const MatmulFactors &factors, Emitted row, Emitted column,
                     Emitted firstDepth, Emitted depth);
  void emitMicroKernel(int64_t rows, int64_t vectors, const MatmulFactors &factors, Emitted row, Emitted column,
                       Emitted firstDepth, Emitted depth);
  void storeSums(const Lanes &sums, int64_t vectors, Emitted row, Emitted column);

  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);

  // MatmulDots.cpp: rows of A times rows of a transposed B, both read along K where they are
  bool takesDots();
  void emitDots(Emitted firstDepth, Emitted depth);

  // MatmulPack.cpp
  bool lanesAlongDepth(int side); // of the operand's packing
  bool packsRowsAlongDepth() { return isOfTiles(instruction) || lanesAlongDepth(0); }
  /// A is stored in the accumulator's type, or in pairs along K, so that its elements can be read where they are.
  bool readsRowsInPlace();
  /// B is read where it is: it comes packed, or its rows are used too seldom.
  bool readsColumnsInPlace() { return panels || takesDots() || (fewRows && groupSize == 1 && !lanesAlongDepth(1)); }
  /// B is packed one panel at a time, just before it is multiplied or, where lanes run along columns, with the first
  /// rows.
  bool packsPanels() { return groupSize == 1 && !readsColumnsInPlace(); }
  MatmulFactors rowFactors(Emitted firstDepth);
  std::function<mlir::FailureOr<Lanes>(Emitted)> columnFactors(Emitted column, int64_t vectors, Emitted firstDepth);
  /// B's vectors where they are, and with packsPanels() a copy of them in its panel.
  std::function<mlir::FailureOr<Lanes>(Emitted)> packingFactors(Emitted column, int64_t vectors, Emitted firstDepth);
  mlir::LogicalResult pack(int side, Emitted firstDepth, Emitted depth);
  mlir::LogicalResult packRowsAlongDepth(Emitted firstDepth, Emitted depth);
  mlir::LogicalResult packAcross(int side, Emitted firstDepth, Emitted depth);
  /// Where a vector of packed B's columns begins, and the pitch of its groups, in elements; `first` is the first
  /// column that is packed.
  std::pair<Emitted, Emitted> packedColumns(Emitted column, Emitted first);
  mlir::LogicalResult packColumnsTransposed(Emitted begin, Emitted end, Emitted firstDepth, Emitted depth);
  /// The operand's elements at `place`, through its prologue: as they are stored, and in the accumulator's type.
  mlir::FailureOr<mlir::Value> storedFactor(int side, const MatmulPlace &place);
  mlir::FailureOr<mlir::Value> factor(int side, const MatmulPlace &place);
  void storePacked(mlir::Value lanes, Emitted pointer);
  /// A loop that carries `watched` too.
  Lanes watchingLoop(Emitted begin, Emitted end, Emitted step, Lanes carried,
                     const std::function<Lanes(Emitted, Lanes)> &body);
  void packingLoop(Emitted begin, Emitted end, Emitted step, const std::function<void(Emitted)> &body);
  Lanes transpose(Lanes rows);

  // MatmulGroups.cpp: products that take several indices of K at once
  mlir::LogicalResult readInstruction();
  bool hasBiasRow() { return instruction == MatmulInstruction::vpdpbusd; }
  /// How many groups make K.
  Emitted groups() { return ceilDivide(size[depthRole], number(groupSize)); }
  bool readsRowPairsInPlace();
  mlir::LogicalResult watchRows(Emitted firstDepth, Emitted depth);
  void packBias(Emitted depth);
  /// 16 neighbouring groups along K of an operand; groups past K are 0.
  mlir::FailureOr<mlir::Value> groupsAlongDepth(int side, MatmulPlace place, Emitted group);
  /// One group of each of 16 neighbouring rows of A or columns of B.
  mlir::FailureOr<mlir::Value> groupsAcross(int side, MatmulPlace place, Emitted group);
  mlir::Value multiplyGroups(mlir::Value sums, mlir::Value a, mlir::Value b);
  Lanes nothingWatched();
  void watch(mlir::Value groups);
  Emitted sawSubnormal();

  // MatmulPanels.cpp: a right operand that is kept packed
  mlir::LogicalResult readPanels();
  std::function<mlir::FailureOr<Lanes>(Emitted)> panelFactors(Emitted column, int64_t vectors, Emitted firstDepth);
  /// Nobody has looked for subnormal numbers in a right operand that came packed: the first rows' multiplication does.
  bool watchesPanels() { return panels && groupSize == 2 && !widens; }
  void emitWatchingRows(llvm::ArrayRef<int64_t> counts, int64_t vectors, const MatmulFactors &factors, Emitted column,
                        Emitted firstDepth, Emitted depth);

  // MatmulTiles.cpp: products of tiles
  /// An instruction of AMX; `numbers` are those of its tiles.
  void tileInstruction(llvm::StringRef what, llvm::ArrayRef<int64_t> numbers, llvm::ArrayRef<Emitted> operands);
  void configureTiles();
  void releaseTiles();
  mlir::LogicalResult packRowsTurned(Emitted firstDepth, Emitted depth);
  void packZerosPastDepth(Emitted depth); // of B
  void emitTiles(Emitted firstDepth, Emitted depth);
  void emitTileKernel(Emitted row, int64_t down, Emitted column, int64_t across, Emitted firstDepth, Emitted depth);

  // MatmulEpilogue.cpp
  /// The epilogue copies: sums of whole panels are made in the result.
  bool sumsAreResult();
  MatmulSums sumsFrom(Emitted row, Emitted column, int64_t vectors);
  mlir::LogicalResult emitEpilogue();
  /// Asks for the lines of the full results at the row, to write them: a weight's may be in the cache of a core that
  /// read it.
  void prefetchResults(Emitted row, Emitted column);
  mlir::FailureOr<Lanes> emitEpilogueLanes(Emitted row, Emitted column, bool whole, Lanes sums);
  void store(mlir::Value lanes, mlir::Value result, mlir::AffineMap map, const MatmulPlace &place);
  void storeSideReductions(Lanes sums, Emitted column);
  mlir::LogicalResult checkSideReductions();

  // MatmulAccess.cpp
  /// Fills `index` of the dims of `role` from `linear`.
  void moveTo(MatmulPlace &place, MatmulRole role, Emitted linear);
  void setLanes(MatmulPlace &place, MatmulRole role, Emitted tileStart, Emitted start, Emitted count);
  /// Lanes of `tensor` (as stored) over `dims` at `place`; lanes past the tile's end hold anything.
  mlir::Value load(mlir::Value tensor, mlir::AffineMap map, llvm::ArrayRef<int> dims, const MatmulPlace &place);
  /// The index of a kernel dim, in all lanes.
  mlir::Value indexLanes(int64_t dim, const MatmulPlace &place);
  mlir::FailureOr<Lanes> body(mlir::linalg::GenericOp generic, Lanes arguments, const MatmulPlace &place);
  /// An access of a tensor: offset of the first lane, and how lanes continue.
  struct Reach {
    Emitted offset;
    bool varies = false, contiguous = false;
    Emitted stride; // between lanes, where they are evenly spaced
  };
  Reach reach(mlir::AffineMap map, llvm::ArrayRef<int> dims, const MatmulPlace &place);
  Emitted laneOffset(const Reach &reach, mlir::AffineMap map, llvm::ArrayRef<int> dims, const MatmulPlace &place,
                     int64_t lane);
  Emitted laneMask(const MatmulPlace &place); // lanes within the tile

  // Emission in general.
  Emitted number(int64_t value) { return Emitted::constant(b, b.getI64Type(), value); }
  Emitted wrap(mlir::Value value) { return {b, value}; }
  mlir::VectorType lanesOf(mlir::Type element) { return mlir::VectorType::get(sizes->lanes, element); }
  Emitted address(Emitted pointer, mlir::Type element, Emitted offset);
  mlir::Value loadValue(mlir::Type type, Emitted pointer, bool aligned = false);
  void storeValue(mlir::Value value, Emitted pointer, bool aligned = false);
  mlir::Value splat(mlir::Value scalar);
  void loop(Emitted begin, Emitted end, Emitted step, const std::function<void(Emitted)> &body);
  Lanes loop(Emitted begin, Emitted end, Emitted step, Lanes carried, const std::function<Lanes(Emitted, Lanes)> &body);
  Emitted ceilDivide(Emitted a, Emitted b) { return (a + b - 1) / b; }
  mlir::LogicalResult sticky(mlir::LogicalResult result) {
    if (failed(result))
      broken = true;
    return result;
  }

  const KernelSource &source;
  mlir::func::FuncOp code;
  const CpuTarget &cpu;
  mlir::ImplicitLocOpBuilder b;
  std::optional<MatmulSizes> sizes;
  bool broken = false; // a part inside a loop failed, its diagnostic emitted

  // Read from the linalg form.
  std::array<llvm::SmallVector<int>, 4> group; // dims of each role
  mlir::linalg::GenericOp contraction, epilogue;
  std::array<mlir::linalg::GenericOp, 2> prologue;
  mlir::Type accumulator;
  bool fuses = false;   // products and sums may be one instruction
  bool fewRows = false; // M is small
  bool ordered = false; // each sum in the order of K
  MatmulInstruction instruction = MatmulInstruction::multiplyAdd;
  int64_t groupSize = 1;                    // indices of K in one packed element
  std::optional<Panels> panels;             // how B lies in memory, where it comes packed
  bool widens = false;                      // pairs, where some number is subnormal: products of widened numbers
  llvm::SmallVector<std::string> combiners; // of the epilogue's outputs

  // Values of the emitted function.
  mlir::IRMapping outside;
  llvm::DenseMap<mlir::Value, Emitted> pointers; // of operands, and of the epilogue's outputs
  llvm::SmallVector<Emitted> extents;            // of the dims
  std::array<Emitted, 4> size;                   // of each role
  Emitted tileRows, tileColumns, rowTiles, columnTiles;
  Emitted packedRowsAt, packedA, packedB, sumsAt, square, watchedAt, sumsPitch, packedPitch;
  Lanes watched; // by packing, where there is something to watch
  Emitted batch, rowTile, columnTile, firstRow, firstColumn, rows, columns; // of the block
};

} // namespace halftone::compiler
