// The linalg form of a recurrence, level by level.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/GenericBuilder.h"
#include "compiler/forms/KernelDescription.h"
#include "compiler/forms/RecurrenceBody.h"
#include "llvm/ADT/MapVector.h"
#include <optional>
#include <set>

namespace halftone::compiler {

/// The function computes one step. The results of contractions and concats are available in tensors to later ops. The
/// level of a value is the number of contractions and concats on the longest path to it: the generics of level 0 come
/// first, then the contractions and concats that read values of that level, then the generics of level 1, and so on.
class RecurrenceWriter {
public:
  RecurrenceWriter(dialect::KernelOp kernel, dialect::ScanOp scan, RecurrenceBody body);
  mlir::FailureOr<KernelDescription> write(const Target &target, int64_t blockRows);

private:
  /// A tensor of the linalg form that holds a value of the loop's body.
  struct TensorView {
    mlir::Value tensor;
    Access access;
  };
  /// A value that a generic stores.
  struct Stored {
    mlir::Value value;
    mlir::Type element;
    Access access;
    std::optional<unsigned> result = {};                                    // of the kernel
    bool isKept = false;                                                    // generics of later levels read it
    std::optional<std::pair<mlir::Operation *, size_t>> concatOperand = {}; // operand of a concat, by its index
  };

  bool isMatrixOfWeights(mlir::Value value) const;
  int64_t columnsOf(mlir::Value value) const;
  int columnDim(mlir::Value value) const { return columns.find(columnsOf(value))->second; }
  Access accessOf(mlir::Value value) const;
  int64_t levelOf(mlir::Value value);

  void findDims();
  void findLookupArguments();
  void findResults();
  void store(Stored entry);
  void findStored();
  void keepForLater(mlir::Value value, int64_t level);

  void begin(const Target &target);
  bool writeGeneric(int dim, llvm::ArrayRef<Stored> all);
  void provideTensors(llvm::ArrayRef<ValueNode *> nodes, int dim);
  TensorView viewOf(mlir::Value value);
  void writeProduct(dialect::ContractOp op);
  void writeConcat(dialect::ConcatOp op);
  double costOfStep();

  dialect::KernelOp kernel;
  dialect::ScanOp scan;
  RecurrenceBody body;
  IterationSpace space;
  ValueGraph graph;
  std::optional<GenericBuilder> builder;
  std::map<int64_t, int> columns, depths; // dims by extent
  llvm::DenseMap<mlir::Value, int64_t> levels;
  std::map<std::pair<mlir::Operation *, size_t>, int> argumentOf; // lookup arguments: the starts of a slice and of the
                                                                  // operands of a concat
  llvm::DenseMap<mlir::Value, TensorView> views;                  // of values available in tensors
  llvm::DenseMap<mlir::Value, mlir::Value> factors;               // tensors of the left operands of contractions
  std::map<std::pair<mlir::Operation *, size_t>, mlir::Value> concatOperands;  // tensors of the operands of concats
  std::map<int64_t, llvm::MapVector<int, llvm::SmallVector<Stored>>> generics; // by level and dim
  std::map<int64_t, llvm::SmallVector<mlir::Operation *>> products;            // contractions and concats, by level
  std::set<std::pair<mlir::Operation *, int64_t>> visited;                     // by keepForLater
  llvm::DenseSet<mlir::Operation *> kept;
  llvm::SmallVector<KernelResult> results;
  llvm::SmallVector<mlir::Value> tensors; // of the results
  llvm::SmallVector<int64_t, 4> carries;
};

} // namespace halftone::compiler
