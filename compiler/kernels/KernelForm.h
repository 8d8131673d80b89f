// The attributes of a kernel's linalg form as structs: all code reads and writes them here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/FormTraits.h"
#include "compiler/kernels/Numerics.h"
#include "compiler/kernels/Schedule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::compiler {

/// `halftone.panels`: how a packed operand or result lies in memory, a matrix whose axis `depth` a contraction sums
/// over, as #halftone.panels says.
struct Panels {
  int64_t depth = 0, columns = 0, group = 0, bits = 0;
};

/// `halftone.window`: the operand is an image, and generics read the matrix of a window's elements: a row for each place,
/// in which the taps stand one after the other, each with all channels. What changes from launch to launch are numbers
/// of the function: for each spatial axis the count of places and of taps, the extent and `low`; then the channels.
struct WindowForm {
  llvm::SmallVector<int64_t, 3> stride, dilation, hole; // of each spatial axis
  size_t rank() const { return stride.size(); }
};

/// The attributes of one operand or result.
struct TensorForm {
  std::optional<Panels> panels; // nullopt: row-major
  std::string partial;          // `halftone.partial`: the combiner of pieces, "" for other results
  std::optional<WindowForm> window;
};

/// The type of a field by the value that its attribute holds.
namespace attribute {
using kind = dialect::KernelKind;
using unit = bool;
using integer = int64_t;
using integers = llvm::SmallVector<int64_t, 4>;
using string = std::string;
using numerics = Numerics;
using schedule = ScheduleAttrInterface;
} // namespace attribute

/// The attributes of the function, a field for each line of dialect/KernelAttributes.def. `halftone.kind` and
/// `halftone.outer` are always there; every other attribute is absent if its field has the default value.
struct KernelForm {
#define KERNEL_ATTRIBUTE(holds, field, name) attribute::holds field{};
#include "dialect/KernelAttributes.def"
  std::vector<TensorForm> operands, results;

  /// Reads the attributes of `function`, a linalg form. On failure a diagnostic says which one was expected.
  static mlir::FailureOr<KernelForm> read(mlir::func::FuncOp function);
  void write(mlir::func::FuncOp function) const;

  /// Block sizes among the index arguments.
  int64_t blockSizes() const { return traitsOf(kind).blockSizes; }
  /// Index arguments of `function`: extents of dims, block sizes, lookup arguments.
  static int64_t indexArguments(mlir::func::FuncOp function);
  /// Dims of `function`, whose form this is.
  int64_t dims(mlir::func::FuncOp function) const { return indexArguments(function) - blockSizes() - lookupArguments; }
  /// The attributes of `value`, an operand of `function` or a value that it returns; those of neither are defaults.
  const TensorForm &of(mlir::func::FuncOp function, mlir::Value value) const;
};

/// Stands on an op of a generic's body that keeps the index of a window's tap in the image: a test, which is true inside,
/// or a clamp, which is its first operand inside.
inline constexpr llvm::StringLiteral boundAttribute = "halftone.bound";

/// The attributes of one linalg.generic.
struct GenericForm {
  llvm::SmallVector<int> dims;              // the kernel dims that its loops run over
  llvm::SmallVector<std::string> combiners; // of each output, "" for an elementwise one

  static GenericForm read(mlir::linalg::GenericOp generic);
  void write(mlir::linalg::GenericOp generic) const;
};

} // namespace halftone::compiler
