// keras.utils for data: labels, sequences, windows, splits and cached files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Choice.h"
#include "Data.h"
#include <concepts>
#include <type_traits>

namespace halftone::utils {
/// One-hot encoding of integers (...) or (..., 1) as float32 (..., num_classes). `num_classes` defaults to the largest
/// integer plus 1. value_error for an integer out of range, for a fractional float, and for an empty x without
/// `num_classes`.
HALFTONE_API Tensor to_categorical(const Tensor &x, std::optional<int64_t> num_classes = {});

struct PadSequencesArgs {          // keras.utils.pad_sequences
  std::optional<int64_t> maxlen{}; // the length of all rows; default: that of the longest sequence
  DType dtype = DType::int32;
  Choice<SequenceEnd> padding = SequenceEnd::pre;
  Choice<SequenceEnd> truncating = SequenceEnd::pre;
  double value = 0.0;
};
namespace detail {
/// pad_sequences() for unsigned integers, and for floats.
HALFTONE_API Tensor pad_unsigned(const std::vector<std::vector<uint64_t>> &sequences, const PadSequencesArgs &args);
HALFTONE_API Tensor pad_floats(const std::vector<std::vector<double>> &sequences, const PadSequencesArgs &args);
} // namespace detail
/// Pads or truncates sequences to rows (N, maxlen). An integer dtype truncates floats. value_error for a negative
/// maxlen, for an empty list without a maxlen, and for a number that the dtype cannot represent.
HALFTONE_API Tensor pad_sequences(const std::vector<std::vector<int64_t>> &sequences,
                                  const PadSequencesArgs &args = {});
/// pad_sequences() for other arithmetic types; floats are not converted first.
template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, int64_t>)
Tensor pad_sequences(const std::vector<std::vector<T>> &sequences, const PadSequencesArgs &args = {}) {
  using Integer = std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t>;
  std::vector<std::vector<std::conditional_t<std::is_floating_point_v<T>, double, Integer>>> all;
  for (const std::vector<T> &sequence : sequences)
    all.emplace_back(sequence.begin(), sequence.end());
  if constexpr (std::is_floating_point_v<T>)
    return detail::pad_floats(all, args);
  else if constexpr (std::is_unsigned_v<T>)
    return detail::pad_unsigned(all, args);
  else
    return pad_sequences(all, args);
}

struct SplitDatasetArgs {             // keras.utils.split_dataset
  std::optional<double> right_size{}; // see left_size; default: the rest
  bool shuffle = false;
  std::optional<int64_t> seed{};
};
/// Splits a dataset into its first and its last elements. If the dataset ends with batch(), with or without a prefetch()
/// after it, its unbatched elements are split, and both parts are batched again. A size below 1 is a fraction of the
/// elements, rounded; a whole number is a count; a missing size is the rest. A dataset with functions, generators or a
/// shuffle is read here in one pass and kept in memory. value_error if both sizes are missing, if a part is empty or the
/// parts exceed the dataset, and for an infinite dataset.
HALFTONE_API std::pair<Dataset, Dataset> split_dataset(const Dataset &dataset, std::optional<double> left_size,
                                                       const SplitDatasetArgs &args = {});

struct TimeseriesArgs {                    // keras.utils.timeseries_dataset_from_array
  int64_t sequence_stride = 1;             // distance between the starts of consecutive windows
  int64_t sampling_rate = 1;               // distance between consecutive steps of a window
  std::optional<int64_t> batch_size = 128; // none: single windows
  bool shuffle = false;
  std::optional<int64_t> seed{};
  std::optional<int64_t> start_index{}; // the range of `data` to use
  std::optional<int64_t> end_index{};
};
/// Sliding windows of `sequence_length` steps over `data` (steps, ...) along axis 0, each with the element of `targets`
/// at the index of its first step; with undefined targets only the windows. Batches are gathered as they are read, so
/// the windows are never all in memory. value_error for counts that are not positive, and for indices out of range.
HALFTONE_API Dataset timeseries_dataset_from_array(const Tensor &data, const Tensor &targets, int64_t sequence_length,
                                                   const TimeseriesArgs &args = {});

struct GetFileArgs {       // keras.utils.get_file
  std::string file_hash{}; // SHA-256, 64 hexadecimal digits; empty: not checked
  std::string cache_subdir = "datasets";
  std::string cache_dir{};     // empty: $KERAS_HOME, or else ~/.keras
  bool force_download = false; // replaces a file in the cache
};
/// Returns the path of `fname` in `cache_dir`/`cache_subdir`. A missing file, or one with another hash, is copied from
/// `origin`, a path or a file: URL; `fname` defaults to the last component of `origin`. io_error if there is no file:
/// nothing is downloaded, and the message says where to put the file. value_error for a name with a slash, and for a
/// file with another hash.
HALFTONE_API std::string get_file(const std::string &fname, const std::string &origin, const GetFileArgs &args = {});
} // namespace halftone::utils
