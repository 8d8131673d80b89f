// pad_sequences: sequences of different lengths as rows of one tensor.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/Batches.h"
#include "halftone/DataPreparation.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <span>

namespace halftone {

namespace {

/// The integer part of a number.
int64_t whole(int64_t number) { return number; }
uint64_t whole(uint64_t number) { return number; }
int64_t whole(double number) {
  if (!(std::abs(number) < 0x1p63))
    throw Error(ErrorKind::value_error, fmt::format("pad_sequences: {} is not an integer", number));
  return static_cast<int64_t>(number);
}

/// Converts numbers to `dtype`. An integer dtype drops the fraction of floats.
template <class T> Tensor inDtype(std::vector<T> numbers, DType dtype) {
  if (is_float(dtype))
    return Tensor(std::move(numbers)).astype(dtype);
  using Integer = decltype(whole(T()));
  std::vector<Integer> integers(numbers.size());
  std::ranges::transform(numbers, integers.begin(), [](T number) { return whole(number); });
  const Tensor wide(integers);
  Tensor result = wide.astype(dtype);
  const std::vector<Integer> back = result.astype(wide.dtype()).template to_vector<Integer>();
  // A value that wraps around in `dtype` may convert back to itself, but with the opposite sign.
  const std::vector<double> signs = result.astype(DType::float64).template to_vector<double>();
  for (size_t i = 0; i < back.size(); ++i)
    if (back[i] != integers[i] || (signs[i] < 0) != (integers[i] < 0))
      throw Error(ErrorKind::value_error,
                  fmt::format("pad_sequences: {} cannot represent {}", name(dtype), integers[i]));
  return result;
}

template <class T>
Tensor paddedRows(const std::vector<std::vector<T>> &sequences, const utils::PadSequencesArgs &args) {
  if (sequences.empty() && !args.maxlen)
    throw Error(ErrorKind::value_error, "pad_sequences: without sequences, maxlen must be given");
  size_t longest = 0;
  for (const std::vector<T> &sequence : sequences)
    longest = std::max(longest, sequence.size());
  const int64_t length = args.maxlen.value_or(static_cast<int64_t>(longest));
  if (length < 0)
    throw Error(ErrorKind::value_error, fmt::format("maxlen must not be negative, got {}", length));
  std::vector<T> kept; // the kept part of all sequences, concatenated
  std::vector<size_t> counts;
  for (const std::vector<T> &sequence : sequences) {
    counts.push_back(std::min(sequence.size(), static_cast<size_t>(length)));
    const std::span<const T> all(sequence);
    const std::span<const T> part =
        args.truncating == SequenceEnd::pre ? all.last(counts.back()) : all.first(counts.back());
    kept.insert(kept.end(), part.begin(), part.end());
  }
  const double value = is_float(args.dtype) ? args.value : std::trunc(args.value);
  detail::requireHeld("pad_sequences", value, args.dtype);
  Tensor result = Tensor::full(Shape{std::ssize(sequences), length}, value, args.dtype);
  const Tensor numbers = inDtype(std::move(kept), args.dtype);
  const auto width = static_cast<size_t>(itemsize(args.dtype));
  const std::byte *from = TensorAccess::data(numbers);
  std::byte *to = TensorAccess::mutableData(result);
  for (const size_t count : counts) {
    const size_t before = args.padding == SequenceEnd::pre ? static_cast<size_t>(length) - count : 0;
    if (count > 0)
      std::memcpy(to + before * width, from, count * width);
    from += count * width;
    to += static_cast<size_t>(length) * width;
  }
  return result;
}

} // namespace

Tensor utils::pad_sequences(const std::vector<std::vector<int64_t>> &sequences, const PadSequencesArgs &args) {
  return paddedRows(sequences, args);
}
Tensor utils::detail::pad_unsigned(const std::vector<std::vector<uint64_t>> &sequences, const PadSequencesArgs &args) {
  return paddedRows(sequences, args);
}
Tensor utils::detail::pad_floats(const std::vector<std::vector<double>> &sequences, const PadSequencesArgs &args) {
  return paddedRows(sequences, args);
}

} // namespace halftone
