// Prints tensors in human-readable form.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Tensor.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Convert.h"
#include "runtime/base/PrintableText.h"
#include <fmt/format.h>
#include <functional>
#include <ostream>

using namespace halftone;

/// The text of element `index`; a string is quoted, with escapes for unprintable characters.
using ElementText = std::function<std::string(int64_t index)>;

static std::string numberText(DType dtype, const std::byte *data, int64_t index) {
  switch (dtype) {
  case DType::bool_:
    return data[index] != std::byte{0} ? "True" : "False";
  case DType::int64:
    return fmt::to_string(reinterpret_cast<const int64_t *>(data)[index]);
  case DType::uint64:
    return fmt::to_string(reinterpret_cast<const uint64_t *>(data)[index]);
  case DType::float64:
    return fmt::to_string(reinterpret_cast<const double *>(data)[index]);
  default: // exact as a float, whose text is shorter
    return fmt::to_string(static_cast<float>(elementAsDouble(dtype, data, index)));
  case DType::int32:
  case DType::uint32:
    return fmt::to_string(static_cast<int64_t>(elementAsDouble(dtype, data, index)));
  }
}

namespace {
/// Writes nested brackets. For a shortened tensor it writes three entries at either end of each axis.
struct Printer {
  ElementText elementText;
  std::vector<int64_t> dims;
  bool shortened;
  std::string text;

  void print(size_t axis, int64_t start, int64_t count) {
    if (axis == dims.size()) {
      text += elementText(start);
      return;
    }
    const int64_t extent = dims[axis], stride = extent ? count / extent : 0;
    const bool innermost = axis + 1 == dims.size();
    const std::string separator = innermost ? ", " : ",\n" + std::string(axis + 1, ' ');
    text += '[';
    for (int64_t i = 0; i < extent; ++i) {
      if (i)
        text += separator;
      if (shortened && extent > 6 && i == 3) {
        text += "...";
        i = extent - 4;
        continue;
      }
      print(axis + 1, start + i * stride, stride);
    }
    text += ']';
  }
};
} // namespace

static ElementText textsOf(const Tensor &host) {
  if (host.dtype() == DType::string)
    return [strings = TensorAccess::strings(host)](int64_t index) {
      return fmt::format("\"{}\"", printable(strings[static_cast<size_t>(index)]));
    };
  return
      [dtype = host.dtype(), data = TensorAccess::data(host)](int64_t index) { return numberText(dtype, data, index); };
}

std::string Tensor::str() const {
  if (!defined())
    return "Tensor(undefined)";
  const Tensor host = TensorAccess::onHost(*this);
  Printer printer{textsOf(host), shape().dims(), size() > 1000, {}};
  if (size() == 0)
    printer.text = "[]"; // whatever the extents of the other axes are, as NumPy
  else
    printer.print(0, 0, size());
  return fmt::format("{}\nTensor(shape={}, dtype={})", printer.text, shape().str(), name(dtype()));
}

std::ostream &halftone::operator<<(std::ostream &os, const Tensor &tensor) { return os << tensor.str(); }
