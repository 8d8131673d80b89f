// Fourier transforms in files, with their recorded arguments.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/OperationRows.h"
#include "halftone/Error.h"
#include "halftone/Fourier.h"
#include <fmt/format.h>

namespace halftone::detail {

using Arguments = OperationArguments;

namespace {

/// An argument that is a pair of a real and an imaginary part.
ops::Complex pairOf(Arguments &a) {
  const std::vector<Value> parts = a.values("x");
  if (parts.size() != 2)
    throw Error(
        ErrorKind::value_error,
        fmt::format("Input `x` should be a tuple of two tensors - real and imaginary. Received {}", parts.size()));
  return {parts[0], parts[1]};
}
Values valuesOf(const ops::Complex &x) { return {x[0], x[1]}; }
std::optional<int64_t> lengthOf(Arguments &a) { return a.maybeInteger("fft_length"); }
Window windowOf(Arguments &a) {
  if (a.isNull("window"))
    return std::nullopt;
  return WindowKind(choice<WindowKind>(a.text("window")));
}
bool isCentered(Arguments &a) { return a.isNull("center") || a.flag("center"); }

} // namespace

Values fftOperation(Arguments &a) { return valuesOf(ops::fft(pairOf(a))); }
Values fft2Operation(Arguments &a) { return valuesOf(ops::fft2(pairOf(a))); }
Values ifft2Operation(Arguments &a) { return valuesOf(ops::ifft2(pairOf(a))); }
Values rfftOperation(Arguments &a) {
  const Value x = a.value("x");
  return valuesOf(ops::rfft(x, lengthOf(a)));
}
Values irfftOperation(Arguments &a) {
  const ops::Complex x = pairOf(a);
  return ops::irfft(x, lengthOf(a));
}
Values extractSequencesOperation(Arguments &a) {
  const Value x = a.value("x");
  const int64_t length = a.integer("sequence_length");
  return ops::extract_sequences(x, length, a.integer("sequence_stride"));
}
Values stftOperation(Arguments &a) {
  const Value x = a.value("x");
  const int64_t length = a.integer("sequence_length"), stride = a.integer("sequence_stride");
  const int64_t whole = a.integer("fft_length");
  const Window window = windowOf(a);
  return valuesOf(ops::stft(x, length, stride, whole, {.window = window, .center = isCentered(a)}));
}
Values istftOperation(Arguments &a) {
  const ops::Complex x = pairOf(a);
  const int64_t length = a.integer("sequence_length"), stride = a.integer("sequence_stride");
  const int64_t whole = a.integer("fft_length");
  const std::optional<int64_t> signal = a.maybeInteger("length");
  const Window window = windowOf(a);
  return ops::istft(x, length, stride, whole, {.length = signal, .window = window, .center = isCentered(a)});
}

} // namespace halftone::detail
