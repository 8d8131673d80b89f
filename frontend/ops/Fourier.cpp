// keras.ops on Values: Fourier transforms of signals, and windowed transforms of their frames.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Fourier.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/FourierTransform.h"
#include "frontend/ops/Operations.h"
#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

void requireParts(const char *op, const Value &re, const Value &im, int64_t axes) {
  if (re.shape() != im.shape() || re.dtype() != im.dtype())
    throw Error(
        ErrorKind::value_error,
        fmt::format("{}: real and imaginary parts should have the same shape and dtype. Received: {} {} and {} {}", op,
                    name(re.dtype()), re.shape().str(), name(im.dtype()), im.shape().str()));
  if (!is_float(re.dtype()))
    throw Error(ErrorKind::value_error, fmt::format("{}: expected floats, got {}", op, name(re.dtype())));
  if (re.rank() < axes)
    throw Error(ErrorKind::value_error,
                fmt::format("{}: expected at least {} axes, got the shape {}", op, axes, re.shape().str()));
}
void requireElements(const char *op, int64_t count) {
  if (count < 1)
    throw Error(ErrorKind::value_error, fmt::format("{}: expected at least one element, got {}", op, count));
}

Shape withLast(const Shape &shape, int64_t extent) {
  std::vector<int64_t> dims = shape.dims();
  dims.back() = extent;
  return Shape(std::move(dims));
}
/// Crops x to this last extent, or pads it with zeros at the end.
Value withExtent(const Value &x, int64_t extent) {
  const Shape shape = x.shape();
  const int64_t last = x.rank() - 1, given = shape[last];
  if (given == extent)
    return x;
  if (given > extent)
    return tracing().slice(x, std::vector<int64_t>(static_cast<size_t>(x.rank()), 0), withLast(shape, extent));
  return tracing().concat({x, tracing().splat(0, withLast(shape, extent - given), x.dtype())}, last);
}
Value asRows(const Value &x) {
  const int64_t last = x.shape()[x.rank() - 1];
  return tracing().reshape(x, Shape({last == 0 ? 0 : x.shape().elements() / last, last}));
}

/// Transforms along the last axis.
Complex alongLast(const char *op, const Complex &x, bool inverse) {
  const Shape shape = x[0].shape();
  requireElements(op, shape[shape.rank() - 1]);
  const ComplexRows found = fourierTransform({asRows(x[0]), asRows(x[1])}, inverse);
  return {tracing().reshape(found.re, shape), tracing().reshape(found.im, shape)};
}
Complex alongTwo(const char *op, const Complex &x, bool inverse) {
  const Complex rows = alongLast(op, x, inverse);
  const Complex columns = alongLast(op, {swapaxes(rows[0], -1, -2), swapaxes(rows[1], -1, -2)}, inverse);
  return {swapaxes(columns[0], -1, -2), swapaxes(columns[1], -1, -2)};
}
Complex realTransform(const Value &x) {
  const int64_t n = x.shape()[x.rank() - 1];
  requireElements("rfft", n);
  const ComplexRows found = fourierTransform({asRows(x), {}}, false);
  const Shape shape = withLast(x.shape(), n / 2 + 1);
  return {tracing().reshape(withExtent(found.re, n / 2 + 1), shape),
          tracing().reshape(withExtent(found.im, n / 2 + 1), shape)};
}
Value inverseRealTransform(const Complex &x, int64_t n) {
  requireElements("irfft", n);
  const int64_t half = n / 2 + 1, mirrored = n - half;
  const auto whole = [&](const Value &given, double sign) { // element n - k is the conjugate of element k
    const Value y = asRows(withExtent(given, half));
    const Value rest = tracing().slice(y, {0, 1}, Shape({y.shape()[0], mirrored}));
    return mirrored == 0 ? y : tracing().concat({y, flip(rest, {1}) * sign}, 1);
  };
  const Value found = fourierTransform({whole(x[0], 1), whole(x[1], -1)}, true).re * (1.0 / static_cast<double>(n));
  return tracing().reshape(found, withLast(x[0].shape(), n));
}

