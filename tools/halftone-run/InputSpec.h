// Tensors on the command line: 2x3xf32=1 2 3 4 5 6, 2x3xf32=@raw.bin, @x.npy, 2x3xf32=random.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include "runtime/plan/Signature.h"
#include <optional>
#include <string>
#include <string_view>

namespace halftone::tools {

/// `[NAME=]SPEC`. If NAME reads as a type ("f32"), it is the type. SPEC is one of
///   TYPE=VALUES   scalars separated by blanks, commas or brackets, row-major; one scalar fills the tensor
///   TYPE=@FILE    raw little-endian bytes, row-major (bool: a byte each)
///   @FILE.npy     NumPy's format
///   [TYPE=]random uniform in [-1, 1) for floats, 0 to 9 for integers, 0 or 1 for bools; depends on seed and name alone
struct InputSpec {
  enum class Source { values, raw, npy, random };
  std::string name; // "" if not given
  std::optional<TensorType> type;
  Source source = Source::values;
  std::string text; // the scalars, or the file's name
};

/// Parses a type in MLIR's spelling, such as "2x3xf32"; nullopt for other text.
std::optional<TensorType> parseTensorType(std::string_view text);

/// Returns true if the text is the shape of a type without its dtype: "2x4", "7".
bool isShape(std::string_view text);

/// Throws UsageError that states the expected form.
InputSpec parseInputSpec(std::string_view text);

/// Creates the tensor for the parameter `expected`, which every message names. Throws UsageError for values that are
/// not scalars of the dtype, value_error for another type or number of elements, io_error for files.
Tensor readInput(const InputSpec &spec, const Parameter &expected, uint64_t seed);

/// The tensor of a `random` spec, as described above.
Tensor randomTensor(const Parameter &parameter, uint64_t seed);

} // namespace halftone::tools
