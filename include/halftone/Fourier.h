// Fourier transforms on Values, named as in keras.ops: complex numbers are pairs of real and imaginary parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Ops.h"
#include <array>
#include <optional>

namespace halftone {
/// Periodic windows, with the length of a sequence.
enum class WindowKind : uint8_t { hann, hamming };
namespace detail {
template <> inline constexpr const char *choice_words<WindowKind>[] = {"hann", "hamming"};
} // namespace detail
/// The window of a short-time transform: "hann", "hamming", a vector with the length of a sequence, or none.
class Window {
public:
  Window(std::nullopt_t) {}
  Window(WindowKind kind) : kind_(kind) {}
  template <size_t N> consteval Window(const char (&word)[N]) : kind_(Choice<WindowKind>(word)) {}
  Window(const Value &values) : values_(values) {}
  const std::optional<Choice<WindowKind>> &kind() const { return kind_; }
  const Value &values() const { return values_; } // undefined if no vector was given

private:
  std::optional<Choice<WindowKind>> kind_{};
  Value values_{};
};

namespace ops {
// The real and imaginary parts are floats of the same shape and dtype, or else value_error. Floats narrower than
// float32 are computed in float32. A transform of n elements is a product of small DFT matrices, for factors of n up to
// 16, and takes O(n log n) operations; other n are computed by a convolution.
using Complex = std::array<Value, 2>;

HALFTONE_API Complex fft(const Complex &x);  // along the last axis
HALFTONE_API Complex fft2(const Complex &x); // along the last two axes
HALFTONE_API Complex ifft2(const Complex &x);
/// The first fft_length / 2 + 1 elements of the transform of a real x along the last axis, which is truncated or
/// zero-padded to `fft_length`.
HALFTONE_API Complex rfft(const Value &x, std::optional<int64_t> fft_length = {});
/// The inverse of rfft. Without `fft_length` the result has 2 (n - 1) elements.
HALFTONE_API Value irfft(const Complex &x, std::optional<int64_t> fft_length = {});
/// Splits a signal into frames (..., count, sequence_length) that start every `sequence_stride` elements.
HALFTONE_API Value extract_sequences(const Value &x, int64_t sequence_length, int64_t sequence_stride);

struct StftArgs {
  Window window = WindowKind::hann;
  bool center = true; // pads the signal by reflection on both ends
};
/// Short-time Fourier transform: the rfft of each windowed frame of a signal, (..., count, fft_length / 2 + 1).
HALFTONE_API Complex stft(const Value &x, int64_t sequence_length, int64_t sequence_stride, int64_t fft_length,
                          const StftArgs &args = {});
struct IstftArgs {
  std::optional<int64_t> length{}; // the length of the signal
  Window window = WindowKind::hann;
  bool center = true;
};
/// The inverse of stft().
HALFTONE_API Value istft(const Complex &x, int64_t sequence_length, int64_t sequence_stride, int64_t fft_length,
                         const IstftArgs &args = {});
} // namespace ops
} // namespace halftone
