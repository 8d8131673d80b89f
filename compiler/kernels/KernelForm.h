// The attributes of a kernel's linalg form as structs, through which all code reads and writes them.
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

/// `halftone.panels`: the layout of a packed operand or result, a matrix that a contraction sums over along axis
/// `depth`. The fields are those of #halftone.panels.
struct Panels {
  int64_t depth = 0, columns = 0, group = 0, bits = 0;
};

/// `halftone.window`: the operand is an image, which generics read as the matrix of a window's elements (im2col): a row
/// per output position, which holds the taps in order, each with all channels. Sizes that vary between launches are
/// lookup arguments: for each spatial axis the number of output positions, the number of taps, the extent and the low
/// padding; then the number of channels.
struct WindowForm {
  llvm::SmallVector<int64_t, 3> stride, dilation, baseDilation; // one per spatial axis
  size_t rank() const { return stride.size(); }
};

/// The attributes of one operand or result.
struct TensorForm {
  std::optional<Panels> panels; // nullopt: row-major
  std::string partial;          // `halftone.partial`: the combiner of partial results, "" for other results
  std::optional<WindowForm> window;
};

/// The type of a field, by the kind of its attribute's value.
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
/// `halftone.outer` are always present; every other attribute is absent if its field has the default value.
struct KernelForm {
#define KERNEL_ATTRIBUTE(holds, field, name) attribute::holds field{};
#include "dialect/KernelAttributes.def"
  std::vector<TensorForm> operands, results;

  /// Reads the attributes of `function`, a linalg form. On failure a diagnostic names the expected attribute.
  static mlir::FailureOr<KernelForm> read(mlir::func::FuncOp function);
  void write(mlir::func::FuncOp function) const;

  /// The number of block sizes among the index arguments.
  int64_t blockSizes() const { return traitsOf(kind).blockSizes; }
  /// The number of index arguments of `function`: extents of dims, block sizes, lookup arguments.
  static int64_t indexArguments(mlir::func::FuncOp function);
  /// The number of dims of `function`, to which this form belongs.
  int64_t dims(mlir::func::FuncOp function) const { return indexArguments(function) - blockSizes() - lookupArguments; }
  /// The attributes of `value`, an operand of `function` or a value that it returns; defaults for other values.
  const TensorForm &of(mlir::func::FuncOp function, mlir::Value value) const;
};

/// Marks an op of a generic's body that keeps the index of a window's tap within the image: a test, which is true
/// inside, or a clamp, which returns its first operand inside.
inline constexpr llvm::StringLiteral boundAttribute = "halftone.bound";

/// The attributes of one linalg.generic.
struct GenericForm {
  llvm::SmallVector<int> dims;              // the kernel dims that its loops iterate over
  llvm::SmallVector<std::string> combiners; // one per output, "" for an elementwise output

  static GenericForm read(mlir::linalg::GenericOp generic);
  void write(mlir::linalg::GenericOp generic) const;
};

} // namespace halftone::compiler
