// keras.datasets of texts, as sequences of words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Tensor.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::datasets {
/// Sequences of words as indices, and an int64 label for each, of shape (N,).
struct Sequences {
  std::vector<std::vector<int64_t>> x_train;
  Tensor y_train;
  std::vector<std::vector<int64_t>> x_test;
  Tensor y_test;
};
struct IMDBArgs {                     // keras.datasets.imdb.load_data
  std::optional<int64_t> num_words{}; // an index from here on becomes `oov_char`; none: the largest of all
  int64_t skip_top = 0;               // so does an index below
  std::optional<int64_t> maxlen{};    // sequences of that length and longer are left out
  int64_t seed = 113;                 // of the order
  std::optional<int64_t> start_char = 1;
  std::optional<int64_t> oov_char = 2; // none: such indices are left out
  int64_t index_from = 3;              // is added to the indices
};
/// The reviews of imdb.npz, the file of Keras, in a directory, in Keras's order; labels 0 and 1. io_error naming the file, the
/// expected contents and those found. value_error for a maxlen that leaves no sequence.
HALFTONE_API Sequences imdb(const std::string &directory, const IMDBArgs &args = {});
struct ReutersArgs { // keras.datasets.reuters.load_data
  std::optional<int64_t> num_words{};
  int64_t skip_top = 0;
  std::optional<int64_t> maxlen{};
  double test_split = 0.2; // the share of the sequences that is for tests
  int64_t seed = 113;
  std::optional<int64_t> start_char = 1;
  std::optional<int64_t> oov_char = 2;
  int64_t index_from = 3;
};
/// The newswires of reuters.npz, with labels below 46; everything else as of imdb().
HALFTONE_API Sequences reuters(const std::string &directory, const ReutersArgs &args = {});
/// The words with their indices, in the order of the files imdb_word_index.json and reuters_word_index.json of a directory. In
/// sequences `index_from` is added. io_error as of imdb().
HALFTONE_API std::vector<std::pair<std::string, int64_t>> imdb_word_index(const std::string &directory);
HALFTONE_API std::vector<std::pair<std::string, int64_t>> reuters_word_index(const std::string &directory);
/// The topics of the newswires, by label.
HALFTONE_API std::vector<std::string> reuters_label_names();
} // namespace halftone::datasets
