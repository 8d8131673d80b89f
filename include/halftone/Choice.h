// Arguments from closed sets: an enumerator, or Keras's string for it, which the compiler checks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Error.h"
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace halftone {
enum class Reduction : uint8_t { sum_over_batch_size, sum, mean, mean_with_sample_weight, none };
enum class DataFormat : uint8_t { channels_last, channels_first };
/// The padding of a convolution or pooling. `valid`: only windows inside the input. `same`: one window per stride of
/// the input, which is padded with zeros. `causal`: as `same`, with all zeros before the input (one spatial axis only).
enum class Padding : uint8_t { valid, same, causal };
/// The interpolation of a resized image: the nearest pixel, or a weighted sum of neighbors.
enum class Interpolation : uint8_t { nearest, bilinear, bicubic, lanczos3, lanczos5 };
/// How pixels outside of an image are filled, for a row abcd: `reflect` dcba|abcd|dcba, `wrap` abcd|abcd|abcd,
/// `constant` kkkk|abcd|kkkk, `nearest` aaaa|abcd|dddd, `mirror` dcb|abcd|cba. Layers do not accept `mirror`.
enum class FillMode : uint8_t { reflect, wrap, constant, nearest, mirror };
/// `horizontal` exchanges left and right.
enum class FlipMode : uint8_t { horizontal, vertical, horizontal_and_vertical };
/// How an axis is padded, for elements abcd: `constant` kkkk|abcd|kkkk, `reflect` dcb|abcd|cba, `symmetric`
/// dcba|abcd|dcba, `edge` aaaa|abcd|dddd, `wrap` abcd|abcd|abcd.
enum class PadMode : uint8_t { constant, reflect, symmetric, edge, wrap };
/// How the outputs of both directions are merged.
enum class MergeMode : uint8_t { sum, mul, concat, ave };
/// The function that combines an element with an update.
enum class ScatterReduction : uint8_t { add, max, min, mul };
/// How a preprocessing layer encodes integers below a limit: `int_` (Keras's "int"), the integers themselves;
/// `one_hot`, a vector of that length for each integer; or one vector for all integers along the last axis, with 1 for
/// each integer that occurs (`multi_hot`), the number of occurrences (`count`), or that number times the weight of the
/// integer (`tf_idf`).
enum class OutputMode : uint8_t { int_, one_hot, multi_hot, count, tf_idf };
/// The insertion point among equal elements: before the first, or after the last.
enum class Side : uint8_t { left, right };
/// The axis order of a grid: `xy` exchanges the axes of the first two vectors.
enum class GridIndexing : uint8_t { xy, ij };
enum class MonitorMode : uint8_t { automatic, min, max };
/// The end of a sequence at which steps are added or removed: before the first step, or after the last.
enum class SequenceEnd : uint8_t { pre, post };
/// The labels of CIFAR-100: 100 classes, or their 20 superclasses.
enum class CifarLabels : uint8_t { fine, coarse };
/// The pooling of the feature maps of a network without its classifier: none, or the mean or maximum per channel.
enum class FeaturePooling : uint8_t { none, avg, max };

namespace detail {
/// Keras's strings for an enum, in the order of its enumerators.
template <class E> inline constexpr const char *choice_words[1] = {nullptr};
template <>
inline constexpr const char *choice_words<Reduction>[] = {"sum_over_batch_size", "sum", "mean",
                                                          "mean_with_sample_weight", "none"};
template <> inline constexpr const char *choice_words<DataFormat>[] = {"channels_last", "channels_first"};
template <> inline constexpr const char *choice_words<Padding>[] = {"valid", "same", "causal"};
template <>
inline constexpr const char *choice_words<Interpolation>[] = {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"};
template <>
inline constexpr const char *choice_words<FillMode>[] = {"reflect", "wrap", "constant", "nearest", "mirror"};
template <>
inline constexpr const char *choice_words<FlipMode>[] = {"horizontal", "vertical", "horizontal_and_vertical"};
template <> inline constexpr const char *choice_words<PadMode>[] = {"constant", "reflect", "symmetric", "edge", "wrap"};
template <> inline constexpr const char *choice_words<MergeMode>[] = {"sum", "mul", "concat", "ave"};
template <> inline constexpr const char *choice_words<ScatterReduction>[] = {"add", "max", "min", "mul"};
template <> inline constexpr const char *choice_words<Side>[] = {"left", "right"};
template <> inline constexpr const char *choice_words<GridIndexing>[] = {"xy", "ij"};
template <>
inline constexpr const char *choice_words<OutputMode>[] = {"int", "one_hot", "multi_hot", "count", "tf_idf"};
template <> inline constexpr const char *choice_words<MonitorMode>[] = {"auto", "min", "max"};
template <> inline constexpr const char *choice_words<SequenceEnd>[] = {"pre", "post"};
template <> inline constexpr const char *choice_words<CifarLabels>[] = {"fine", "coarse"};
template <> inline constexpr const char *choice_words<FeaturePooling>[] = {"none", "avg", "max"};
void this_word_is_not_one_of_the_words_of_the_argument(); // not constexpr: its name is the compiler's message
/// Returns the index of `word` in `words`. value_error at the line of `call` if it is not there.
HALFTONE_API size_t index_of_word(std::string_view word, const char *const *words, size_t count, Where call);
} // namespace detail

/// An argument from a closed set: Padding::same or "same". Literals are checked at compile time; choice<Padding>(text)
/// takes text that is known only at run time.
template <class E> class Choice {
public:
  constexpr Choice(E value) : value_(value) {}
  template <size_t N> consteval Choice(const char (&word)[N]) : value_(E{}) {
    for (size_t i = 0; i < std::size_t(sizeof(detail::choice_words<E>) / sizeof(const char *)); ++i)
      if (std::string_view(detail::choice_words<E>[i]) == std::string_view(word, N - 1)) {
        value_ = static_cast<E>(i);
        return;
      }
    detail::this_word_is_not_one_of_the_words_of_the_argument();
  }
  constexpr operator E() const { return value_; }
  constexpr const char *word() const { return detail::choice_words<E>[static_cast<size_t>(value_)]; }

private:
  E value_;
};
/// Returns the Choice for a string. value_error, which lists the strings, if there is none.
template <class E> Choice<E> choice(std::string_view word, Where call = Where::current()) {
  return static_cast<E>(detail::index_of_word(word, detail::choice_words<E>,
                                              sizeof(detail::choice_words<E>) / sizeof(const char *), call));
}
} // namespace halftone