/// Applies a transform to the real and imaginary parts `v` in a wide dtype, and rounds its results to their dtype.
template <class F> List onParts(const char *op, const List &v, int64_t axes, F f) {
  requireParts(op, v[0], v[1], axes);
  List results = f(Complex{atLeastFloat32(v[0]), atLeastFloat32(v[1])});
  for (Value &result : results)
    result = asDtype(result, v[0].dtype());
  return results;
}
List listOf(const Complex &x) { return {x[0], x[1]}; }
Complex complexOf(const List &list) { return {list[0], list[1]}; }
bool isSymbolicPair(const Complex &x) { return isSymbolic(x[0]) || isSymbolic(x[1]); }
Config configOfLength(std::optional<int64_t> length) { return length ? configOf("fft_length", *length) : Config(); }

Complex transformOf(const char *op, const char *className, const Complex &x, int64_t axes,
                    Complex (*transform)(const char *, const Complex &, bool), bool inverse) {
  if (isSymbolicPair(x))
    return complexOf(recordOperations(className, listOf(x), {}, OperandForm::list));
  return complexOf(apply(op, listOf(x), [=](const List &v) {
    return onParts(op, v, axes, [&](const Complex &parts) {
      Complex found = transform(op, parts, inverse);
      if (!inverse)
        return listOf(found);
      const Shape shape = parts[0].shape();
      const double scale = 1.0 / static_cast<double>(shape[shape.rank() - 1] * shape[shape.rank() - 2]);
      return List{found[0] * scale, found[1] * scale};
    });
  }));
}

} // namespace

Complex fft(const Complex &x) { return transformOf("fft", "FFT", x, 1, alongLast, false); }
Complex fft2(const Complex &x) { return transformOf("fft2", "FFT2", x, 2, alongTwo, false); }
Complex ifft2(const Complex &x) { return transformOf("ifft2", "IFFT2", x, 2, alongTwo, true); }

Complex rfft(const Value &x, std::optional<int64_t> fft_length) {
  if (isSymbolic(x))
    return complexOf(recordOperations("RFFT", {x}, configOfLength(fft_length)));
  return complexOf(apply("rfft", {x}, [fft_length](const List &v) {
    if (v[0].rank() == 0)
      throw Error(ErrorKind::value_error, "rfft: expected at least one axis, got a scalar");
    const Value given = asFloat(v[0]), wide = atLeastFloat32(given);
    requireElements("rfft", fft_length.value_or(1));
    const Complex found = realTransform(fft_length ? withExtent(wide, *fft_length) : wide);
    return List{asDtype(found[0], given.dtype()), asDtype(found[1], given.dtype())};
  }));
}
Value irfft(const Complex &x, std::optional<int64_t> fft_length) {
  if (isSymbolicPair(x))
    return recordOperation("IRFFT", listOf(x), configOfLength(fft_length), OperandForm::list);
  return applyOne("irfft", listOf(x), [fft_length](const List &v) {
    return onParts("irfft", v, 1, [&](const Complex &parts) {
      const int64_t given = parts[0].shape()[parts[0].rank() - 1];
      return List{inverseRealTransform(parts, fft_length.value_or(2 * (given - 1)))};
    })[0];
  });
}

