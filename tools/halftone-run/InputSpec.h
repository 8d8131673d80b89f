// Tensors as the command line writes them: 2x3xf32=1 2 3 4 5 6, 2x3xf32=@raw.bin, @x.npy, 2x3xf32=random.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include "runtime/plan/Signature.h"
#include <optional>
#include <string>
#include <string_view>

namespace halftone::tools {

/// `[NAME=]SPEC`. A NAME that reads as a type ("f32") is taken for the type. SPEC is one of
///   TYPE=VALUES   numbers separated by blanks, commas or brackets, row-major; one number fills the tensor
///   TYPE=@FILE    raw little-endian bytes, row-major (bool: a byte each)
///   @FILE.npy     NumPy's format
///   [TYPE=]random uniform in [-1, 1) for floats, 0 to 9 for integers, 0 or 1 for bools; the same for the same seed and
///   name
struct InputSpec {
  enum class Source { values, raw, npy, random };
  std::string name; // "" when not given
  std::optional<TensorType> type;
  Source source = Source::values;
  std::string text; // the values, or the file
};

/// "2x3xf32" as MLIR writes it; nullopt when it is no such type.
std::optional<TensorType> parseTensorType(std::string_view text);

/// Throws UsageError with the expected form.
InputSpec parseInputSpec(std::string_view text);

/// The tensor; `expected` is the parameter it is for, whose name is in every message. Throws UsageError for values that
/// are no numbers of the type, value_error for another type than expected or a wrong number of elements, io_error for
/// files.
Tensor readInput(const InputSpec &spec, const Parameter &expected, uint64_t seed);

/// The tensor that `random` gives, as above.
Tensor randomTensor(const Parameter &parameter, uint64_t seed);

} // namespace halftone::tools
