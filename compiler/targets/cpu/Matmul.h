// The matmul emitter's state, shared by its three parts: packing, the multiplication, the epilogue.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Number.h"
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
  std::array<Number, 4> linear;
  llvm::SmallVector<Number> index; // of each kernel dim
  std::optional<MatmulRole> laneRole;
  Number start, count; // with lanes: the first lane's index within the tile, and how many there are in the tile
  bool whole = false;  // all lanes are within the tile
};

/// The operands of a micro-kernel.
struct MatmulFactors {
  Number a, rowPitch, depthPitch; // A's element [row][k] is at a + row * rowPitch + k * depthPitch
  std::function<mlir::FailureOr<llvm::SmallVector<mlir::Value>>(Number k)> b; // B's vectors of row k
};

/// Where a micro-kernel's sums are: those of one row are contiguous.
struct MatmulSums {
  Number at, pitch;
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
  mlir::LogicalResult emitBlock(Number block);
  std::string method(); // for reports
  void emitMultiplication(Number firstDepth, Number depth);
  void emitPanels(Number firstDepth, Number depth);
  void emitColumns(Number begin, Number end, int64_t vectors, Number firstDepth, Number depth);
  /// Packs the panel at `column`, multiplying the first `count` rows meanwhile where there are so many; how many were.
  Number emitFirstRows(int64_t count, int64_t vectors, MatmulFactors factors, Number column, Number firstDepth,
                       Number depth);
  void emitRows(llvm::ArrayRef<int64_t> counts, Number begin, int64_t vectors, const MatmulFactors &factors,
                Number column, Number firstDepth, Number depth);
  /// The sums of some rows, with those of earlier parts of K.
  Lanes multiplyRows(int64_t rows, int64_t vectors, const MatmulFactors &factors, Number row, Number column,
                     Number firstDepth, Number depth);
  void emitMicroKernel(int64_t rows, int64_t vectors, const MatmulFactors &factors, Number row, Number column,
                       Number firstDepth, Number depth);
  void storeSums(const Lanes &sums, int64_t vectors, Number row, Number column);

  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);

  // MatmulDots.cpp: rows of A times rows of a transposed B, both read along K where they are
  bool takesDots();
  void emitDots(Number firstDepth, Number depth);

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
  MatmulFactors rowFactors(Number firstDepth);
  std::function<mlir::FailureOr<Lanes>(Number)> columnFactors(Number column, int64_t vectors, Number firstDepth);
  /// B's vectors where they are, and with packsPanels() a copy of them in its panel.
  std::function<mlir::FailureOr<Lanes>(Number)> packingFactors(Number column, int64_t vectors, Number firstDepth);
  mlir::LogicalResult pack(int side, Number firstDepth, Number depth);
  mlir::LogicalResult packRowsAlongDepth(Number firstDepth, Number depth);
  mlir::LogicalResult packAcross(int side, Number firstDepth, Number depth);
  /// Where a vector of packed B's columns begins, and the pitch of its groups, in elements; `first` is the first
  /// column that is packed.
  std::pair<Number, Number> packedColumns(Number column, Number first);
  mlir::LogicalResult packColumnsTransposed(Number begin, Number end, Number firstDepth, Number depth);
  /// The operand's elements at `place`, through its prologue: as they are stored, and in the accumulator's type.
  mlir::FailureOr<mlir::Value> storedFactor(int side, const MatmulPlace &place);
  mlir::FailureOr<mlir::Value> factor(int side, const MatmulPlace &place);
  void storePacked(mlir::Value lanes, Number pointer);
  /// A loop that carries `watched` too.
  Lanes watchingLoop(Number begin, Number end, Number step, Lanes carried,
                     const std::function<Lanes(Number, Lanes)> &body);
  void packingLoop(Number begin, Number end, Number step, const std::function<void(Number)> &body);
  Lanes transpose(Lanes rows);

  // MatmulGroups.cpp: products that take several indices of K at once
  mlir::LogicalResult readInstruction();
  bool hasBiasRow() { return instruction == MatmulInstruction::vpdpbusd; }
  /// How many groups make K.
  Number groups() { return ceilDivide(size[depthRole], number(groupSize)); }
  bool readsRowPairsInPlace();
  mlir::LogicalResult watchRows(Number firstDepth, Number depth);
  void packBias(Number depth);
  /// 16 neighbouring groups along K of an operand; groups past K are 0.
  mlir::FailureOr<mlir::Value> groupsAlongDepth(int side, MatmulPlace place, Number group);
  /// One group of each of 16 neighbouring rows of A or columns of B.
  mlir::FailureOr<mlir::Value> groupsAcross(int side, MatmulPlace place, Number group);
  mlir::Value multiplyGroups(mlir::Value sums, mlir::Value a, mlir::Value b);
  Lanes nothingWatched();
  void watch(mlir::Value groups);
  Number sawSubnormal();

  // MatmulPanels.cpp: a right operand that is kept packed
  mlir::LogicalResult readPanels();
  std::function<mlir::FailureOr<Lanes>(Number)> panelFactors(Number column, int64_t vectors, Number firstDepth);
  /// Nobody has looked for subnormal numbers in a right operand that came packed: the first rows' multiplication does.
  bool watchesPanels() { return panels && groupSize == 2 && !widens; }
  void emitWatchingRows(llvm::ArrayRef<int64_t> counts, int64_t vectors, const MatmulFactors &factors, Number column,
                        Number firstDepth, Number depth);

  // MatmulTiles.cpp: products of tiles
  /// An instruction of AMX; `numbers` are those of its tiles.
  void tileInstruction(llvm::StringRef what, llvm::ArrayRef<int64_t> numbers, llvm::ArrayRef<Number> operands);
  void configureTiles();
  void releaseTiles();
  mlir::LogicalResult packRowsTurned(Number firstDepth, Number depth);
  void packZerosPastDepth(Number depth); // of B
  void emitTiles(Number firstDepth, Number depth);
  void emitTileKernel(Number row, int64_t down, Number column, int64_t across, Number firstDepth, Number depth);

  // MatmulEpilogue.cpp
  /// The epilogue copies: sums of whole panels are made in the result.
  bool sumsAreResult();
  MatmulSums sumsFrom(Number row, Number column, int64_t vectors);
  mlir::LogicalResult emitEpilogue();
  /// Asks for the lines of the full results at the row, to write them: a weight's may be in the cache of a core that
  /// read it.
  void prefetchResults(Number row, Number column);
  mlir::FailureOr<Lanes> emitEpilogueLanes(Number row, Number column, bool whole, Lanes sums);
  void store(mlir::Value lanes, mlir::Value result, mlir::AffineMap map, const MatmulPlace &place);
  void storeSideReductions(Lanes sums, Number column);
  mlir::LogicalResult checkSideReductions();

  // MatmulAccess.cpp
  /// Fills `index` of the dims of `role` from `linear`.
  void moveTo(MatmulPlace &place, MatmulRole role, Number linear);
  void setLanes(MatmulPlace &place, MatmulRole role, Number tileStart, Number start, Number count);
  /// Lanes of `tensor` (as stored) over `dims` at `place`; lanes past the tile's end hold anything.
  mlir::Value load(mlir::Value tensor, mlir::AffineMap map, llvm::ArrayRef<int> dims, const MatmulPlace &place);
  /// The index of a kernel dim, in all lanes.
  mlir::Value indexLanes(int64_t dim, const MatmulPlace &place);
  mlir::FailureOr<Lanes> body(mlir::linalg::GenericOp generic, Lanes arguments, const MatmulPlace &place);
  /// An access of a tensor: offset of the first lane, and how lanes continue.
  struct Reach {
    Number offset;
    bool varies = false, contiguous = false;
    Number stride; // between lanes, where they are evenly spaced
  };
  Reach reach(mlir::AffineMap map, llvm::ArrayRef<int> dims, const MatmulPlace &place);
  Number laneOffset(const Reach &reach, mlir::AffineMap map, llvm::ArrayRef<int> dims, const MatmulPlace &place,
                    int64_t lane);
  Number laneMask(const MatmulPlace &place); // lanes within the tile

  // Emission in general.
  Number number(int64_t value) { return Number::constant(b, b.getI64Type(), value); }
  Number wrap(mlir::Value value) { return {b, value}; }
  mlir::VectorType lanesOf(mlir::Type element) { return mlir::VectorType::get(sizes->lanes, element); }
  Number address(Number pointer, mlir::Type element, Number offset);
  mlir::Value loadValue(mlir::Type type, Number pointer, bool aligned = false);
  void storeValue(mlir::Value value, Number pointer, bool aligned = false);
  mlir::Value splat(mlir::Value scalar);
  void loop(Number begin, Number end, Number step, const std::function<void(Number)> &body);
  Lanes loop(Number begin, Number end, Number step, Lanes carried, const std::function<Lanes(Number, Lanes)> &body);
  Number ceilDivide(Number a, Number b) { return (a + b - 1) / b; }
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
  llvm::DenseMap<mlir::Value, Number> pointers; // of operands, and of the epilogue's outputs
  llvm::SmallVector<Number> extents;            // of the dims
  std::array<Number, 4> size;                   // of each role
  Number tileRows, tileColumns, rowTiles, columnTiles;
  Number packedRowsAt, packedA, packedB, sumsAt, square, watchedAt, sumsPitch, packedPitch;
  Lanes watched; // by packing, where there is something to watch
  Number batch, rowTile, columnTile, firstRow, firstColumn, rows, columns; // of the block
};

} // namespace halftone::compiler