namespace {

/// The indices (count, length) of the frames.
Value sequenceIndices(int64_t count, int64_t length, int64_t stride) {
  const Shape shape({count, length});
  return tracing().iota(0, shape, DType::int32) * stride + tracing().iota(1, shape, DType::int32);
}
Value sequencesOf(const char *op, const Value &x, int64_t length, int64_t stride) {
  const int64_t last = x.rank() - 1;
  if (last < 0 || length < 1 || stride < 1 || x.shape()[last] < length)
    throw Error(
        ErrorKind::value_error,
        fmt::format("{}: expected a positive length and stride, and a last axis of at least that length. Received: "
                    "x.shape={}, length={}, stride={}",
                    op, x.shape().str(), length, stride));
  return tracing().gather(x, sequenceIndices((x.shape()[last] - length) / stride + 1, length, stride), last);
}

struct Lengths {
  int64_t sequence, stride, fft;
};
void requireLengths(const Lengths &lengths) {
  if (lengths.sequence < 1 || lengths.stride < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("`sequence_length` and `sequence_stride` must be positive. Received: sequence_length={}, "
                            "sequence_stride={}",
                            lengths.sequence, lengths.stride));
  if (lengths.fft < lengths.sequence)
    throw Error(ErrorKind::value_error,
                fmt::format("`fft_length` must equal or larger than `sequence_length`. Received: sequence_length={}, "
                            "fft_length={}",
                            lengths.sequence, lengths.fft));
}

/// The window of the frames (fft_length), zero-padded on both sides; ones if there is no window.
Value windowOf(const std::optional<Choice<WindowKind>> &kind, const Value &given, const Lengths &lengths, DType dtype) {
  Trace &t = tracing();
  if (!kind && !given.defined())
    return t.splat(1, Shape({lengths.fft}), dtype);
  Value values = given;
  if (kind) {
    const double least = *kind == WindowKind::hann ? 0.5 : 0.54;
    std::vector<double> numbers;
    for (int64_t i = 0; i < lengths.sequence; ++i)
      numbers.push_back(lengths.sequence == 1
                            ? 1.0
                            : least - (1 - least) * std::cos(2 * std::numbers::pi * static_cast<double>(i) /
                                                             static_cast<double>(lengths.sequence)));
    values = constant(Tensor(numbers, {lengths.sequence}).astype(dtype));
  }
  if (values.shape() != Shape({lengths.sequence}))
    throw Error(ErrorKind::value_error,
                fmt::format("The shape of `window` must be equal to [sequence_length]. Received: window shape={}",
                            values.shape().str()));
  const int64_t before = (lengths.fft - lengths.sequence) / 2;
  return t.concat({t.splat(0, Shape({before}), dtype), asDtype(values, dtype),
                   t.splat(0, Shape({lengths.fft - lengths.sequence - before}), dtype)},
                  0);
}
void requireSignal(const Value &x) {
  if (x.dtype() != DType::float32 && x.dtype() != DType::float64)
    throw Error(
        ErrorKind::type_error,
        fmt::format("Invalid input type. Expected `float32` or `float64`. Received: input type={}", name(x.dtype())));
  if (x.rank() == 0)
    throw Error(ErrorKind::value_error, "stft: expected at least one axis, got a scalar");
}

/// The config of lengths and window; none if the window consists of Values, which Keras files cannot represent.
std::optional<Config> configOfSequences(const Lengths &lengths, const Window &window, bool center) {
  if (window.values().defined())
    return std::nullopt;
  Config config = configOf("sequence_length", lengths.sequence);
  setField(config, "sequence_stride", lengths.stride);
  setField(config, "fft_length", lengths.fft);
  if (window.kind())
    setField(config, "window", std::string(window.kind()->word()));
  setField(config, "center", center);
  return config;
}

Value signalOf(const Complex &x, const Value &window, const Lengths &lengths, const IstftArgs &args, bool hasWindow) {
  const Value frames = inverseRealTransform(x, lengths.fft);
  const Shape shape = frames.shape();
  const int64_t count = shape[shape.rank() - 2], extent = lengths.fft + lengths.stride * (count - 1);
  const int64_t rows = shape.elements() / (count * lengths.fft);
  Trace &t = tracing();
  const Value indices = sequenceIndices(count, lengths.fft, lengths.stride);
  const auto added = [&](const Value &y) {
    const Value zeros = t.splat(0, Shape({y.shape()[0], extent}), y.dtype());
    return t.scatter(ScatterKind::sum, zeros, indices, y, 1);
  };
  const Value sums = added(t.reshape(frames * window, Shape({rows, count, lengths.fft})));
  const Value weights = added(broadcastTo(square(window), Shape({1, count, lengths.fft})));
  Value signal = sums / where(greater(weights, 1e-10), weights, 1);
  if (!hasWindow)
    signal = signal * (static_cast<double>(lengths.fft) / static_cast<double>(lengths.stride));
  const int64_t start = args.center ? lengths.fft / 2 : 0;
  const int64_t end = args.length ? start + *args.length : extent - start;
  const int64_t from = std::min(start, extent), kept = std::max<int64_t>(std::min(end, extent) - from, 0);
  std::vector<int64_t> dims = shape.dims();
  dims.pop_back();
  dims.back() = kept;
  return t.reshape(t.slice(signal, {0, from}, Shape({rows, kept})), Shape(std::move(dims)));
}

} // namespace

