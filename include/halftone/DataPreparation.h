// keras.utils for data: labels, sequences, windows, splits and cached files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Choice.h"
#include "Data.h"
#include <concepts>
#include <type_traits>

namespace halftone::utils {
/// Integers (...) or (..., 1) as float32 rows (..., num_classes) of zeros and a 1. Without `num_classes` there are as many as
/// the largest integer, plus 1. value_error for an integer outside of the classes, for a float that is not whole, and for no
/// integers without `num_classes`.
HALFTONE_API Tensor to_categorical(const Tensor &x, std::optional<int64_t> num_classes = {});

struct PadSequencesArgs {          // keras.utils.pad_sequences
  std::optional<int64_t> maxlen{}; // of all sequences; none: the longest
  DType dtype = DType::int32;
  Choice<SequenceEnd> padding = SequenceEnd::pre;
  Choice<SequenceEnd> truncating = SequenceEnd::pre;
  double value = 0.0;
};
namespace detail {
/// pad_sequences() of unsigned integers, and of floats.
HALFTONE_API Tensor pad_unsigned(const std::vector<std::vector<uint64_t>> &sequences, const PadSequencesArgs &args);
HALFTONE_API Tensor pad_floats(const std::vector<std::vector<double>> &sequences, const PadSequencesArgs &args);
} // namespace detail
/// Sequences as rows (N, maxlen). An integer dtype takes floats without their fraction. value_error for a negative maxlen, for no
/// sequences without one, and for a number that the dtype does not hold.
HALFTONE_API Tensor pad_sequences(const std::vector<std::vector<int64_t>> &sequences,
                                  const PadSequencesArgs &args = {});
/// The same for numbers of another type; floats are taken as they are.
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
  std::optional<double> right_size{}; // as left_size; none: the rest
  bool shuffle = false;
  std::optional<int64_t> seed{};
};
/// The first elements of a dataset and the last ones; of a dataset that ends with batch(), and maybe prefetch(), the elements that
/// are batched, which both parts batch again. A size below 1 is a share of the elements, rounded, and a whole number is a count of
/// them; a size that is missing is the rest. One pass over a dataset with functions, generators or a shuffle is read here and stays
/// in memory. value_error if both sizes are missing, for sizes that give a part without elements or more than there is, and for a
/// dataset without end.
HALFTONE_API std::pair<Dataset, Dataset> split_dataset(const Dataset &dataset, std::optional<double> left_size,
                                                       const SplitDatasetArgs &args = {});

struct TimeseriesArgs {                    // keras.utils.timeseries_dataset_from_array
  int64_t sequence_stride = 1;             // steps between the first steps of two windows
  int64_t sampling_rate = 1;               // steps between two steps of a window
  std::optional<int64_t> batch_size = 128; // none: single windows
  bool shuffle = false;
  std::optional<int64_t> seed{};
  std::optional<int64_t> start_index{}; // the part of `data` that is used
  std::optional<int64_t> end_index{};
};
/// Windows of `sequence_length` steps of `data` (steps, ...) along axis 0, each with the element of `targets` that has the index
/// of its first step; an undefined Tensor as targets gives windows alone. Each batch is gathered when it is read: nobody
/// copies all windows. value_error for counts that are not positive, and for indices outside of the data.
HALFTONE_API Dataset timeseries_dataset_from_array(const Tensor &data, const Tensor &targets, int64_t sequence_length,
                                                   const TimeseriesArgs &args = {});

struct GetFileArgs {       // keras.utils.get_file
  std::string file_hash{}; // SHA-256, 64 hexadecimal digits; empty: any file will do
  std::string cache_subdir = "datasets";
  std::string cache_dir{};     // empty: $KERAS_HOME, else ~/.keras
  bool force_download = false; // whether a file in the cache is replaced
};
/// The path of `fname` in `cache_dir`/`cache_subdir`. If it is not there, or has another hash, it is copied from `origin`, a path
/// or a file: URL; an empty `fname` is the last part of `origin`. io_error if there is no file: nothing is fetched from a network,
/// and the message says where to put it. value_error for a name with a slash, and for a file of another hash.
HALFTONE_API std::string get_file(const std::string &fname, const std::string &origin, const GetFileArgs &args = {});
} // namespace halftone::utils
