// Fourier transforms on Values, named as in keras.ops: complex numbers are pairs of real and imaginary parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Ops.h"
#include <array>
#include <optional>

namespace halftone {
/// Windows of the length that a transform takes at once, periodic.
enum class WindowKind : uint8_t { hann, hamming };
namespace detail {
template <> inline constexpr const char *choice_words<WindowKind>[] = {"hann", "hamming"};
} // namespace detail
/// "hann", "hamming", a vector of the sequences' length, or none.
class Window {
public:
  Window(std::nullopt_t) {}
  Window(WindowKind kind) : kind_(kind) {}
  template <size_t N> consteval Window(const char (&word)[N]) : kind_(Choice<WindowKind>(word)) {}
  Window(const Value &values) : values_(values) {}
  const std::optional<Choice<WindowKind>> &kind() const { return kind_; }
  const Value &values() const { return values_; } // undefined if there are none

private:
  std::optional<Choice<WindowKind>> kind_{};
  Value values_{};
};

namespace ops {
// Real and imaginary parts are floats of one shape and one dtype; narrower floats are computed in float32. value_error for others.
// Transforms along an axis of n elements are products with matrices of the factors of n up to 16, so that they take n log n steps,
// for other n by a convolution.
using Complex = std::array<Value, 2>;

HALFTONE_API Complex fft(const Complex &x);  // along the last axis
HALFTONE_API Complex fft2(const Complex &x); // along the last two
HALFTONE_API Complex ifft2(const Complex &x);
/// The first fft_length / 2 + 1 elements of the transform of real numbers along the last axis, which is cut or padded with zeros to
/// `fft_length`.
HALFTONE_API Complex rfft(const Value &x, std::optional<int64_t> fft_length = {});
/// The inverse of rfft. Without `fft_length` the result has 2 (n - 1) elements.
HALFTONE_API Value irfft(const Complex &x, std::optional<int64_t> fft_length = {});
/// The parts (..., count, sequence_length) of a signal that begin every `sequence_stride` elements.
HALFTONE_API Value extract_sequences(const Value &x, int64_t sequence_length, int64_t sequence_stride);

struct StftArgs {
  Window window = WindowKind::hann;
  bool center = true; // the signal goes on by reflection before its begin and behind its end
};
/// The rfft of each sequence of a signal under a window: (..., count, fft_length / 2 + 1).
HALFTONE_API Complex stft(const Value &x, int64_t sequence_length, int64_t sequence_stride, int64_t fft_length,
                          const StftArgs &args = {});
struct IstftArgs {
  std::optional<int64_t> length{}; // of the signal
  Window window = WindowKind::hann;
  bool center = true;
};
/// The signal of which stft makes x.
HALFTONE_API Value istft(const Complex &x, int64_t sequence_length, int64_t sequence_stride, int64_t fft_length,
                         const IstftArgs &args = {});
} // namespace ops
} // namespace halftone