Value extract_sequences(const Value &x, int64_t sequence_length, int64_t sequence_stride) {
  if (isSymbolic(x)) {
    Config config = configOf("sequence_length", sequence_length);
    setField(config, "sequence_stride", sequence_stride);
    return recordOperation("ExtractSequences", {x}, config);
  }
  return applyOne("extract_sequences", {x}, [=](const List &v) {
    return sequencesOf("extract_sequences", v[0], sequence_length, sequence_stride);
  });
}

Complex stft(const Value &x, int64_t sequence_length, int64_t sequence_stride, int64_t fft_length,
             const StftArgs &args) {
  const Lengths lengths{sequence_length, sequence_stride, fft_length};
  requireLengths(lengths);
  if (isSymbolic(x))
    if (const std::optional<Config> config = configOfSequences(lengths, args.window, args.center))
      return complexOf(recordOperations("STFT", {x}, *config));
  List inputs{x};
  if (args.window.values().defined())
    inputs.push_back(args.window.values());
  return complexOf(apply("stft", inputs, [lengths, kind = args.window.kind(), center = args.center](const List &v) {
    requireSignal(v[0]);
    Value signal = v[0];
    if (center) {
      std::vector<PadWidth::Sides> sides(static_cast<size_t>(signal.rank()), {0, 0});
      sides.back() = {lengths.fft / 2, lengths.fft / 2};
      signal = pad(signal, PadWidth(sides), {.mode = PadMode::reflect});
    }
    const Value window = windowOf(kind, v.size() > 1 ? v[1] : Value(), lengths, signal.dtype());
    return listOf(realTransform(sequencesOf("stft", signal, lengths.fft, lengths.stride) * window));
  }));
}

Value istft(const Complex &x, int64_t sequence_length, int64_t sequence_stride, int64_t fft_length,
            const IstftArgs &args) {
  const Lengths lengths{sequence_length, sequence_stride, fft_length};
  requireLengths(lengths);
  if (isSymbolicPair(x))
    if (std::optional<Config> config = configOfSequences(lengths, args.window, args.center)) {
      if (args.length)
        setField(*config, "length", *args.length);
      return recordOperation("ISTFT", listOf(x), *config, OperandForm::list);
    }
  List inputs = listOf(x);
  if (args.window.values().defined())
    inputs.push_back(args.window.values());
  IstftArgs more = args;
  more.window = args.window.kind() ? Window(*args.window.kind()) : Window(std::nullopt);
  return applyOne("istft", inputs, [lengths, more](const List &v) {
    return onParts("istft", {v[0], v[1]}, 2, [&](const Complex &parts) {
      const bool isGiven = v.size() > 2, hasWindow = isGiven || more.window.kind().has_value();
      const Value window = windowOf(more.window.kind(), isGiven ? v[2] : Value(), lengths, parts[0].dtype());
      return List{signalOf(parts, window, lengths, more, hasWindow)};
    })[0];
  });
}

} // namespace halftone::ops
